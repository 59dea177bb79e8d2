"""Trains a small model by Lightning with the callback, and compares each of its rows with PyTorch's counters after that step."""

import csv

import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import Callback
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from rows import compare
from torch import nn

from oomph.callbacks.lightning import OomphCallback


class Model(LightningModule):
    """A linear layer."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(256, 256)

    def training_step(self, batch, _index):
        """The loss of a batch."""
        loss = self.layer(batch).square().mean()
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        """AdamW."""
        return torch.optim.AdamW(self.parameters())


class Counters(Callback):
    """Reads PyTorch's counters after each step of the log, before the callback under test does."""

    def __init__(self):
        self.rows = {}

    def on_train_batch_end(self, trainer, *_):
        """Notes the counters."""
        if trainer.global_step % trainer.log_every_n_steps == 0 and torch.cuda.is_available():
            self.rows[trainer.global_step] = torch.cuda.memory_stats()


counters = Counters()
trainer = Trainer(
    max_steps=12, log_every_n_steps=2, logger=[TensorBoardLogger("logs"), CSVLogger("csv")], callbacks=[counters, OomphCallback()], enable_checkpointing=False,
    accelerator="gpu" if torch.cuda.is_available() else "cpu", devices=1, enable_progress_bar=False,
)  # fmt: skip
trainer.fit(Model(), torch.utils.data.DataLoader(torch.ones(24, 256), batch_size=2))
with open("csv/lightning_logs/version_0/metrics.csv", encoding="utf-8") as file:
    written = [{key: value for key, value in row.items() if value} for row in csv.DictReader(file)]
rows = {int(row["step"]): {key: float(value) for key, value in row.items()} for row in written if "oomph/allocated_bytes" in row}
compare(rows, counters.rows, "logs", "oomph/")
