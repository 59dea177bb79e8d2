# /// expect
# run = "check"
# vram = "2.5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["next-epoch"]
# line = 38
# form = "Trainer, state.global_step == n in a callback of the program"
# need_gib = [3.3, 3.7]
# why = "an epoch has 500 steps; from step 701 on a step has 3 GiB of noise for an extra loss, with model, AdamW and context 3.5"
# ///
"""A callback switches a costly extra loss on at step 700."""

import tempfile

import torch
from torch import nn
from transformers import Trainer, TrainerCallback, TrainingArguments


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        return {"x": torch.full((64,), float(index))}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(64, 64)
        self.has_noise = False

    def forward(self, x):
        loss = (self.net(x) - x).square().mean()
        if self.has_noise:
            loss = loss + torch.randn(3, 1 << 28, device=x.device).mean()
        return {"loss": loss}


class Curriculum(TrainerCallback):
    def __init__(self, start):
        self.start = start

    def on_step_begin(self, args, state, control, model, **kwargs):
        if state.global_step == self.start:
            model.has_noise = True


with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder, per_device_train_batch_size=8, max_steps=1200, save_strategy="no", report_to=[], disable_tqdm=True
    )
    Trainer(model=Model(), args=arguments, train_dataset=Rows(), callbacks=[Curriculum(700)]).train()
