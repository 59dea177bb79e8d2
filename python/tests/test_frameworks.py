"""The loops of libraries: due work, the next step of a loop, and repeated passes."""

import sys
import types
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from oomph.agent.life.frameworks.conditions import list_conditions
from oomph.agent.life.frameworks.due import Due, find_landing
from oomph.agent.life.frameworks.trainer_evaluation import lengthen
from oomph.agent.life.frameworks.watched import Watched
from oomph.agent.life.signature import Pass
from oomph.agent.process import local_variables

CALLBACK = """
class Callback:
    def __init__(self, every):
        self.every = every

    def on_step_end(self, state):
        if state.global_step % self.every == 0 or state.global_step == 700:
            pass
        if state.epoch % 3 == 0 or len("x") == 5:
            pass
"""


def make_pass(current: int, total: int = 8) -> Pass:
    return Pass(current, 64, total, 2, 2, 1, True)


class TestDue(unittest.TestCase):
    def test_next(self):
        for due, step, expected in (
            (Due(100), 3, 100),
            (Due(100), 100, 200),
            (Due(100, first=150), 3, 200),
            (Due(700, first=700, least=1), 3, 700),
            (Due(0), 3, None),
            (Due(100, left=[5, 5]), 200, None),
            (Due(100, left=[5]), 100, 200),
            # What grows is seen more often.
            (Due(100, left=[5, 6]), 200, 300),
            (Due(100, left=[1, 2, 3, 4, 5, 6]), 600, None),
        ):
            self.assertEqual(due.next(step), expected, (due, step))

    def test_comes_at(self):
        self.assertTrue(Due(100).comes_at(200))
        self.assertFalse(Due(100, first=300).comes_at(200))
        self.assertFalse(Due(0).comes_at(200))


class TestLanding(unittest.TestCase):
    def test_landing(self):
        for position, wanted, ahead, group, expected in (
            (4, 20, 0, 1, 20),
            # The held batch stands for the batch before.
            (4, 20, 1, 1, 19),
            (4, 4, 1, 1, 4),
            (4, 5, 1, 1, 4),
            # All batches of the step are the loader's own.
            (6, 35, 1, 3, 30),
            (6, 35, 0, 3, 33),
            (6, 8, 1, 3, 6),
        ):
            self.assertEqual(find_landing(position, wanted, ahead, group), expected, (position, wanted, ahead, group))


class TestWatched(unittest.TestCase):
    def test_two_equal_passes_repeat(self):
        loop = Watched("a.py", 1)
        loop.end_pass(make_pass(5))
        self.assertIsNone(loop.find_period(varies=False))
        loop.end_pass(make_pass(5))
        self.assertEqual(loop.find_period(varies=False), 1)
        # One is enough later.
        loop.begin_again()
        loop.end_pass(make_pass(5))
        self.assertEqual(loop.find_period(varies=False), 1)

    def test_batches_that_differ(self):
        loop = Watched("a.py", 1)
        for total in range(8):
            self.assertIsNone(loop.find_period(varies=True))
            loop.end_pass(make_pass(5, total))
        self.assertEqual(loop.find_period(varies=True), 1)
        self.assertIsNone(loop.find_period(varies=False))

    def test_growth_goes_on(self):
        loop = Watched("a.py", 1)
        for current in range(20):
            loop.end_pass(make_pass(current, current))
        self.assertIsNone(loop.find_period(varies=True))


class TestConditions(unittest.TestCase):
    def test_classes_of_the_program(self):
        with TemporaryDirectory() as folder:
            file = Path(folder, "own_callback.py")
            file.write_text(CALLBACK)
            module = sys.modules["own_callback"] = types.ModuleType("own_callback")
            self.addCleanup(sys.modules.pop, "own_callback")
            module.__file__ = str(file)
            exec(CALLBACK, module.__dict__)
            found = list_conditions([module.Callback(50), object()], {"global_step": 1})
        self.assertEqual(sorted(it.every for it in found.values()), [50, 700, 701])


class TestLengthen(unittest.TestCase):
    def test_rows_for_more_batches(self):
        kept = (torch.zeros(6, 5), [torch.zeros(4)], None)
        found = lengthen(kept, 2, 10)
        self.assertEqual([found[0].shape, found[1][0].shape, found[2]], [(36, 5), (24,), None])


class TestVariables(unittest.TestCase):
    def test_assign(self):
        def change(frame):
            local_variables.assign(frame, "step", 41)

        def run():
            step = 1
            change(sys._getframe())
            return step

        self.assertEqual(run(), 41)


if __name__ == "__main__":
    unittest.main()
