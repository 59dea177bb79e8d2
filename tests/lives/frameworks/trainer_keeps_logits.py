# /// expect
# run = "check"
# vram = "2.5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["evaluation"]
# line = 54
# form = "Trainer, eval_steps"
# need_gib = [3.4, 24.0]
# why = "800 x 128 x 4,000 x 4 B = 1.53 GiB of logits, which are there twice while the last batch is joined: 3.05, with the context 3.5"
# ///
"""A Trainer whose evaluation, every 100 steps, keeps the logits of all texts on the device."""

import tempfile

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


class Texts(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        ids = torch.arange(128)
        return {"input_ids": ids, "labels": ids}


config = LlamaConfig(vocab_size=4000, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=8,
        per_device_eval_batch_size=8,
        num_train_epochs=4,
        eval_strategy="steps",
        eval_steps=100,
        save_strategy="steps",
        save_steps=150,
        logging_steps=50,
        report_to=[],
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=LlamaForCausalLM(config),
        args=arguments,
        train_dataset=Texts(2000),
        eval_dataset=Texts(800),
        compute_metrics=lambda found: {"all": len(found.predictions)},
    )
    trainer.train()
