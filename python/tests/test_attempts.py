"""The number that a program makes smaller after an error, and its values."""

import linecache
import sys
import textwrap
import unittest

from oomph.agent.memory import attempts, handlers


class Full(RuntimeError):
    """Stands for PyTorch's error."""


def tried(source: str) -> list[tuple]:
    """The records of a program in which `step(size)` needs a size of at most 16: name, values, the value that goes on, set by the handler."""
    source = textwrap.dedent(source)
    name = f"/home/ann/attempts{hash(source)}.py"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    seen = attempts.Attempts()

    def step(size):
        if size > 16:
            seen.note_error(sys._getframe(1), handlers.find(sys._getframe(1), Full))
            raise Full
        seen.note_progress(is_step=True)

    exec(compile(source, name, "exec"), {"step": step, "Full": Full})
    return [(row["name"], row["tried"], row["now"], row["is_set"]) for row in seen.list_records()]


class AttemptsTest(unittest.TestCase):
    def check(self, source: str, *expected) -> None:
        self.assertEqual(tried(source), list(expected), source)

    def test_an_assignment_in_the_handler(self):
        loop = "size = 64\nfor epoch in range(9):\n    try:\n        step(size)\n    except Full:\n        size {change}\n"
        self.check(loop.replace("{change}", "//= 2"), ("size", [64, 32], 16, True))
        self.check(loop.replace("{change}", "= int(size * 0.5)"), ("size", [64, 32], 16, True))
        self.check("def less(n):\n    return n - 50\n" + loop.replace("{change}", "= less(size)"), ("size", [64], 14, True))

    def test_an_attribute_among_other_numbers(self):
        self.check(
            """
            class Trainer:
                def __init__(self):
                    self.batch, self.start, self.last = 64, 1, 7
                def run(self):
                    for epoch in range(9):
                        try:
                            step(self.batch)
                            self.last = epoch + 7
                        except Full:
                            self.best = self.batch = max(self.batch // 2, 1)
                            self.last = self.start - 1
            Trainer().run()
            """,
            ("self.batch", [64, 32], 16, True),
        )

    def test_an_item_that_a_method_of_the_handler_assigns(self):
        self.check(
            """
            class Trainer:
                def __init__(self):
                    self.config = {"batch": 64}
                def shrink(self):
                    self.config["batch"] //= 2
                def run(self):
                    for epoch in range(9):
                        try:
                            step(self.config["batch"])
                        except Full:
                            self.shrink()
            Trainer().run()
            """,
            ("self.config['batch']", [64, 32], 16, True),
        )

    def test_a_list_and_a_recursion(self):
        listed = "for rows in (64, 32, 8):\n    try:\n        step(rows)\n        break\n    except Full:\n        continue\n"
        self.check(listed, ("rows", [64, 32], 8, False))
        called = "def train(rows):\n    try:\n        step(rows)\n        return\n    except Full:\n        pass\n    train(rows // 2)\ntrain(40)\n"
        self.check(called, ("rows", [40, 20], 10, False))

    def test_counters_and_skipped_batches_are_no_sizes(self):
        skipped = "for i in range(3):\n    for k in range(5):\n        try:\n            step(40 if k == 3 else 4)\n        except Full:\n            break\n"
        self.check(skipped)
        self.check("lost = 0\nfor rows in (4, 40, 40):\n    try:\n        step(rows)\n    except Full:\n        lost += 1\n")


if __name__ == "__main__":
    unittest.main()
