"""The optimizer steps of passes that a shortened loop leaves out."""

import unittest

from oomph.agent.life.run import Run
from oomph.agent.life.signature import Pass, Reading
from oomph.agent.position.marks import Marks


class SkippedSteps(unittest.TestCase):
    def test_steps_of_passes_that_repeat_are_counted(self) -> None:
        accumulating = [0, 0, 0, 1]
        cases = [
            ([1, 1, 1, 1], 496, 1, 496),
            (2 * accumulating, 40, 4, 10),
            # Batches that differ: the usual pass makes a quarter of a step.
            (3 * accumulating, 40, 1, 10),
            ([0, 0, 0, 0], 40, 1, 0),
        ]
        for steps, over, period, expected in cases:
            with self.subTest(steps=steps, over=over, period=period):
                run = Run.__new__(Run)
                run.passes, run._reading = [Pass(0, 0, 0, 0, 0, it) for it in steps], Reading(steps=7)
                run._skip_steps(over, period)
                self.assertEqual((run.skipped_steps, run._reading.steps), (expected, 7 + expected))

    def test_a_mark_has_the_steps_that_were_left_out(self) -> None:
        marks = Marks()
        self.assertEqual(marks.text(), "oomph step=1 phase=setup census=0 module=")
        marks.enter_stage("steps")
        marks.skip_steps(496)
        self.assertEqual(marks.text(), "oomph step=1 phase=setup census=0 stage=steps skipped=496 module=")
