"""Student versions of the notebooks, and grades for what comes back (extra [teach]).

    python -m bmlab.teaching handouts           student versions and zips, in handouts/
    python -m bmlab.teaching grade FOLDER       grades.csv and feedback pages, in graded/

The notebooks in notebooks/ are the only source: a stub is a solution with its middle taken out, by nbgrader.
"""
