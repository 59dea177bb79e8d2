"""What is replaced where a remedy is tried, in PyTorch and in the libraries that train with it."""

ROWS: tuple = ()
