"""The tables of operators with known values; tests/values compares their results with a CPU's."""

import unittest

from .support import needs_torch


@needs_torch
class Tables(unittest.TestCase):
    """Names that PyTorch's dispatcher does not have would be passed over in silence."""

    def test_every_operator_is_there(self):
        from oomph.agent.values.known import operators
        from oomph.agent.values.known.schemas import list_operators

        tables = ("COMPUTED", "CHANGED", "WRITTEN", "WRITTEN_OUT", "DRAWN", "DRAWN_OUT", "MADE", "COMPOSED", "DELEGATED", "SHARING")
        named = {name for table in tables for name in getattr(operators, table)}
        named |= {*operators.WRITTEN_ARGUMENTS, *operators.OF_A_NUMBER, *operators.OF_A_NUMBER.values()}
        self.assertEqual(named - list_operators(), set())

    def test_no_operator_is_in_two_tables(self):
        from oomph.agent.values.known import operators

        tables = ("COMPUTED", "CHANGED", "WRITTEN", "WRITTEN_OUT", "DRAWN", "DRAWN_OUT", "MADE", "COMPOSED", "DELEGATED")
        names = [name for table in tables for name in getattr(operators, table)]
        self.assertEqual(sorted(name for name in set(names) if names.count(name) > 1), [])
