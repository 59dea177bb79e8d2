"""Trains a small model by transformers' Trainer with the callback, and compares each of its rows with PyTorch's counters at that log."""

import os

import torch
from rows import compare
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

from oomph.callbacks.transformers import OomphCallback


class Counters(TrainerCallback):
    """Reads PyTorch's counters at each log of a loss, before the callback under test does."""

    def __init__(self):
        self.rows = {}

    def on_log(self, args, state, control, logs=None, **kwargs):
        """Notes the counters."""
        if "loss" in logs and torch.cuda.is_available():
            self.rows[state.global_step] = torch.cuda.memory_stats()


class Tokens(torch.utils.data.Dataset):
    """A dozen texts."""

    def __len__(self):
        return 12

    def __getitem__(self, index):
        tokens = torch.arange(32) + index
        return {"input_ids": tokens, "labels": tokens}


counters = Counters()
arguments = TrainingArguments(
    output_dir="out", per_device_train_batch_size=1, max_steps=12, logging_steps=2, report_to=["tensorboard"], save_strategy="no",
    use_cpu=not torch.cuda.is_available(), disable_tqdm=True,
)  # fmt: skip
os.environ["TENSORBOARD_LOGGING_DIR"] = "logs"
model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=128, n_head=2))
trainer = Trainer(model, arguments, train_dataset=Tokens(), callbacks=[counters, OomphCallback()])
trainer.train()
rows = {row["step"]: row for row in trainer.state.log_history if "oomph/allocated_bytes" in row}
assert len([row for row in trainer.state.log_history if "loss" in row]) == 6, trainer.state.log_history
compare(rows, counters.rows, "logs", "train/oomph/")
