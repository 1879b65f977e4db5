"""Handouts and grades for a course of notebooks with nbgrader's metadata; a source holds solutions and tests.

python -m bmlab_teaching handouts           student versions, zips and a page of solutions, in handouts/
python -m bmlab_teaching grade DELIVERY     grades.csv, class.html and feedback pages, in graded/
python -m bmlab_teaching mark               the same again, with the points in graded/by_hand.csv
"""
