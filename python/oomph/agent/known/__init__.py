"""Values of small device tensors that are known though no kernel runs: what they are, and what is computed from them."""
