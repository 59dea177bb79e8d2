# /// expect
# run = "check"
# vram = "8GiB"
# verdict = ["fits", "fits so far"]
# search = false
# then = "went on (the only out-of-memory error is one that a mock raises, the device never runs out)"
# why = "trainers test their own recovery in unittest by injecting torch.cuda.OutOfMemoryError with unittest.mock"
# ///
import unittest
from unittest import mock

import torch
from torch import nn


class Trainer:
    """fairseq's way: an update that runs out of memory is skipped, two in a row are an error."""

    def __init__(self):
        self.model = nn.Sequential(nn.Linear(2048, 8192), nn.ReLU(), nn.Linear(8192, 2048)).to("cuda")
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-4)
        self.skipped = 0

    def loss(self, batch):
        return (self.model(batch) - batch).abs().mean()

    def train_step(self, batch, raise_oom=False):
        try:
            self.loss(batch).backward()
        except RuntimeError as error:
            if "out of memory" not in str(error) or raise_oom:
                raise
            self.skipped += 1
            self.optimizer.zero_grad(set_to_none=True)
            torch.cuda.empty_cache()
            return False
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return True


class RecoveryTest(unittest.TestCase):
    def batch(self):
        return torch.randn(16384, 2048, device="cuda")  # 128 MiB, and 512 MiB after the first layer

    def injected(self):
        text = "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 8.00 GiB"
        return torch.cuda.OutOfMemoryError(text)

    def test_a_skips_once(self):
        trainer = Trainer()
        with mock.patch.object(trainer, "loss", side_effect=self.injected()):
            self.assertFalse(trainer.train_step(self.batch()))
        self.assertEqual(trainer.skipped, 1)

    def test_b_raises_when_told(self):
        trainer = Trainer()
        with mock.patch.object(trainer, "loss", side_effect=self.injected()):
            with self.assertRaises(torch.cuda.OutOfMemoryError):
                trainer.train_step(self.batch(), raise_oom=True)

    def test_c_trains(self):
        trainer = Trainer()
        for _ in range(6):
            self.assertTrue(trainer.train_step(self.batch()))
        self.assertEqual(trainer.skipped, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
