"""Lightning: a LightningModule and a Trainer, on one device or on two with DDP (`--devices 2`)."""

import argparse

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(256, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU())
        self.head = nn.Linear(2048, 10)

    def forward(self, x):
        return self.head(self.body(x))

    def training_step(self, batch, _index):
        x, y = batch
        loss = nn.functional.cross_entropy(self(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, _index):
        x, y = batch
        self.log("val_loss", nn.functional.cross_entropy(self(x), y))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", type=int, default=1)
    devices = parser.parse_args().devices
    data = TensorDataset(torch.randn(512, 256), torch.randint(0, 10, (512,)))
    trainer = lightning.Trainer(
        max_steps=4,
        accelerator="gpu",
        devices=devices,
        strategy="ddp" if devices > 1 else "auto",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
    )
    trainer.fit(Classifier(), DataLoader(data, batch_size=64, shuffle=True), DataLoader(data, batch_size=64))


if __name__ == "__main__":
    main()
