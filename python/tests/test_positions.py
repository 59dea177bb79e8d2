"""Marks for PyTorch before 2.10: counted positions name the same events as the history's own text."""

import unittest

from oomph.agent.memory.positions import _attach

from .support import needs_phantom, run_program
from .test_phantom import MODEL

# The marks are passed to PyTorch, and counted as well; the counted marks are written under a name of their own.
BOTH = """
    import json, torch
    from _oomph_agent.memory import positions
    own = torch._C._cuda_setMemoryMetadata
    notes = positions.Positions
    def setter(self):
        return lambda text: (own(text), self.note(text))
    notes.setter = setter
    write = notes.write_into
    def compare(self, snapshot):
        said = [[event["user_metadata"] for event in trace] for trace in snapshot["device_traces"]]
        for trace in snapshot["device_traces"]:
            for event in trace:
                del event["user_metadata"]
        write(self, snapshot)
        for texts, trace in zip(said, snapshot["device_traces"]):
            for text, event in zip(texts, trace):
                if "user_metadata" in event:
                    counted[event["user_metadata"] == text] += 1
                event["user_metadata"] = text
        print(json.dumps(counted), flush=True)
    counted = {True: 0, False: 0}
    notes.write_into = compare
"""


class Attach(unittest.TestCase):
    """The walk along a history and its marks."""

    def check(self, actions, end, marks, expected):
        trace = [{"action": action} for action in actions.split()]
        _attach(trace, end, marks)
        self.assertEqual([event.get("user_metadata", "-") for event in trace], expected.split())

    def test_a_mark_holds_until_the_next(self):
        actions = "segment_alloc alloc alloc free_requested free_completed oom"
        self.check(actions, 3, [(0, "a"), (1, "b"), (2, "c")], "a a b c - c")

    def test_a_history_that_lost_its_beginning_is_counted_from_its_end(self):
        self.check("alloc alloc", 7, [(0, "a"), (6, "b")], "a b")

    def test_marks_after_the_end_are_nobodys(self):
        self.check("alloc", 1, [(0, "a"), (1, "b")], "a")


@needs_phantom
class BothWays(unittest.TestCase):
    """With a PyTorch that has its own marks, the counted marks are equal, event by event."""

    def test_of_a_training_program(self):
        ran = run_program(BOTH + MODEL, phantom=True)
        self.assertEqual(ran.status, 0, ran.stderr)
        found = [line for line in ran.stdout.splitlines() if line.startswith("{")]
        self.assertRegex(found[-1], r'\{"true": [1-9]\d\d?, "false": 0\}')


if __name__ == "__main__":
    unittest.main()
