"""The operation at a failed request."""

import sys
import tempfile
import unittest
from pathlib import Path

import torch

from oomph.agent.memory import operation

HEAD = "import sys\nimport torch\n\n"
IS_EXACT = sys.version_info >= (3, 11)
# Name, the body of a function with `a` [64, 1] and `b` [48], the shape of the result, and the operands.
CASES = (
    ("a difference", "    return (a - fail(b))\n", None, None),
    ("a variable", "    return fail(a)\n", [64, 1], []),
    ("a view", "    return fail(b[None, :])\n", [1, 48], []),
    ("a view of a view", "    return fail(a.unsqueeze(-1)[..., None])\n", [64, 1, 1, 1], []),
    ("a transposed one", "    return fail(a.t())\n", [1, 64], []),
    ("a product", "    return fail(a @ b[None])\n", [64, 48], []),
    ("two arguments", "    return fail(a, b)\n", [64, 1], [[64, 1], [48]]),
    ("a difference as an argument", "    return fail(a - b)\n", [64, 48], [[64, 1], [48]]),
    ("a variable of a difference", "    pairs = a - b\n    return fail(pairs)\n", [64, 48], [[64, 1], [48]]),
    ("an index", "    return fail(b[0])\n", [], []),
    ("a slice", "    return fail(b[3:])\n", [45], []),
    ("slices and a number", "    return fail(a[None, 4:60:2, 0])\n", [1, 28], []),
    ("a slice to the end", "    return fail(a[:, None, -1:])\n", [64, 1, 1], []),
    ("a slice to a variable", "    return fail(b[: len(a)])\n", [], []),
)


def describe(body: str) -> dict:
    """The record at the call of `fail` in a script of the user's."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(HEAD + "def run(a, b):\n" + body)
        namespace = {"fail": lambda *_: found.append(operation.describe(sys._getframe(1), 64 * 48 * 4)) or torch.zeros(1), "__name__": "__main__"}
        found: list[dict] = []
        exec(compile(script.read_text(), str(script), "exec"), namespace)
        namespace["run"](torch.zeros(64, 1), torch.zeros(48))
        return found[0]


class OperationTest(unittest.TestCase):
    @unittest.skipUnless(IS_EXACT, "the positions of instructions are not known")
    def test_shapes_follow_from_the_source(self):
        for name, body, result, operands in CASES:
            record = describe(body)
            self.assertIn("fail(", record["text"], name)
            if result is not None:
                self.assertEqual((record["result"], record["operands"]), (result, operands), name)

    def test_without_a_line_of_the_users_there_is_no_operation(self):
        self.assertIsNone(operation.describe(None, 0))


if __name__ == "__main__":
    unittest.main()
