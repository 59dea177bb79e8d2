"""Lightning: finds a batch size with its Tuner (`--find`), or trains three steps.

`--find power` doubles from 2 on; `--find binsearch` then halves what is between. Prints a JSON object of what was found.
"""

import argparse
import json
import warnings

import lightning
import torch
from lightning.pytorch.tuner import Tuner
from model import Samples, layers
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=2)
parser.add_argument("--find", choices=("power", "binsearch"))
args = parser.parse_args()
warnings.simplefilter("ignore")


class Regressor(lightning.LightningModule):
    def __init__(self, batch_size):
        super().__init__()
        self.batch_size = batch_size
        self.layers = layers()
        self.trials = 0

    def training_step(self, batch, index):
        self.trials += index == 0
        return self.layers(batch).square().mean()

    def train_dataloader(self):
        return DataLoader(Samples(), batch_size=self.batch_size, shuffle=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


model = Regressor(args.batch_size)
trainer = lightning.Trainer(
    max_steps=3,
    accelerator="gpu",
    devices=1,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
if args.find:
    size = Tuner(trainer).scale_batch_size(model, mode=args.find)
    print(json.dumps({"size": size, "trials": model.trials}))
else:
    trainer.fit(model)
