"""The layers of the scenery are those of the table."""

import unittest

from oomph.agent.hooks.table import ROWS
from oomph.agent.scenery.waiting import import_part

PARTS = sorted({part for row in ROWS.values() for part in row.parts if part.startswith("scenery.")})


class TableTest(unittest.TestCase):
    """A row without a layer would do nothing, and a layer without a row would be missing in the table."""

    def test_every_part_has_a_layer_for_each_of_its_rows(self):
        for part in PARTS:
            rows = [row for row in ROWS.values() if part in row.parts and not row.is_lent]
            module = import_part(part)
            self.assertEqual(set(getattr(module, "LAYERS", {})), {row.name for row in rows if not row.is_value}, part)
            self.assertEqual(set(getattr(module, "VALUES", {})), {row.name for row in rows if row.is_value}, part)
