"""The tensors that a traceback or a cycle keeps, and the calls of modules."""

import gc
import sys
import unittest
import weakref

import torch

from oomph.agent.memory import living, operation
from oomph.agent.position.enclosing import list_loops
from oomph.agent.position.marks import Marks
from oomph.agent.position.modules import Modules
from oomph.agent.process.objects import Budget


class Node:
    """An object that may refer to itself."""


def raise_in_a_function():
    kept = torch.zeros(8)
    raise ValueError(kept.numel())


class LivingTest(unittest.TestCase):
    def setUp(self):
        # The tests use tensors of the host.
        self.addresses = living._addresses
        living._addresses = lambda tensor: [tensor.data_ptr()]
        gc.collect()

    def tearDown(self):
        living._addresses = self.addresses

    def test_a_cycle_is_found_and_stays_as_it_was(self):
        tensor = torch.zeros(8)
        address, node = tensor.data_ptr(), Node()
        node.tensor, node.me = tensor, node
        alive = weakref.ref(node)
        self.assertNotIn(address, living._addresses_in_cycles())
        del node, tensor
        self.assertIn(address, living._addresses_in_cycles())
        self.assertEqual((gc.garbage, gc.get_debug()), ([], 0))
        gc.collect()
        self.assertIsNone(alive())

    def test_looking_keeps_nothing_alive(self):
        looking = living.Living(Modules(Marks(), lambda _root: None), None)
        frame_of_work = operation.describe

        def work():
            tensor = torch.zeros(8)
            store = [torch.zeros(2) for _ in range(12)]
            for part in (looking.list_roots, looking.list_held, looking.describe_visible, looking.list_keepers):
                list(part())
            list(list_loops(sys._getframe()))
            frame_of_work(sys._getframe(), 0)
            return weakref.ref(tensor), weakref.ref(store[0])

        try:
            raise_in_a_function()
        except ValueError as caught:
            error = caught
        gc.collect()
        gc.disable()
        try:
            self.assertEqual([reference() for reference in work()], [None, None])
        finally:
            gc.enable()
        self.assertIsNotNone(error.__traceback__)

    def test_what_only_autograd_keeps_is_not_visible(self):
        weight = torch.ones(8, requires_grad=True)
        saved = weight.exp()
        address, result = saved.data_ptr(), saved.sum()
        looking = living.Living(None, None)
        self.assertIn(address, looking.describe_visible()["addresses"])
        del saved
        shown = looking.describe_visible()["addresses"]
        self.assertNotIn(address, shown)
        self.assertIn(result.data_ptr(), shown)

    def test_variables_of_functions_that_were_left_are_found(self):
        def work():
            kept = torch.zeros(8)
            found.append(kept.data_ptr())
            pair = [torch.zeros(4), {"deep": torch.zeros(2)}]
            found.append(pair[1]["deep"].data_ptr())
            raise ValueError("no")

        found: list[int] = []
        try:
            work()
        except ValueError as caught:
            error = caught
        self.assertLessEqual(set(found), living._addresses_in_traceback(error.__traceback__, Budget(1000)))
        self.assertEqual(living._addresses_in_traceback(None, Budget(1000)), set())


if __name__ == "__main__":
    unittest.main()
