"""Hugging Face's Trainer, with the batch size among its arguments."""

import tempfile

import torch
from torch import nn
from transformers import Trainer, TrainingArguments


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        return {"features": torch.zeros(1024), "labels": index % 16}


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 16))

    def forward(self, features, labels):
        return {"loss": nn.functional.cross_entropy(self.layers(features), labels)}


def main():
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=256,
            per_device_eval_batch_size=256,
            max_steps=3,
            optim="sgd",
            max_grad_norm=0.0,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
        )
        Trainer(model=Classifier(), args=arguments, train_dataset=Rows()).train()


if __name__ == "__main__":
    main()
