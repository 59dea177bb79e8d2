# /// expect
# run = "check"
# vram = "2.5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["evaluation"]
# line = 49
# form = "Lightning, val_check_interval"
# need_gib = [3.4, 3.8]
# why = "50 batches of 8 x 256 x 4,096 x 4 B = 32 MiB are 1.56 GiB, joined twice that, with the context 3.6; the sanity check has two batches"
# ///
"""Lightning: the validation, twice in an epoch, keeps its outputs and joins them at its end."""

import tempfile

import lightning
import torch
from torch import nn


class Rows(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return torch.full((256,), float(index))


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(256, 2048), nn.ReLU(), nn.Linear(2048, 256))
        self.kept = []

    def training_step(self, batch, index):
        loss = (self.net(batch) - batch).square().mean()
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        found = self.net(batch)
        self.kept.append(found.repeat(1, 4096))
        self.log("val_loss", (found - batch).square().mean())

    def on_validation_epoch_end(self):
        torch.cat(self.kept)
        self.kept.clear()

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-3)
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 1)}


with tempfile.TemporaryDirectory() as folder:
    trainer = lightning.Trainer(
        max_epochs=4, accelerator="gpu", devices=1, default_root_dir=folder, logger=False, enable_progress_bar=False, val_check_interval=0.5,
        accumulate_grad_batches=2,
    )  # fmt: skip
    model = Model()
    trainer.fit(model, torch.utils.data.DataLoader(Rows(6405), 8), torch.utils.data.DataLoader(Rows(400), 8))
