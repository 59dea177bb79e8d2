"""The device memory that the program takes: counters, history, censuses, and the program's state at an out-of-memory error."""
