"""Training without the import of PyTorch's compiler (`hooks.compiler`): the same updates, and the compiler when the program asks for it."""

import unittest

from .support import needs_phantom, run_program

# One weight of 1 and a loss of 3 · weight: a step of SGD leaves 1 - 0.1 · 3 = 0.7, a second one 0.4.
PROGRAM = """
    import sys, torch
    from torch.utils.checkpoint import checkpoint
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        checkpoint(lambda it: 3 * it, weight, use_reentrant=False).sum().backward()
        optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    print(round(weight.item(), 4), torch.is_grad_enabled(), "torch._dynamo" in sys.modules)
    doubled = torch.compile(lambda it: 2 * it, backend="eager")
    print(doubled(torch.ones(1)).item(), "torch._dynamo" in sys.modules)
    optimizer.step()
    print(round(weight.item(), 4))
"""


@needs_phantom
class Compiler(unittest.TestCase):
    """A program that compiles late."""

    def test_is_imported_when_the_program_compiles(self):
        ran = run_program(PROGRAM, phantom=True)
        self.assertEqual(ran.status, 0, ran.stderr)
        # The gradient of the last backward is still there: 0.4 - 0.1 · 3.
        self.assertEqual(ran.stdout.splitlines(), ["0.4 True False", "2.0 True", "0.1"])


if __name__ == "__main__":
    unittest.main()
