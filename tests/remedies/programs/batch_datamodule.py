"""Lightning: a data module that keeps the batch size for its loaders."""

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Rows(lightning.LightningDataModule):
    def __init__(self, batch_size=256):
        super().__init__()
        self.batch_size = batch_size
        self.data = TensorDataset(torch.randn(4096, 1024), torch.randint(16, (4096,)))

    def train_dataloader(self):
        return DataLoader(self.data, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.data, batch_size=128)


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 16))

    def training_step(self, batch, _index):
        features, labels = batch
        return nn.functional.cross_entropy(self.layers(features), labels)

    def validation_step(self, batch, _index):
        features, labels = batch
        self.log("loss", nn.functional.cross_entropy(self.layers(features), labels))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    trainer = lightning.Trainer(
        max_steps=3, accelerator="gpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    trainer.fit(Classifier(), datamodule=Rows())
