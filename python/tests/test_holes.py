"""Large host tensors over the phantom: what is computed with them is exact, and holes cost nothing."""

import unittest

from .support import needs_phantom, run_program

# 1027 columns: rows begin in the middle of pages.
COMMON = """
    import copy, numpy as np, torch
    ROWS, COLUMNS = 1024, 1027
    def hole():
        return torch.empty(ROWS, COLUMNS)
    def written(part):
        tensor, array = hole(), np.zeros((ROWS, COLUMNS), np.float32)
        array[part] = np.random.default_rng(1).standard_normal(array[part].shape, np.float32)
        tensor.numpy()[part] = array[part]
        return tensor, array
    PARTS = {"nothing": np.s_[0:0], "a row": np.s_[700], "a number": np.s_[5, 5], "the ends": np.s_[::ROWS - 1],
             "many rows": np.s_[::17], "a column": np.s_[:, 3], "all": np.s_[:]}
    def resident():
        with open("/proc/self/statm") as file:
            return (int(file.read().split()[1]) - int(open("/proc/self/statm").read().split()[2])) * 4096
"""

# Each makes a tensor of one that holds `array`, beside NumPy's result.
EXACT = """
    WAYS = {
        "clone": (lambda t: t.clone(), lambda a: a),
        "double": (lambda t: t.double(), lambda a: a.astype(np.float64)),
        "half and back": (lambda t: t.half().float(), lambda a: a.astype(np.float16).astype(np.float32)),
        "bool": (lambda t: t.bool(), lambda a: a != 0),
        "transposed": (lambda t: t.t().contiguous(), lambda a: a.T),
        "into transposed": (lambda t: torch.full((COLUMNS, ROWS), 7.0).t().copy_(t), lambda a: a),
        "over other values": (lambda t: torch.full_like(t, 7.0).copy_(t), lambda a: a),
        "half of it": (lambda t: t[: ROWS // 2].clone(), lambda a: a[: ROWS // 2]),
        "columns": (lambda t: t[:, 2:1000].contiguous(), lambda a: a[:, 2:1000]),
        "into rows": (lambda t: torch.full((2 * ROWS, COLUMNS), 7.0)[::2].copy_(t), lambda a: a),
        "broadcast": (lambda t: torch.full((2, ROWS, COLUMNS), 7.0).copy_(t), lambda a: np.stack([a, a])),
        "cat": (lambda t: torch.cat([t, t], 1), lambda a: np.concatenate([a, a], 1)),
        "stack": (lambda t: torch.stack([t, t], dim=-2), lambda a: np.stack([a, a], 1)),
        "deepcopy": (lambda t: copy.deepcopy(torch.nn.Parameter(t)).detach(), lambda a: a),
        "storage": (lambda t: t.new_empty(0).set_(t.untyped_storage().clone(), 0, t.shape, t.stride()), lambda a: a),
        "zero_": (lambda t: t.clone().zero_(), np.zeros_like),
        "fill_ with zero": (lambda t: t.clone().fill_(0), np.zeros_like),
        "fill_": (lambda t: t.clone().fill_(3), lambda a: np.full_like(a, 3)),
        "a row of zeros": (lambda t: (c := t.clone())[3].zero_() is None or c, lambda a: np.concatenate([a[:3], a[3:4] * 0, a[4:]])),
        "arithmetic": (lambda t: t * 2 + 1, lambda a: a * 2 + 1),
        "pinned": (lambda t: t.pin_memory(), lambda a: a),
        "with a number": (lambda t: t.int() & 1, lambda a: a.astype(np.int32) & 1),
        "or a number": (lambda t: torch.where(t > 0, t, 0.5), lambda a: np.where(a > 0, a, np.float32(0.5))),
        "a number": (lambda t: t.new_empty(300, 1000).copy_(torch.tensor(2.5)), lambda a: np.full((300, 1000), 2.5, np.float32)),
    }
    for name, part in PARTS.items():
        for way, (make, expected) in WAYS.items():
            tensor, array = written(part)
            np.testing.assert_array_equal(make(tensor).numpy(), expected(array), f"{name}, {way}")
            np.testing.assert_array_equal(tensor.numpy(), array, f"{name}, {way}: the source")
    assert (torch.arange(0, 128, 2, dtype=torch.float) / 128).tolist() == [n / 128 for n in range(0, 128, 2)]
    assert torch.empty(1 << 20).fill_(-0.0).view(torch.int32)[5] == -(1 << 31)
    for refused in (
        lambda: torch.empty(1 << 20).copy_(torch.empty((1 << 20) + 1)),
        lambda: torch.empty(1 << 10, 1 << 10).copy_(torch.empty(1 << 20)),
        lambda: (t := torch.zeros(1 << 21), t[1:].copy_(t[:-1])),
        lambda: torch.cat([torch.empty(1 << 20), torch.empty(1 << 20)], 1),
        lambda: torch.stack([torch.empty(1 << 20), torch.empty(1 << 19)]),
    ):
        try:
            refused()
        except (RuntimeError, IndexError):
            continue
        raise AssertionError("PyTorch refuses this")
    print("exact")
"""

FREE = """
    torch.cuda.init()
    def huge():
        # 64 GiB: more than the machine has.
        return torch.empty(1 << 17, 1 << 17)
    WAYS = {
        "empty": huge,
        "zeros": lambda: torch.zeros(1 << 17, 1 << 17),
        "rand": lambda: torch.rand(1 << 17, 1 << 17),
        "randn": lambda: torch.randn(1 << 17, 1 << 17),
        "zeros_like": lambda: torch.zeros_like(huge()),
        "normal_": lambda: huge().normal_(),
        "Embedding": lambda: torch.nn.Embedding(1 << 17, 1 << 17, padding_idx=5),
        "Linear": lambda: torch.nn.Linear(1 << 17, 1 << 17),
        "xavier": lambda: torch.nn.init.xavier_uniform_(huge()),
        "trunc_normal_": lambda: torch.nn.init.trunc_normal_(huge()),
        "orthogonal_": lambda: torch.nn.init.orthogonal_(huge()),
        "bfloat16": lambda: huge().bfloat16(),
        "clone": lambda: huge().clone(),
        "t": lambda: huge().t().contiguous(),
        "cat": lambda: torch.cat([huge(), huge()]),
        "stack": lambda: torch.stack([huge(), huge()], -1),
        "to and from the device": lambda: huge()[: 1 << 16].cuda().cpu(),
        "pinned": lambda: huge().pin_memory(),
        "state_dict": lambda: torch.nn.Linear(1 << 17, 1 << 17).load_state_dict(torch.nn.Linear(1 << 17, 1 << 17).state_dict()),
        "shared between two": lambda: torch.nn.Linear(1 << 17, 1 << 17).half().to("cuda"),
    }
    for way, make in WAYS.items():
        before = resident()
        made = make()
        assert resident() - before < 16 << 20, f"{way} took {resident() - before} bytes"
        del made
        torch.cuda.empty_cache()
    print("free")
"""


@needs_phantom
class Holes(unittest.TestCase):
    """The programs check themselves: the compared values would fill a terminal."""

    def check(self, source: str, says: str, **variables: str) -> None:
        ran = run_program(COMMON + source, phantom=True, **variables)
        self.assertEqual((ran.status, ran.stdout, ran.stderr), (0, f"{says}\n", ""))

    def test_copies_equal_numpys(self):
        self.check(EXACT, "exact")

    def test_holes_cost_nothing(self):
        self.check(FREE, "free", OOMPH_DEVICE=f"total_bytes={1 << 38};context_bytes=0")
