"""The frame of the suite, and the programs of its cases that are written by hand."""
