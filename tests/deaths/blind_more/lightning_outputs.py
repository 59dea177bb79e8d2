# /// expect
# run = "run"
# vram = "4GiB"
# framework = "lightning"
# ends = "oom"
# status = 1
# line = 33
# requested_bytes = 131072000
# says_any = ["validation_outputs", 33]
# culprit = 33
# steps = 4
# ///
"""A LightningModule collects its logits in validation_step, 125 MiB each, and never clears them: the fourth epoch dies."""

import lightning
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

VOCABULARY, WIDTH = 32000, 256


class Tagger(lightning.LightningModule):
    """Predicts a word of the vocabulary."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(WIDTH, VOCABULARY)
        self.validation_outputs: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(x)

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], _index: int) -> torch.Tensor:
        return F.cross_entropy(self(batch[0]), batch[1])

    def validation_step(self, batch: tuple[torch.Tensor, torch.Tensor], _index: int) -> None:
        self.validation_outputs.append(self(batch[0]))

    def on_validation_epoch_end(self) -> None:
        print("validated", len(self.validation_outputs), flush=True)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def loader(rows: int, batch: int) -> DataLoader:
    """Returns batches of zeros."""
    return DataLoader(TensorDataset(torch.zeros(rows, WIDTH), torch.zeros(rows, dtype=torch.long)), batch_size=batch)


quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
trainer = lightning.Trainer(accelerator="gpu", devices=1, max_epochs=20, num_sanity_val_steps=0, **quiet)
trainer.fit(Tagger(), loader(16, 16), loader(8192, 1024))
