# /// expect
# run = "check"
# vram = "1.5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["worst-batches"]
# line = 59
# form = "Trainer, gradient_accumulation_steps, epochs"
# need_gib = [2.0, 2.7]
# why = "4 x 2,000 x 16,000 x 4 B = 0.48 GiB of logits, with their gradient and the softmax of the loss 1.4, with model, AdamW and context 2.0 or more"
# ///
"""A Trainer that pads its batches to their longest text; one text is a chapter. It accumulates, and loads the best model at the end."""

import random
import tempfile

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


class Texts(torch.utils.data.Dataset):
    def __init__(self, count):
        draw = random.Random(count)
        self.lengths = [min(int(draw.lognormvariate(4, 0.6)), 500) for _ in range(count)]
        if count > 100:
            self.lengths[7] = 2000

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        ids = torch.arange(self.lengths[index])
        return {"input_ids": ids, "labels": ids}


def collate(samples):
    rows = [it["input_ids"] for it in samples]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    return {"input_ids": ids, "labels": ids}


config = LlamaConfig(vocab_size=16000, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=4,
        gradient_accumulation_steps=3,
        num_train_epochs=3,
        eval_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,
        logging_steps=50,
        report_to=[],
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=LlamaForCausalLM(config), args=arguments, train_dataset=Texts(601), eval_dataset=Texts(100), data_collator=collate
    )
    trainer.train()
    trainer.save_model(folder)
