"""Evaluates a small language model with the Hugging Face Trainer."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=64, vocab_size=8192))
tokens = torch.randint(8192, (16, 128))
data = [{"input_ids": row, "labels": row} for row in tokens]


def metric(prediction):
    return {"predictions": len(prediction.predictions)}


def predictions(logits, labels):
    return logits.argmax(dim=-1)


arguments = TrainingArguments("out", per_device_eval_batch_size=2, report_to=[])
trainer = Trainer(model=model, args=arguments, eval_dataset=data, compute_metrics=metric, preprocess_logits_for_metrics=predictions)
print(trainer.evaluate())
