"""Tests which instructions of the program's own code are noted."""

import ast
import sys
import tempfile
import unittest
from pathlib import Path

from oomph.agent.ahead.called import list_behind_yield, list_conditional
from oomph.agent.ahead.stops import list_behind_plateaus, list_early_ends
from oomph.agent.ahead.taken import Taken


def _width(step: int) -> int:
    return 8 if step < 5 else 1 << 22


def _train(taken: Taken) -> None:
    taken.begin(sys._getframe())
    for step in range(3):
        _width(step)
        if step == 100:
            print("never")
        taken.note_step()
    taken.end()


def _list_constants(taken: Taken, name: str) -> set[object]:
    """The constants that a function loaded."""
    import dis

    [(code, seen)] = [(code, seen) for code, seen in taken.seen.items() if code.co_name == name]
    return {it.argval for it in dis.get_instructions(code) if it.offset in seen and it.opname.startswith("LOAD_CONST")}


class TakenTest(unittest.TestCase):
    @unittest.skipUnless(hasattr(sys, "monitoring"), "Python before 3.12")
    def test_a_branch_that_did_not_run_is_not_noted(self):
        taken = Taken()
        _train(taken)
        self.assertIn(8, _list_constants(taken, "_width"))
        self.assertNotIn(1 << 22, _list_constants(taken, "_width"))
        self.assertNotIn("never", _list_constants(taken, "_train"))
        self.assertIn("_width", {code.co_name for code in taken.entered})

    @unittest.skipIf(hasattr(sys, "monitoring"), "Python 3.12 or later")
    def test_nothing_is_traced_before_3_12(self):
        taken = Taken()
        _train(taken)
        self.assertFalse(taken.is_on)
        self.assertIsNone(sys.gettrace())

    def test_the_statements_behind_a_yield_are_the_end_of_a_with(self):
        definition = ast.parse("def timed():\n    try:\n        yield\n    finally:\n        measure()\n    report()\n").body[0]
        self.assertEqual([ast.unparse(it) for it in list_behind_yield(definition)], ["report()", "measure()"])

    def test_the_parts_under_a_condition_are_listed(self):
        for source, expected in (("a if b else c", ["a", "c"]), ("a and b and c", ["b", "c"]), ("a + b", [])):
            found = list_conditional(ast.parse(source, mode="eval").body)
            self.assertEqual([ast.unparse(it) for it in found], expected, source)

    def test_a_break_on_a_number_of_the_device_is_open(self):
        cases = (
            ("for i in r:\n    if loss.item() < 0.1:\n        break\n", [2]),
            ("for i in r:\n    now = loss.item()\n    if now < 0.1:\n        break\n", [3]),
            ("for i in r:\n    if i > 7:\n        break\n", []),
            ("if loss.item() < 0.1:\n    stop()\n", []),
        )
        self.check(list_early_ends, cases)

    def test_a_branch_on_a_rate_behind_a_plateau_is_open(self):
        plateau = "scheduler = ReduceLROnPlateau(optimizer)\n"
        cases = (
            (plateau + "if group['lr'] < 0.5:\n    rows = 500_000\n", [3]),
            (plateau + "if scheduler.get_last_lr()[0] < 1e-4:\n    evaluate(model)\n", [3]),
            (plateau + "if scheduler.get_last_lr()[0] < 1e-4:\n    print('done')\n", []),
            (plateau + "if step > 50:\n    rows = 500_000\n", []),
            ("if group['lr'] < 0.5:\n    rows = 500_000\n", []),
        )
        self.check(list_behind_plateaus, cases)

    def check(self, list_items, cases) -> None:
        """Compares the lines that are found in a file of each source."""
        for number, (source, expected) in enumerate(cases):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, f"train{number}.py")
                path.write_text(source)
                self.assertEqual([it.line for it in list_items([str(path)])], expected, source)


if __name__ == "__main__":
    unittest.main()
