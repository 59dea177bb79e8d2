"""The loops around an error."""

import sys
import tempfile
import unittest
from pathlib import Path

from oomph.agent.position.enclosing import list_loops

HEAD = "import sys\n\ndef fail():\n    found.extend(list_loops(sys._getframe(1)))\n\n"
# Name, the lines from line 6 on, the first and the last line of each loop, outermost first.
CASES = (
    ("a loop of a module", "for i in (1,):\n    fail()\n", [(6, 7)]),
    ("its head", "for i in (fail(),):\n    pass\n", [(6, 7)]),
    ("what follows a loop", "for i in ():\n    pass\nelse:\n    fail()\n", []),
    ("loops in a loop", "for i in (1,):\n    n = 1\n    while n:\n        fail()\n        n = 0\n", [(6, 10), (8, 10)]),
    ("a function called in a loop", "def f():\n    fail()\n\nfor i in (1,):\n    f()\n", [(9, 10)]),
    ("a function defined in a loop", "for i in (1,):\n    def f():\n        fail()\nf()\n", []),
    ("a function with a loop of its own", "def f():\n    for i in (1,):\n        fail()\n\nwhile True:\n    f()\n    break\n", [(10, 12), (7, 8)]),
    ("an argument beside the call", "def f(x):\n    fail()\n\nf([i for i in (1,)])\n", []),
    ("a map", "list(map(lambda i: fail(), (1,)))\n", [(6, 6)]),
)


def find(source: str) -> list[tuple[int, int]]:
    """The loops around the call of `fail`."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(HEAD + source)
        namespace = {"found": [], "list_loops": list_loops, "__name__": "__main__"}
        exec(compile(script.read_text(), str(script), "exec"), namespace)
        return [(loop["line"], loop["last_line"]) for loop in namespace["found"] if loop["file"] == str(script)]


class EnclosingTest(unittest.TestCase):
    def test_the_loops_around_a_line_are_found(self):
        for name, source, expected in CASES:
            self.assertEqual(find(source), expected, name)

    @unittest.skipIf(sys.version_info < (3, 11), "the positions of instructions are not known")
    def test_a_comprehension_is_a_loop_around_its_element(self):
        self.assertIn((6, 6), find("[fail() for i in (1,)]\n"))


if __name__ == "__main__":
    unittest.main()
