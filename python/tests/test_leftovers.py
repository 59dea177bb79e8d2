"""The variables that keep memory after a `del`."""

import sys
import unittest
from unittest import mock

import torch
from torch import nn

from oomph.agent.memory import leftovers
from oomph.agent.process.objects import Budget

MIB = 1 << 20


def storages(category, tensor):
    """As of a device, for tensors of the CPU."""
    storage = tensor.untyped_storage()
    yield category, 0, storage.data_ptr(), storage.nbytes()


def square():
    """A layer of 1 MiB and nothing else."""
    return nn.Linear(512, 512, bias=False)


class Owner:
    """An object with a layer as an attribute."""

    def __init__(self):
        self.layer = square()


class LeftoversTest(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.object(leftovers, "storages_of", storages)
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_value_keeps(self):
        layer = square()
        stepped = square()
        stepped(torch.ones(1, 512)).sum().backward()
        optimizer = torch.optim.SGD(stepped.parameters(), lr=0.1, momentum=0.9)
        optimizer.step()
        cases = [
            (layer, MIB),
            ([layer, {"same": layer}], MIB),
            (Owner(), MIB),
            # The weights, their gradients and the momentum.
            (optimizer, 3 * MIB),
            # The scalar and the weights of its graph.
            (layer(torch.ones(1, 512)).sum(), MIB + 4),
            (layer(torch.ones(1, 512)).sum().detach(), 4),
            (torch, 0),
            ("text", 0),
        ]
        for value, expected in cases:
            self.assertEqual(sum(leftovers.Search(Budget(1000), Budget(1000)).sum_sizes(value).values()), expected, type(value))

    def test_variables_of_running_functions_are_named(self):
        layers = [square(), square()]
        result = square()(torch.ones(1, 512)).sum()
        found = {name: (what, size) for name, what, size in leftovers.list_keepers(sys._getframe())}
        self.assertEqual(found["layers"], ("list", 2 * MIB))
        self.assertEqual(found["result"], ("Tensor with its graph", MIB + 4))
        del layers, result
