"""Draws of a device equal published draws of GPUs, and follow the generator's state."""

import unittest

from .support import needs_phantom, needs_torch, run_program

# `torch.rand(3)` with the seed 0, and rows of `torch.randn(1, 64, 2048)` with the seed 42 on a GPU of 28 multiprocessors
# (pytorch/pytorch#158398). The last rows lie beyond the threads that the GPU runs at once.
RAND = (0.3990, 0.5167, 0.0249)
RANDN = {
    0: (0.1940, 2.1614, -0.1721, 1.4540, -2.7733, -0.8932),
    1: (-0.4574, 0.8063, 0.1580, 0.1124, 0.2769, -1.2535),
    2: (1.1346, -0.6329, -0.9147, -1.0001, -1.1552, -0.6955),
    61: (-0.4861, 0.3358, 1.0578, -0.7282, 0.5087, 0.1318),
    62: (0.7881, 0.8339, -1.1424, -0.6297, -1.1112, -0.4091),
    63: (-1.2356, -0.4083, -0.4695, -0.4841, 1.2850, -0.0282),
}

# Equal states draw equal numbers.
PROGRAM = """
    import torch
    from torch.utils.checkpoint import checkpoint
    def draw(generator=None):
        numbers = torch.rand(5, device="cuda", generator=generator)
        order = torch.randperm(9, device="cuda", generator=generator)
        return [*numbers.tolist(), *order.tolist(), *torch.randint(100, (3,), device="cuda", generator=generator).tolist()]
    torch.manual_seed(7)
    first, second = draw(), draw()
    torch.manual_seed(7)
    assert draw() == first != second == draw()
    state = torch.cuda.get_rng_state()
    third = draw()
    torch.cuda.set_rng_state(state)
    assert draw() == third
    with torch.random.fork_rng(devices=[0]):
        fourth = draw()
    assert draw() == fourth
    generators = [torch.Generator("cuda").manual_seed(7) for _ in range(2)]
    assert draw(generators[0]) == draw(generators[1]) == first
    layer = torch.nn.Linear(8, 8).cuda()
    def dropped(x):
        return x if torch.rand((), device="cuda") < 0.5 else layer(x).relu()
    x = torch.randn(4, 8, device="cuda", requires_grad=True)
    for _ in range(16):
        checkpoint(dropped, x, use_reentrant=False).sum().backward()
    torch.manual_seed(0)
    print(" ".join(f"{it:.4f}" for it in torch.rand(3, device="cuda").tolist()))
"""


@needs_torch
class Numbers(unittest.TestCase):
    """The numbers of a device, from its generator's state."""

    def draw(self, name, seed, dtype, count, *args, blocks=8 * 108):
        from oomph.agent.values.known import philox

        return philox.draw(name, philox.Draw(seed, 0, blocks * 256), dtype, count, *args)

    def test_they_equal_published_ones(self):
        import torch

        drawn = self.draw("uniform_", 0, torch.float32, 3)
        self.assertTrue(torch.allclose(drawn, torch.tensor(RAND), atol=6e-5))
        drawn = self.draw("normal_", 42, torch.float32, 64 * 2048, blocks=6 * 28).view(64, 2048)
        for row, expected in RANDN.items():
            found = torch.cat((drawn[row, :3], drawn[row, -3:]))
            self.assertTrue(torch.allclose(found, torch.tensor(expected), atol=6e-5), row)

    def test_each_keeps_its_range(self):
        import torch

        rows = (
            ("uniform_", torch.float64, (2.0, 5.0), 2, 5, 3.5),
            ("uniform_", torch.float16, (2.0, 5.0), 2, 5, 3.5),
            ("normal_", torch.float64, (3.0, 1.0), -9, 15, 3),
            ("exponential_", torch.float32, (2.0,), 0, 99, 0.5),
            ("geometric_", torch.float32, (0.25,), 1, 999, 4),
            ("bernoulli_.float", torch.bool, (0.25,), 0, 1, 0.25),
            ("random_.from", torch.int64, (-50, 51), -50, 50, 0),
            ("random_.from", torch.int64, (0, 1 << 40), 0, (1 << 40) - 1, 1 << 39),
            ("random_.to", torch.int32, (7,), 0, 6, 3),
            ("random_", torch.uint8, (), 0, 255, 127.5),
            ("random_", torch.int64, (), 0, (1 << 63) - 1, 1 << 62),
            ("random_", torch.float32, (), 0, 1 << 24, 1 << 23),
        )
        for name, dtype, args, low, high, mean in rows:
            drawn = self.draw(name, 5, dtype, 20000, *args, blocks=4)
            self.assertEqual(drawn.dtype, dtype)
            self.assertTrue(low <= drawn.min().item() and drawn.max().item() <= high, (name, dtype))
            self.assertAlmostEqual(drawn.double().mean().item() / mean if mean else drawn.double().mean().item() / 50, bool(mean), delta=0.03)

    def test_a_permutation_has_each_position_once(self):
        import torch
        from oomph.agent.values.known import philox

        for count in (0, 1, 2, 10, 1000, 70000):
            order = philox.permute(philox.Draw(1, 8, 1 << 16), count)
            self.assertTrue(order.sort()[0].equal(torch.arange(count)), count)


@needs_phantom
class States(unittest.TestCase):
    """A program that compares its draws."""

    def test_equal_states_draw_equal_numbers(self):
        ran = run_program(PROGRAM, phantom=True)
        self.assertEqual((ran.status, ran.stdout), (0, " ".join(f"{it:.4f}" for it in RAND) + "\n"), ran.stderr)
        self.assertEqual(ran.records("value_read"), [])
