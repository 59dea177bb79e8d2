"""The measures of `tests/tidy.py`, a file each."""
