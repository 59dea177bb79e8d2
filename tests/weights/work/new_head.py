"""A classifier on a base model: the head's keys are missing in the checkpoint."""

import torch
from figures import run, show, zero
from transformers import AutoModelForSequenceClassification, DistilBertConfig, DistilBertForMaskedLM

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    config = DistilBertConfig(vocab_size=8000, dim=512, n_layers=3, n_heads=8, hidden_dim=2048)
    zero(DistilBertForMaskedLM(config)).save_pretrained(folder)


def load(source):
    model = AutoModelForSequenceClassification.from_pretrained(source, num_labels=7).to("cuda")
    show()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    ids = torch.ones(8, 64, dtype=torch.long, device="cuda")
    model(ids, labels=torch.zeros(8, dtype=torch.long, device="cuda")).loss.backward()
    optimizer.step()
    show()


run(make, load)
