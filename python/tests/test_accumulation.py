"""gradient-accumulation: on a CPU, with real arithmetic, the gradients and the weights are those of the whole batch."""

import json
import unittest
from importlib.util import find_spec

from .support import needs_torch, run_program

_PROGRAM = """
    import json
    import torch
    from torch import nn
    from torch.nn.utils import clip_grad_norm_
    from torch.utils.data import DataLoader, TensorDataset

    def train(reduction, is_scaled, zero_last):
        torch.manual_seed(0)
        data = TensorDataset(torch.randn(36, 8), torch.randint(0, 5, (36,)))
        model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 5))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
        scaler = torch.amp.GradScaler("cpu", enabled=is_scaled, init_scale=2.0**10)
        criterion = nn.CrossEntropyLoss(reduction=reduction)
        seen, norms = [], []
        optimizer.register_step_pre_hook(lambda *_: seen.append([p.grad.flatten().tolist() for p in model.parameters()]))
        for features, labels in DataLoader(data, batch_size=12):
            if not zero_last:
                optimizer.zero_grad()
            scaler.scale(criterion(model(features), labels)).backward()
            scaler.unscale_(optimizer)
            norms.append(float(clip_grad_norm_(model.parameters(), 0.05)))
            scaler.step(optimizer)
            scaler.update()
            scheduler.step()
            if zero_last:
                optimizer.zero_grad()
        weights = [p.flatten().tolist() for p in model.parameters()]
        print(json.dumps([seen, [norm for norm in norms if norm], weights, scheduler.get_last_lr()]))

    train("mean", False, False)
    train("sum", False, False)
    train("mean", False, True)
    train("mean", True, False)
"""
# Three optimizers in turn; the third has the address of the first.
_REUSED_ADDRESS = """
    import gc
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(8, 5)
    data = TensorDataset(torch.randn(12, 8), torch.randint(0, 5, (12,)))

    def train(optimizer):
        for features, labels in DataLoader(data, batch_size=12):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(features), labels).backward()
            optimizer.step()

    first, second = (torch.optim.SGD(model.parameters(), lr=0.1) for _ in range(2))
    train(first)
    address = id(first)
    del first
    gc.collect()
    others = []
    while id(third := torch.optim.SGD.__new__(torch.optim.SGD)) != address:
        others.append(third)
        assert len(others) < 100_000
    third.__init__(model.parameters(), lr=0.1)
    train(second)
    train(third)
"""
# The Trainer's own arguments, and those of a class derived from them.
_TRAINERS = """
    from transformers import Seq2SeqTrainingArguments, TrainingArguments

    for kind in (TrainingArguments, Seq2SeqTrainingArguments):
        made = kind("out", per_device_train_batch_size=8, gradient_accumulation_steps=2, report_to=[], use_cpu=True)
        print(made.per_device_train_batch_size, made.gradient_accumulation_steps)
"""
_ACCUMULATION = json.dumps([{"remedy": "gradient-accumulation", "settings": {"steps": 4}}])
_STEPS = 3


@needs_torch
class AccumulationTest(unittest.TestCase):
    """The program as it is, and in four parts; three batches of 12: of a mean, of a sum, cleared at the end, and scaled."""

    def test_gradients_norms_weights_and_rates_are_those_of_the_whole_batch(self):
        whole, parts = run_program(_PROGRAM), run_program(_PROGRAM, OOMPH_REMEDIES=_ACCUMULATION)
        self.assertEqual((whole.status, parts.status), (0, 0), whole.stderr + parts.stderr)
        for expected, found in zip(whole.stdout.splitlines(), parts.stdout.splitlines(), strict=True):
            self.assertEqual(len(json.loads(expected)[0]), _STEPS)
            self.assert_close(json.loads(found), json.loads(expected))
        self.check_notes(parts)

    def test_an_optimizer_at_the_address_of_an_earlier_one_is_another(self):
        ran = run_program(_REUSED_ADDRESS, OOMPH_REMEDIES=_ACCUMULATION)
        self.assertEqual(ran.status, 0, ran.stderr)
        self.assertEqual([record["text"] for record in ran.records("remedy") if not record["applied"]], [])

    @unittest.skipUnless(find_spec("transformers") and find_spec("accelerate"), "transformers or accelerate is not installed")
    def test_the_switches_of_a_trainer_are_set_in_derived_classes_too(self):
        ran = run_program(_TRAINERS, OOMPH_REMEDIES=_ACCUMULATION)
        # 8 / 4 examples at a time, and 2 · 4 times.
        self.assertEqual((ran.status, ran.stdout), (0, "2 8\n2 8\n"), ran.stderr)

    def check_notes(self, parts) -> None:
        """Checks that the parts were parts: otherwise the comparison is empty."""
        notes = [record["text"] for record in parts.records("remedy") if record["applied"]]
        self.assertEqual(len(parts.records("remedy")), len(notes))
        for expected in (
            "DataLoader(batch_size=3) in place of 12",
            "(loss / 4).backward()",
            "backward() of the loss as it is: a sum over the batch",
            "SGD.step() once in 4 calls, and what belongs to it",
        ):
            self.assertIn(expected, notes)

    def assert_close(self, found, expected) -> None:
        """The same structure, and each number the same up to rounding in float32."""
        if isinstance(expected, float):
            self.assertAlmostEqual(found, expected, delta=1e-6 + 1e-5 * abs(expected))
            return
        self.assertEqual(len(found), len(expected))
        for one, other in zip(found, expected, strict=True):
            self.assert_close(one, other)


if __name__ == "__main__":
    unittest.main()
