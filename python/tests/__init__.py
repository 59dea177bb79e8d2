"""Tests of the agent: `python -m unittest discover -s python/tests -t python`.

Tests of whole programs start Python with the agent injected; tests with a GPU run over the phantom in the folder `OOMPH_TEST_PHANTOM`, and
are skipped without the variable.
"""
