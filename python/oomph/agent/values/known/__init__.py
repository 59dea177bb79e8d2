"""Known values of small device tensors though no kernel runs, and the computations from known values."""
