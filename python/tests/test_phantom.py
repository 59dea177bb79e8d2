"""Whole programs over the phantom GPU: censuses, marks, out of memory, values."""

import unittest

from .support import needs_phantom, run_program

MODEL = """
    import torch, torch.nn as nn
    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(1024))
            self.register_buffer("offset", torch.zeros(2048))
        def forward(self, x):
            return torch.sigmoid(x * self.weight)
    model = nn.Sequential(Scale(), nn.Sequential(Scale())).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(512, 1024, device="cuda")).sum().backward()
        optimizer.step()
        torch.cuda.reset_peak_memory_stats()
    print(torch.cuda.memory_allocated())
"""
KIB = 1024
MIB = 1024 * KIB


@needs_phantom
class Training(unittest.TestCase):
    """A small training program."""

    @classmethod
    def setUpClass(cls):
        cls.ran = run_program(MODEL, phantom=True)

    def test_the_agent_changes_no_byte(self):
        plain = run_program(MODEL, phantom=True, recorded=False)
        self.assertEqual((self.ran.status, self.ran.stdout, self.ran.stderr), (0, plain.stdout, plain.stderr))

    def test_censuses_find_every_category(self):
        def sizes(census):
            return sorted((category, size) for category, _device, _address, size in census["tensors"])

        model = [("buffer", 8 * KIB)] * 2 + [("parameter", 4 * KIB)] * 2
        expected = {
            "forward": model,
            "optimizer": model + [("gradient", 4 * KIB)] * 2,
            "end": model + [("gradient", 4 * KIB), ("optimizer_state", 4 * KIB)] * 2,
        }
        first = {census["when"]: census for census in reversed(self.ran.records("census"))}
        for when, entries in expected.items():
            self.assertEqual(sizes(first[when]), sorted(entries), when)
        self.assertEqual([census["number"] for census in self.ran.records("census")], [1, 2, 3, 4, 5])

    def test_marks_name_phase_and_module(self):
        seen = {(mark["step"], mark["phase"], mark["module"]) for mark in self.ran.marks()}
        for phase in ("forward", "backward"):
            for module in ("0", "1.0"):
                self.assertIn(("2", phase, module), seen)
        self.assertIn(("1", "setup", ""), seen)
        self.assertIn(("1", "optimizer", ""), seen)

    def test_the_largest_peak_survives_a_reset(self):
        peaks = [step["devices"][0]["allocated_peak_bytes"] for step in self.ran.records("step")]
        self.assertEqual(peaks, sorted(peaks))
        self.assertEqual(self.ran.end()["devices"][0]["allocated_peak_bytes"], peaks[-1])
        # Input, two products and two outputs of 2 MiB are alive when the loss is formed.
        self.assertGreater(peaks[0], 10 * MIB)


@needs_phantom
class Closure(unittest.TestCase):
    """An optimizer with a closure: backward is backward, and the update comes afterwards."""

    def check(self, call):
        step = f"optimizer.step({call})"
        source = MODEL.replace("optimizer.zero_grad()", "def closure():")
        source = source.replace("model(torch", "    optimizer.zero_grad(); model(torch").replace("optimizer.step()", step)
        ran = run_program(source, phantom=True)
        self.assertEqual((ran.status, ran.end()["steps"]), (0, 3), ran.stderr)
        seen = {(mark["step"], mark["phase"]) for mark in ran.marks()}
        self.assertTrue({("2", "forward"), ("2", "backward"), ("1", "optimizer")} <= seen, seen)
        noted = {census["when"]: census["tensors"] for census in ran.records("census")}
        self.assertIn("gradient", {category for category, *_rest in noted["optimizer"]})

    def test_by_place(self):
        self.check("closure")

    def test_by_name(self):
        self.check("closure=closure")


@needs_phantom
class OutOfMemory(unittest.TestCase):
    """The error is noted before it is raised, with the line of the script."""

    def check(self, source, phase, module, line):
        ran = run_program(source, phantom=True, OOMPH_DEVICE=f"total_bytes={2048 * MIB};context_bytes=0")
        self.assertEqual(ran.status, 1, ran.stderr)
        oom, error = ran.records("oom")[0], ran.records("error")[0]
        self.assertEqual((oom["phase"], oom["module"], oom["requested_bytes"]), (phase, module, 512 * MIB))
        lines = [line for _function, file, line in oom["frames"] if file.endswith("program.py")]
        self.assertEqual(lines[0], line)
        self.assertEqual((error["type"], error["oom"], error["line"]), ("torch.OutOfMemoryError", True, line))
        self.assertEqual([event["action"] for event in ran.snapshot["device_traces"][0]].count("oom"), 1)
        self.assertEqual(ran.records("census")[-2]["when"], "oom")

    def test_in_forward(self):
        source = """
            import torch
            class F(torch.nn.Module):
                def forward(self, x): return [torch.sigmoid(x) for _ in range(4)]
            F()(torch.empty(1 << 27, device="cuda"))
        """
        self.check(source, "forward", "F", 4)

    def test_in_the_engines_own_thread(self):
        source = """
            import torch
            class F(torch.nn.Module):
                def forward(self, x): return torch.sigmoid(x)
            y = F()(torch.empty(1 << 27, device="cuda", requires_grad=True))
            more = torch.empty(1 << 28, device="cuda", dtype=torch.int8), torch.empty(1 << 29, device="cuda", dtype=torch.int8)
            y.sum().backward()
        """
        self.check(source, "backward", "F", 7)


@needs_phantom
class FullDisk(unittest.TestCase):
    """A disk that takes no more; a limit on the size of files fails in the same way."""

    def test_no_half_snapshot_is_left(self):
        limit = "import resource, torch\n    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        ran = run_program(MODEL.replace("import torch", limit + "    import torch", 1), phantom=True)
        self.assertEqual((ran.status, ran.snapshot, ran.leftovers), (0, None, []), ran.stderr)
        self.assertIn("oomph agent: cannot write the snapshot", ran.stderr)
        self.assertEqual(ran.records("process")[0]["rank"], 0)
        self.assertGreater(len(ran.records("census")), 0)


@needs_phantom
class ValueDependent(unittest.TestCase):
    """Shapes that depend on values are assumed, and said."""

    CASES = [
        ("x.nonzero()", 250, "aten::nonzero"),
        ("x[x > 0]", 250, "aten::nonzero"),
        ("torch.masked_select(x, x > 0)", 250, "aten::nonzero"),
        ("torch.unique(x)", 250, "aten::_unique2"),
        ("torch.unique_consecutive(x)", 250, "aten::unique_consecutive"),
        ("torch.unique(x.view(100, 10), dim=0)", 25, "aten::unique_dim"),
        ("torch.repeat_interleave(n)", 10, "aten::repeat_interleave.Tensor"),
        ("torch.bincount(n)", 1, "aten::bincount"),
        ("torch.bincount(n, minlength=7)", 7, "aten::bincount"),
        ("x[:1].nonzero()", 1, "aten::nonzero"),
        ("x[:0].nonzero()", 0, "aten::nonzero"),
    ]

    def test_sizes_and_records(self):
        lines = ["import torch", "x = torch.ones(1000, 10, device='cuda') @ torch.ones(10, device='cuda'); n = x[:10].long()"]
        lines += [f"print(len({expression}))" for expression, _size, _operator in self.CASES]
        ran = run_program("\n".join(lines), phantom=True, OOMPH_FRACTION="0.25")
        self.assertEqual([int(line) for line in ran.stdout.split()], [size for _e, size, _o in self.CASES], ran.stderr)
        noted = [(record["op"], record["line"], record["count"], record["fraction"]) for record in ran.records("value_shape")]
        expected = [(operator, number, 1, 0.25) for number, (_e, size, operator) in enumerate(self.CASES, 3) if size]
        self.assertEqual(sorted(noted), sorted(expected))
        # The fraction says nothing of the sum of repeats, and of the largest value.
        summed = [number for number, (_e, _size, operator) in enumerate(self.CASES, 3) if operator in ("aten::repeat_interleave.Tensor", "aten::bincount")]
        self.assertEqual([(record["line"], record["sizes"]) for record in ran.records("value_read")], [(number, 1) for number in summed])

    def test_reads_are_counted_by_line(self):
        source = "import torch\nx = torch.ones(3, 3, device='cuda') @ torch.ones(3, device='cuda')\nfor _ in range(4): x.sum().item()\nprint(bool(x.any()))\nassert x.any()\n"
        ran = run_program(source, phantom=True)
        reads = [(record["line"], record["count"]) for record in ran.records("value_read")]
        # The last line is a check, which passes.
        self.assertEqual((reads, ran.stdout), ([(3, 4), (4, 1)], "False\n"), ran.stderr)

    def test_known_values_decide_sizes(self):
        source = """
            import torch
            edges = torch.tensor([[0, 7, 3], [1, 2, 9]]).cuda()
            print(int(edges.max()), int(edges[0].max()), edges[:, edges[0] > 0].shape[1], len(edges.unique()), len(edges[1].bincount()))
            print(edges.sum().item(), int((edges * 2).max()), 6 / int((edges > 5).sum()))
        """
        ran = run_program(source, phantom=True)
        self.assertEqual(ran.stdout, "9 7 2 6 10\n22 18 3.0\n", ran.stderr)
        self.assertEqual(ran.records("value_read") + ran.records("value_shape"), [], ran.stderr)

    def test_distributions_and_samplers_are_not_refused(self):
        source = """
            import torch
            d = torch.distributions.Normal(torch.zeros(4, device="cuda"), torch.ones(4, device="cuda"))
            print(len(d.log_prob(d.sample())))
            print(len(torch.distributions.Categorical(logits=torch.randn(3, 4, device="cuda")).sample()))
            print(len(torch.multinomial(torch.rand(5, 4, device="cuda"), 1)))
        """
        ran = run_program(source, phantom=True)
        self.assertEqual((ran.stdout, ran.records("value_read")), ("4\n3\n5\n", []), ran.stderr)

    def test_large_host_initialisers_are_skipped_and_small_ones_are_not(self):
        source = """
            import torch
            small = torch.empty(1000).normal_(100.0, 1.0)
            assert small.min() > 50, small.min()
            torch.empty(1 << 20).normal_()
            torch.nn.init.trunc_normal_(torch.empty(1 << 19))
            torch.randint(0, 10, (1 << 20,)).max()
        """
        ran = run_program(source, phantom=True)
        self.assertEqual(ran.status, 0, ran.stderr)
        self.assertEqual(ran.records("initializers_skipped"), [{"kind": "initializers_skipped", "count": 2, "bytes": 6 * MIB}])
        self.assertEqual(ran.stderr, "")


@needs_phantom
class Scaling(unittest.TestCase):
    """A `GradScaler` beside scalars that come and go."""

    SOURCE = """
        import torch
        model = torch.nn.Linear(64, 64).cuda()
        optimizer, scaler = torch.optim.Adam(model.parameters()), torch.amp.GradScaler("cuda")
        for _ in range(3):
            weights = [torch.tensor(1.0, device="cuda") for _ in range(3)]
            loss = sum(model(torch.ones(8, 64, device="cuda")).sum() * weight for weight in weights)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            del weights, loss
            scaler.step(optimizer)
            scaler.update()
            print(len(optimizer.state))
    """

    def test_no_step_is_skipped(self):
        ran = run_program(self.SOURCE, phantom=True)
        self.assertEqual((ran.status, ran.stdout), (0, "2\n" * 3))
