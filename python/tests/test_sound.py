"""Unknown floating-point numbers are read as sound numbers."""

import unittest

from .support import needs_phantom, needs_torch, run_program

PROGRAM = """
    import math
    import numpy as np
    import torch
    x = torch.randn(2048, 2048, device="cuda") @ torch.randn(2048, 2048, device="cuda")
    trained = 0
    for _ in range(3):
        loss = x.square().mean()
        if loss.item() == 0 or not math.isfinite(loss.item()):
            continue
        trained += 1
        10 * math.log10(1 / loss.item())
    errors = [x.norm().item() for _ in range(3)]
    falls = errors[0] > errors[1] > errors[2] > 0
    assert x.std().item() < 1e-6
    while x.norm().item() > 1e-3:
        trained = -1
    gap = (x - x.t()).abs().max().item()
    if gap > 1e-6:
        raise ValueError("not symmetric")
    scale = 1 / gap
    shares = x[0].softmax(-1).cpu().numpy()
    np.random.choice(2048, 4, p=shares)
    torch.multinomial(x[:, :512].cpu(), 2)
    torch.multinomial(x.cpu(), 2)
    covariance = (x[:, :64].t() @ x[:, :64]).cpu().numpy()
    np.linalg.inv(covariance), np.linalg.cholesky(covariance)
    boxes = x[:, :4].sigmoid().cpu()
    assert (boxes[:, 2:] >= boxes[:, :2]).all()
    found_inf = x.isinf().any().float()
    skipped = found_inf.item() > 0
    assert len(x.argmax(1).unique()) > 0
    best = torch.tensor(float("inf"), device="cuda")
    for _ in range(2):
        loss = x.abs().mean()
        if loss > 0:
            trained += 1
        if not loss > 1e-4 or loss < 1e-3 or loss > 1 or loss >= best:
            trained = -1
        if (x.isinf().any().float() > 0).item():
            trained = -1
    while loss > 1e-3:
        trained = -1
    is_positive = (loss > 0).item()
    assert is_positive and loss < 1e-9
    scaler, layer = torch.amp.GradScaler("cuda", init_scale=1024.0), torch.nn.Linear(4, 4).cuda()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(2):
        scaler.scale(layer(torch.ones(4, 4, device="cuda")).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
    print(trained, falls, skipped, scaler.get_scale())
"""


@needs_phantom
class Programs(unittest.TestCase):
    """A program that would end at a zero."""

    def test_each_line_goes_through(self):
        ran = run_program(PROGRAM, phantom=True)
        self.assertEqual((ran.status, ran.stdout), (0, "5 True False 1024.0\n"), ran.stderr)
        self.assertEqual([record["id"] for record in ran.records("assumption")].count("sound-values"), 1)


@needs_torch
class Rows(unittest.TestCase):
    """The properties that Note [Sound values] promises."""

    def test_rows_add_up_to_one_and_rise(self):
        import torch
        from oomph.agent.values import sound

        for shape in ((7,), (5, 8), (3, 5, 8), (6, 1), (2, 1000)):
            rows = sound._varied(shape).reshape(-1, max(shape[-1], 6 if shape == (6, 1) else 0))
            self.assertTrue(torch.allclose(rows.sum(-1), torch.ones(len(rows), dtype=torch.float64)), shape)
            self.assertTrue((rows > 0).all() and (rows.diff(dim=-1) > 0).all(), shape)
            self.assertEqual(len(rows.unique(dim=0)), len(rows), shape)

    def test_square_matrices_are_well_conditioned(self):
        import torch
        from oomph.agent.values import sound

        for large in (False, True):
            found = torch.empty(3, 64, 64)
            if large:
                sound._fill_evenly(found)
            else:
                found.copy_(sound._varied((3, 64, 64)))
            self.assertTrue(torch.allclose(found.sum(-1), torch.ones(3, 64)))
            self.assertTrue((found > 0).all() and (torch.linalg.cond(found) < 3).all())

    def test_tensors_beyond_the_limits_stay_as_they_are(self):
        import torch
        from oomph.agent.values import sound

        answers = sound.SoundValues()
        large = torch.zeros(sound._MOST_BYTES // 4 + 1)
        self.assertFalse(answers.fill(large, None))
        self.assertFalse(answers.fill(torch.zeros(4, dtype=torch.int64), None))
        kept = []
        for _ in range(sound._MOST_ALIVE_BYTES // sound._MOST_BYTES):
            kept.append(torch.empty(sound._MOST_BYTES // 4))
            self.assertTrue(answers._has_room(kept[-1]))
        self.assertFalse(answers._has_room(torch.empty(sound._MOST_BYTES // 4)))
        kept.clear()
        self.assertTrue(answers._has_room(torch.empty(sound._MOST_BYTES // 4)))
