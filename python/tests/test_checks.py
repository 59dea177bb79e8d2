"""The answers that pass a program's own checks, without PyTorch: booleans that report the expected answer."""

import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

from oomph.agent.values import checks

# With positions of a whole statement or line, `and` hides the operand that is read.
NAMES_OPERANDS = sys.version_info >= (3, 12)
NAMES_CALLS = sys.version_info >= (3, 11)


class Asked:
    """A boolean that notes the passing answer, and is `False` as memory would be without one."""

    def __init__(self) -> None:
        self.answers: list[bool | None] = []

    def __bool__(self) -> bool:
        return self.read(sys._getframe(1))

    def item(self) -> bool:
        """As a tensor's."""
        return self.read(sys._getframe(1))

    def read(self, frame) -> bool:
        self.answers.append(checks.passing_answer(frame))
        return bool(self.answers[-1])


class Number:
    """A number that notes the reads that are part of a condition."""

    def __init__(self) -> None:
        self.reads: list[bool | None] = []

    def item(self) -> float:
        """As a tensor's."""
        self.reads.append(checks.is_in_condition(sys._getframe(1)))
        return 0.5


@unittest.skipUnless(NAMES_CALLS, "the position of a call is its line's")
class Conditions(unittest.TestCase):
    """Reads that decide a condition that must come true, and others."""

    def check(self, source: str, *expected: bool) -> None:
        number = Number()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "program.py")
            file.write_text(textwrap.dedent(source))
            exec(compile(file.read_text(), str(file), "exec"), {"x": number})
        self.assertEqual(number.reads, list(expected), source)

    def test_conditions(self):
        self.check("assert x.item() < 1", True)
        self.check("while x.item() > 1: pass", True)
        self.check("if x.item() > 1: raise ValueError", True)
        self.check("error = x.item()\nassert error < 1", True)
        self.check("def f():\n    error = 2 * x.item()\n    while error > 1: pass\nf()", True)

    def test_others(self):
        self.check("loss = x.item()", False)
        self.check("for _ in range(2):\n    if x.item() < 0.1: continue", False, False)
        self.check("def f():\n    error = x.item()\ndef g(error):\n    assert error\nf()", False)


class PassingAnswers(unittest.TestCase):
    """A program per row."""

    def check(self, source: str, *answers: bool | None) -> None:
        asked = Asked()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "program.py")
            file.write_text(textwrap.dedent(source))
            # The answers decide the program's end; its own checks must not.
            exec(compile(file.read_text(), str(file), "exec"), {"x": asked})
        self.assertEqual(asked.answers, list(answers), source)

    def test_an_assertion_holds(self):
        self.check("assert x", True)
        self.check("assert x, x", True)
        self.check("assert not x", False)
        self.check("assert x and x", True, True)
        self.check("assert not (x or x)", False, False)
        self.check("assert (x and\n    x)", True, True)

    @unittest.skipUnless(NAMES_CALLS, "which call of a line is under way is known from Python 3.11 on")
    def test_a_call_in_an_assertion(self):
        self.check("assert x.item(), 'why'", True)
        self.check("assert bool(x) and bool(x.item())", True, True)
        self.check("assert (x and\n    x.item())", True, True)

    def test_what_would_raise_does_not(self):
        self.check("if x:\n    raise ValueError", False)
        self.check("if not x:\n    print('bad', end='')\n    raise ValueError('x')", True)
        self.check("if x:\n    pass\nelse:\n    raise ValueError", True)
        self.check("if not x:\n    import sys\n    sys.exit(1)", True)
        self.check("if 0:\n    pass\nelif x:\n    raise ValueError", False)

    def test_numbers_are_finite(self):
        finite = "def isfinite(y):\n    return y\n"
        self.check(f"{finite}for _ in '12':\n    if not isfinite(x):\n        continue", True, True)
        self.check(f"{finite}if isfinite(x):\n    pass", True)
        self.check(f"{finite}if isfinite(x) or x:\n    pass", True if NAMES_OPERANDS else None, *([] if NAMES_OPERANDS else [None]))

    def test_other_conditions_are_read(self):
        self.check("if x:\n    pass", None)
        self.check("while x:\n    assert x", None)
        self.check("y = x and 1", None)
        self.check("if x:\n    raise StopIteration", None)
        self.check("for y in [x.item()]:\n    assert 1", None)

    def test_a_condition_inside_another_is_read(self):
        self.check("assert [x.item()] == [False]", None)
        self.check("def f():\n    return not x\nassert f()", None)
        self.check("if x:\n    if x:\n        raise ValueError", None)
        self.check("while x or 0:\n    if x:\n        raise ValueError", None)

    def test_operands_that_want_different_answers(self):
        answers = (True, False) if NAMES_OPERANDS else (None,)
        source = "try:\n    assert x and not x\nexcept AssertionError:\n    pass"
        self.check(source, *answers)

    def test_text_that_is_not_there(self):
        asked = Asked()
        exec(compile("if x: raise ValueError", "<string>", "exec"), {"x": asked})
        self.assertEqual(asked.answers, [None])
