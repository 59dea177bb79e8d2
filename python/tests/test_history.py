"""PyTorch's history under the agent: the program's own use of it leaves the recording whole."""

import unittest

from .support import needs_phantom, run_program

PROGRAM = """
    import torch
    first = torch.empty(1 << 20, device="cuda")
    torch.cuda.memory._record_memory_history(enabled="all", max_entries=1)
    torch.cuda.memory._record_memory_history(enabled=None)
    second = torch.empty(1 << 20, device="cuda")
    print(len(torch.cuda.memory._snapshot()["segments"]))
"""


@needs_phantom
class OwnHistory(unittest.TestCase):
    """A program that records for itself, and stops."""

    def test_all_allocations_are_recorded(self):
        ran = run_program(PROGRAM, phantom=True)
        self.assertEqual((ran.status, ran.stdout), (0, "1\n"), ran.stderr)
        self.assertEqual(len(ran.marks()), 2)
