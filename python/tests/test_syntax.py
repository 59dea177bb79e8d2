"""The statements around a line."""

import tempfile
import unittest
from pathlib import Path

from oomph.agent.source import flow, trees

# The source, and the lines with a condition beside the call.
CASES = (
    ("if a:\n    f()\n", []),
    ("if a: f()\n", [1]),
    ("while a: f()\n", [1]),
    ("x = f() if a else g()\n", [1]),
    ("x = a and f()\n", [1]),
    ("f()\nx = (a or\n     f())\n", [2, 3]),
    ("for i in a: f()\n", []),
)


class SyntaxTest(unittest.TestCase):
    def test_a_condition_on_the_line_of_a_call_is_seen(self):
        for source, expected in CASES:
            with tempfile.TemporaryDirectory() as folder:
                script = Path(folder) / "script.py"
                script.write_text(source)
                self.assertIsNotNone(trees.parse(str(script), {}))
                lines = range(1, source.count("\n") + 1)
                self.assertEqual([line for line in lines if flow.has_condition(str(script), line)], expected, source)


if __name__ == "__main__":
    unittest.main()
