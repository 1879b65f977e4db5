"""How the package runs: threads, workers, progress bars, files, and the order in which sparse units are updated."""
