"""Indices that a network would have chosen are drawn, and operators go on to compute with the draws."""

import unittest

from .support import needs_phantom, needs_torch, run_program

# Completions are cut behind the end token, which an untrained network hardly ever chooses.
TEXTS = """
    import torch
    END, LENGTH = 2, 64
    torch.manual_seed(0)
    logits = torch.randn(8, 512, device="cuda") @ torch.randn(512, 30000, device="cuda")
    tokens = torch.stack([torch.multinomial(logits.softmax(-1), 1).squeeze(1) for _ in range(LENGTH)], 1)
    ended = (tokens == END).long()
    length = torch.where(ended.any(1), ended.argmax(1) + 1, LENGTH)
    mask = torch.arange(LENGTH, device="cuda")[None] < length[:, None]
    ends = torch.full((8,), LENGTH, device="cuda")
    ends[ended.any(1)] = ended.argmax(1)[ended.any(1)]
    assert ends.tolist() == [LENGTH] * 8
    print(int(length.max()), int(mask.sum()), len({tuple(row) for row in tokens.tolist()}), len(tokens[0].unique()) > LENGTH // 2)
"""

# Masks of experts, of classes and of counts agree with each other.
SHARES = """
    import torch
    from torch.utils.checkpoint import checkpoint
    TOKENS, EXPERTS = 4096, 8
    x = torch.randn(TOKENS, 64, device="cuda", requires_grad=True)
    router, experts = torch.nn.Linear(64, EXPERTS).cuda(), torch.nn.ModuleList(torch.nn.Linear(64, 64) for _ in range(EXPERTS)).cuda()
    sizes = []
    def layer(x):
        weight, choice = router(x).softmax(-1).max(-1)
        out = torch.zeros_like(x)
        for index, expert in enumerate(experts):
            mine = choice == index
            sizes.append(int(mine.sum()))
            out[mine] = expert(x[mine]) * weight[mine, None]
        return out
    checkpoint(layer, x, use_reentrant=False).sum().backward()
    assert sizes[:EXPERTS] == sizes[EXPERTS:] and sum(sizes) == 2 * TOKENS, sizes
    labels = router(x).argmax(1)
    assert len(labels.unique()) <= EXPERTS and torch.bincount(labels, minlength=EXPERTS).shape == (EXPERTS,)
    assert min(sizes) > 0.8 * TOKENS / EXPERTS
    best = router(x).topk(3).indices
    before = torch.cuda.memory_allocated()
    for _ in range(3):
        large = torch.randn(4096, 1024, device="cuda")
        large.argmax(1), large.topk(2), large.abs().multinomial(2), large.max(1)
    del large
    assert torch.cuda.memory_allocated() == before
    print(all(len(set(row)) == 3 for row in best.tolist()))
"""

# A loop without a limit waits for the end of the text.
LOOP = """
    import torch
    logits = torch.randn(2, 512, device="cuda") @ torch.randn(512, 30000, device="cuda")
    rounds = 0
    while not (logits.argmax(-1) == 2).all():
        rounds += 1
    while (logits.argmax(-1) != 2).any():
        rounds += 1
    print(rounds > 1000)
"""


@needs_phantom
class Programs(unittest.TestCase):
    """Sizes that follow from assumed choices."""

    def test_texts_reach_their_length(self):
        ran = run_program(TEXTS, phantom=True)
        self.assertEqual((ran.status, ran.stdout), (0, "64 512 8 True\n"), ran.stderr)
        self.assertIn("assumed-indices", [record["id"] for record in ran.records("assumption")])

    def test_a_loop_without_a_limit_ends(self):
        ran = run_program(LOOP, phantom=True)
        self.assertEqual((ran.status, ran.stdout), (0, "True\n"), ran.stderr)

    def test_experts_share_the_tokens(self):
        ran = run_program(SHARES, phantom=True)
        self.assertEqual((ran.status, ran.stdout), (0, "True\n"), ran.stderr)
        self.assertEqual(ran.records("value_shape"), [])


@needs_torch
class Draws(unittest.TestCase):
    """The promises of Note [Assumed indices]."""

    def test_the_ends_are_left_out_of_many_choices(self):
        from oomph.agent.values.known import indices

        for choices, low, high in ((4, 0, 4), (63, 0, 63), (64, 4, 60), (32000, 2000, 30000)):
            drawn = indices.pick_each(choices, (1000,))
            self.assertTrue(low <= drawn.min() and drawn.max() < high, choices)
            self.assertGreater(len(drawn.unique()), min(choices, 1000) // 2)

    def test_indices_differ_along_the_dimension(self):
        from oomph.agent.values.known import indices

        for choices, shape, dim in ((8, (5, 3), -1), (8, (3, 5), 0), (64, (4, 64), 1), (1000, (2, 7, 3), 1), (5, (5,), 0)):
            drawn = indices.pick_distinct(choices, shape, dim=dim)
            self.assertEqual(drawn.shape, shape)
            ordered = drawn.sort(dim)[0]
            self.assertTrue((ordered.diff(dim=dim) > 0).all() and 0 <= drawn.min() and drawn.max() < choices, (choices, shape))
