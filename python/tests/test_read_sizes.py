"""Reads that may decide a size, by the source: small programs with one marked read."""

import linecache
import sys
import unittest

from .support import needs_torch

# The source, `READ` for the read; True for a whole number; True if the number may become a size.
CASES = (
    ("loss = READ.item()\nprint(loss)", False, False),
    ("print(f'{READ.item():.3f}')", False, False),
    ("total = 0\ntotal += READ.item()\nprint(total / 3)", True, False),
    ("longest = int(READ.item())\nx = list(range(9))[:longest]", True, True),
    ("longest = READ.item() + 1\nmake(4, longest)", True, True),
    ("make(READ.item())", True, True),
    ("make(READ.item())", False, False),
    ("bins = max(1, int(READ.item() / 0.1))\nmake(bins)", False, True),
    ("width = READ.item()\nscaled = width * 2\nn = round(scaled)\nmake(n)", False, True),
    ("class It: pass\nIt.count = int(READ.item())\nmake(It.count)", True, True),
    ("losses = []\nlosses.append(READ.item())", False, False),
    ("if READ.item() > 3:\n    print(1)", True, False),
    ("x, y = READ.tolist()\nmake(x * y)", True, True),
    ("for n in READ.tolist():\n    make(n)", True, True),
    ("best = max(0.5, READ.item())\nif best > 1:\n    print(best)", False, False),
    ("x = list(range(9))[READ.item()]", True, True),
    ("logs = {}\nlogs['loss'] = round(READ.item() / 3, 4)\nmake(logs)", False, False),
    ("right = (READ.item())\naccuracy = right / 7\nprint(accuracy)", True, False),
    ("def step():\n    return READ.item()\nprint(step())", False, False),
    ("def count():\n    return READ.item()\nn = count()\nmake(n)", True, True),
    ("def count():\n    return READ.item()\ncorrect = 0\ncorrect += count()\nprint(correct)", True, False),
    # A text is no size, nor is a word of a table.
    ("make('%d of %d' % (READ.item(), 7))", True, False),
    ("make(7 % READ.item())", True, True),
    ("words = ['a', 'b']\nmake(words[READ.item()])", True, False),
    ("words = {1: 'b'}\nmake(words[READ.item()])", True, False),
    ("sizes = [10, 20]\nmake(sizes[READ.item()])", True, True),
    # The program's own function decides.
    ("def show(seen, total):\n    print(seen / total)\nshow(READ.item(), 7)", True, False),
    ("def show(seen, total):\n    make(total)\nshow(7, total=READ.item())", True, True),
    ("decode = lambda all: ''.join(words[it] for it in all)\nwords = ['a', 'b']\nprint(decode(READ.tolist()))", True, False),
    ("class Bar:\n    def show(self, n):\n        make(n)\nbar = Bar()\nbar.show(READ.item())", True, True),
    ("class Bar:\n    def show(self, n):\n        self.n = n\nbar = Bar()\nbar.show(READ.item())\nprint(bar.n)", True, False),
    # A device is not read, and an attribute of the same name is another number.
    ("correct = 0\ncorrect += make(READ.to(0)).item()\nprint(correct)", True, False),
    ("class Data: actions = 1\nactions = READ.item()\nmake(Data.actions)", True, False),
    ("READ.fill_(READ.item())", True, False),
)


class Number:
    """Answers each read with 1, and keeps the verdict of the reading line."""

    def __init__(self, is_whole: bool) -> None:
        self.is_whole = is_whole
        self.verdict: bool | None = None

    def item(self):
        """A read of one number."""
        from oomph.agent.values import sizes

        self.verdict = sizes.may_decide(sys._getframe(1), self.is_whole)
        return 1

    def to(self, _device):
        """A move to a device: no read."""
        return self

    fill_ = to

    def tolist(self):
        """A read of two numbers."""
        self.item_of = sys._getframe(1)
        from oomph.agent.values import sizes

        self.verdict = sizes.may_decide(sys._getframe(1), self.is_whole)
        return [1, 1]


@needs_torch
class Flow(unittest.TestCase):
    """Each source says what becomes of the number."""

    def test_each_source(self):
        for number, (source, is_whole, expected) in enumerate(CASES):
            with self.subTest(source=source, is_whole=is_whole):
                read, name = Number(is_whole), f"/tmp/case_{number}.py"
                linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
                exec(compile(source, name, "exec"), {"READ": read, "make": lambda *_, **_named: read})
                self.assertEqual(read.verdict, expected)


if __name__ == "__main__":
    unittest.main()
