"""Numbers among the arguments of stand-ins: Note [Wrapped numbers] in `hooks/kernels.py`."""

import itertools
import math
import unittest

from .support import needs_torch


@needs_torch
class WrappedNumbers(unittest.TestCase):
    """A number becomes a tensor that leaves the result's dtype as PyTorch has it for the number."""

    def test_results_have_the_dtype_that_the_number_gives(self):
        import torch

        from oomph.agent.hooks.kernels import _wrap

        dtypes = (torch.bool, torch.uint8, torch.int64, torch.bfloat16, torch.float32, torch.float64, torch.complex64)
        for dtype, shape, number in itertools.product(dtypes, ((), (2,)), (True, 3, 2.5, 2 + 1j)):
            with self.subTest(dtype=dtype, shape=shape, number=number):
                tensor = torch.ones(shape, dtype=dtype)
                _, wrapped = _wrap((tensor, number), (0, 1))
                self.assertEqual(torch.mul(tensor, wrapped).dtype, torch.mul(tensor, number).dtype)
                self.assertEqual(wrapped.item(), number)

    def test_equal_numbers_of_other_signs_and_kinds_stay_apart(self):
        import torch

        from oomph.agent.hooks.kernels import _wrap

        tensor = torch.ones(2)
        found = [_wrap((tensor, number), (0, 1))[1].item() for number in (0.0, -0.0, math.inf, 1.0, 1, True)]
        self.assertEqual([math.copysign(1, it) for it in found[:2]], [1, -1])
        self.assertEqual(found[2:], [math.inf, 1, 1, 1])

    def test_other_numbers_stay_numbers(self):
        import torch

        from oomph.agent.hooks.kernels import _wrap

        args = (torch.ones(2), 3, 4)
        self.assertIs(_wrap(args, (0,)), args)
