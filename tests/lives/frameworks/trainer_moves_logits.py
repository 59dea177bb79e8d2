# /// expect
# run = "check"
# vram = "2.5GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["evaluation"]
# form = "Trainer, eval_steps"
# why = "four batches of 8 have 32 x 128 x 4,000 x 4 B = 63 MiB of logits, a step about five times 16 MiB"
# ///
"""Like a Trainer that keeps the logits of all texts; they move to the host after every four batches."""

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
        eval_accumulation_steps=4,
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
