"""A package to be started with `python -m trainer` from the folder above it."""
