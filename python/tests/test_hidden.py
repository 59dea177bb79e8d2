"""Stand-ins for kernels, in programs that PyTorch compiles."""

import unittest

from .support import needs_torch


@needs_torch
class Hidden(unittest.TestCase):
    """Behind a break of the graph Dynamo compiles every frame, except for frames of stand-ins."""

    def graphs_of(self, function, *inputs) -> list[str]:
        """The code of every graph that Dynamo makes of a function."""
        import torch

        def keep(graph, _):
            graphs.append(graph.code)
            return graph.forward

        graphs = []
        torch.compile(function, backend=keep, dynamic=True)(*inputs)
        return graphs

    def test_stand_ins_are_not_compiled(self):
        import torch

        from oomph.agent.hooks.kernels import Overrides

        def multiply(tensor):
            return tensor * 5

        def stand_in(original, tensor):
            seen.append(tensor.nbytes)
            multiply(tensor)
            return original(tensor)

        def program(x):
            y = x + 2
            rows = torch.nonzero(y)
            return y[rows] + 3

        seen, overrides = [], Overrides()
        overrides.replace("aten::nonzero", "CPU", stand_in)
        graphs = self.graphs_of(program, torch.ones(6))
        self.assertEqual(seen, [24])
        self.assertEqual((len(graphs), "5" in "".join(graphs)), (2, False), graphs)

    def test_callbacks_are_not_compiled(self):
        import ctypes

        import torch

        from oomph.agent.hooks.hidden import hide

        def note(size):
            noted.append(int(torch.ones(3).mul(5).sum()) + size)

        def program(x):
            y = x + 2
            torch._dynamo.graph_break()
            call(4)
            return y + 3

        noted = []
        call = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(hide(note))
        graphs = self.graphs_of(program, torch.ones(6))
        self.assertEqual(noted, [19])
        self.assertFalse("mul" in "".join(graphs), graphs)
