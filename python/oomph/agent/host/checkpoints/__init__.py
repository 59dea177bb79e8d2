"""Checkpoint files in a dry run.

`unread` skips weights that a phantom GPU would not hold, `guard` knows which files existed before the run, `saves` and `removals` keep the
program from overwriting, renaming or removing these.
"""
