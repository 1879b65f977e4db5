"""Learning: Boltzmann's rule (clamped minus free), maximum likelihood, PCD, inverse Ising; notebooks 05 to 09.

likelihood, clamped_batches                     the two phases, and their difference
ascent, fitting, record                         the learning loop as a generator, and fit(), which runs it to its end
checkpoints                                     saving and loading a step, to go on after a crash
observations                                    the data: rows, and moments
maximum_likelihood, pseudolikelihood, inversion     the maximum without a learning rate
quasi_newton                                    L-BFGS, Newton steps, and the test of a maximum
standard_errors                                 of learnt parameters
misfit                                          comparison of a machine's moments with those of its data
triplets                                        test of whether pairs are enough
two_sample_test                                 test of whether two groups of rows differ
penalties                                       choice of a penalty by cross-validation
contrastive_divergence                          restricted machines
completion                                      missing units, given the known ones
"""
