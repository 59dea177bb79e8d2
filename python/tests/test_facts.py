"""Facts that conditions ask of objects, and the objects that may answer otherwise."""

import ast
import types
import unittest

from .support import needs_torch


class Answers:
    """A class whose objects compute attributes."""

    here = 1

    def __getattr__(self, name: str) -> int:
        return 1


class Plain:
    """A class without code of its own for attributes."""

    def method(self) -> None:
        """A method."""

    @property
    def computed(self) -> int:
        """May raise `AttributeError`."""
        raise AttributeError


class Inherits(Plain):
    """A class with the attributes of its base."""


@needs_torch
class Facts(unittest.TestCase):
    """Each expression is evaluated without a call of the program's code."""

    def test_each_expression(self) -> None:
        import torch

        from oomph.agent.source.scope import UNKNOWN, Scope

        lazy = types.ModuleType("lazy")
        lazy.__getattr__ = lambda _name: 1
        names = {
            "torch": torch, "device": torch.device("cuda", 1), "x": torch.zeros(2, 3), "layer": torch.nn.Linear(2, 2, bias=False), "lazy": lazy,
            "plain": Plain(), "answers": Answers(), "Inherits": Inherits, "Plain": Plain, "os": __import__("os"),
        }  # fmt: skip
        cases = {
            "device.type": "cuda",
            "device.index": 1,
            "x.dim()": 2,
            "x.size(1)": 3,
            "x.ndim": 2,
            "x.is_cuda": False,
            "isinstance(x, torch.Tensor)": True,
            "isinstance(plain, Plain)": True,
            "isinstance(plain, (int, str))": False,
            "isinstance(layer, torch.nn.Module)": True,
            "hasattr(plain, 'method')": True,
            "hasattr(plain, 'nothing')": False,
            "hasattr(layer, 'weight')": True,
            "hasattr(layer, 'nothing')": False,
            "hasattr(os, 'nothing')": False,
            "os.environ.get('NOT_THERE_AT_ALL')": None,
            # Code of the program's own, or of a library's, may answer.
            "hasattr(plain, 'computed')": UNKNOWN,
            "hasattr(answers, 'nothing')": UNKNOWN,
            "hasattr(lazy, 'nothing')": UNKNOWN,
            "hasattr(Inherits, 'method')": UNKNOWN,
            "isinstance(x, unknown)": UNKNOWN,
            "x.sum()": UNKNOWN,
        }
        for text, expected in cases.items():
            with self.subTest(text):
                found = Scope.of_module(names).evaluate(ast.parse(text, mode="eval").body)
                self.assertEqual(found, expected)


if __name__ == "__main__":
    unittest.main()
