"""The blocks of a model that count as repeated. See Note [Repeated blocks]."""

import unittest

from .support import needs_torch


@needs_torch
class BlocksTest(unittest.TestCase):
    """Models of a few common forms."""

    def setUp(self):
        from torch import nn

        class Layer(nn.Sequential):
            """Two modules, as a class of its own."""

            def __init__(self, inner=nn.Identity):
                super().__init__(nn.Linear(4, 4), inner())

        self.nn, self.layer = nn, Layer

    def check(self, model, expected: str) -> None:
        """Compares what the blocks are called."""
        from oomph.agent.remedies.blocks import described, repeated

        self.assertEqual(described(repeated(model)), expected)

    def stages(self, *lengths: int):
        """The stages of a ResNet."""
        return self.nn.Sequential(*(self.nn.Sequential(*(self.layer() for _ in range(length))) for length in lengths))

    def test_all_stages_have_blocks(self):
        self.check(self.stages(2, 3, 1), "6 × Layer in 0, 1, 2")

    def test_single_modules_are_none(self):
        self.check(self.nn.ModuleList(self.nn.Linear(4, 4) for _ in range(5)), "")

    def test_a_block_that_is_alone_is_none(self):
        self.check(self.nn.Sequential(self.layer(), self.nn.ReLU()), "")

    def test_plain_sequentials_are_alike_by_their_children(self):
        nn = self.nn
        pairs = [nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(3)]
        self.check(nn.Sequential(*pairs, nn.Sequential(nn.Linear(4, 4), nn.Tanh())), "3 × Sequential in Sequential")

    def test_the_longer_run_decides_between_inside_and_outside(self):
        nn, layer = self.nn, self.layer

        def experts():
            return nn.ModuleList(layer() for _ in range(2))

        self.check(nn.ModuleDict({str(number): layer(experts) for number in range(4)}), "4 × Layer in ModuleDict")

    def test_two_kinds_side_by_side_are_both_taken(self):
        nn, layer = self.nn, self.layer
        model = nn.ModuleDict({"encoder": nn.ModuleList(layer() for _ in range(3))})
        model["decoder"] = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, batch_first=True), 2)
        self.check(model, "3 × Layer in encoder; 2 × TransformerEncoderLayer in decoder.layers")


if __name__ == "__main__":
    unittest.main()
