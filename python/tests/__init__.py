"""Tests of the agent: `python -m unittest discover -s python/tests -t python`.

Those of whole programs start Python with the agent injected; those that need a GPU run over the phantom whose folder
`OOMPH_TEST_PHANTOM` names, and are skipped without it.
"""
