"""Learning: Boltzmann's rule (clamped minus free), maximum likelihood, PCD, inverse Ising; notebooks 05 to 09.

likelihood, clamped_batches                     the two phases, and their difference
ascent, fitting, record                         the loop, and drained
checkpoints                                     a step saved and loaded, to go on with after a crash
observations                                    the data: rows, and moments
maximum_likelihood, pseudolikelihood, inversion     the top without a loop of our own
quasi_newton                                    L-BFGS, Newton's steps, and whether they end at a maximum
standard_errors                                 of what was learnt
misfit                                          whether a machine has the moments of its data
triplets                                        whether pairs are enough
group_test                                      whether two groups of rows differ
penalties                                       a penalty chosen by rows that were held out
contrastive_divergence                          restricted machines
completion                                      what is missing, given what is known
"""
