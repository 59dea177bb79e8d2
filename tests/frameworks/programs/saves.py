"""Trains a little and saves as a framework does: on a GPU where there is one, else on the CPU. Run by `saves.py`."""

import sys

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def trainer():
    """transformers: one checkpoint is kept, and the oldest removed."""
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

    model = GPT2LMHeadModel(GPT2Config(vocab_size=128, n_layer=1, n_embd=64, n_head=2))
    tokens = torch.zeros(32, dtype=torch.long)
    options = {"max_steps": 2, "save_steps": 1, "save_total_limit": 1, "report_to": [], "use_cpu": DEVICE == "cpu"}
    Trainer(model, TrainingArguments("saved", **options), train_dataset=[{"input_ids": tokens, "labels": tokens}] * 16).train()


def lightning():
    """Lightning: the best and the last, each under one name."""
    import lightning
    from lightning.pytorch.callbacks import ModelCheckpoint

    class Model(lightning.LightningModule):
        """One layer."""

        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(64, 64)

        def training_step(self, batch, _):
            """Its loss is what is best."""
            loss = self.layer(batch[0]).sum()
            self.log("loss", loss)
            return loss

        def configure_optimizers(self):
            """Any."""
            return torch.optim.SGD(self.parameters())

    options = {"monitor": "loss", "save_last": True, "filename": "best", "enable_version_counter": False}
    data = torch.utils.data.TensorDataset(torch.ones(32, 64))
    accelerator = "gpu" if DEVICE == "cuda" else "cpu"
    fit = lightning.Trainer(
        max_epochs=2, callbacks=[ModelCheckpoint("saved", **options)], logger=False, accelerator=accelerator
    ).fit
    fit(Model(), torch.utils.data.DataLoader(data, batch_size=8))


def accelerate():
    """accelerate: a folder of states."""
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=DEVICE == "cpu")
    model = torch.nn.Linear(64, 64)
    model, optimizer = accelerator.prepare(model, torch.optim.Adam(model.parameters()))
    model(torch.ones(8, 64, device=DEVICE)).sum().backward()
    optimizer.step()
    accelerator.save_state("saved")


def distributed():
    """torch.distributed.checkpoint: files of parts, and a list of them that is renamed into place."""
    from torch.distributed import checkpoint

    layer = torch.nn.Linear(64, 64, device=DEVICE)
    checkpoint.save(layer.state_dict(), checkpoint_id="saved", no_dist=True)


{"trainer": trainer, "lightning": lightning, "accelerate": accelerate, "distributed": distributed}[sys.argv[1]]()
