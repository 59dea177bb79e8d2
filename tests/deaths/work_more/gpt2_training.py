# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 32
# requested_bytes = 1646821376
# says_any = ["logits", "vocab"]
# culprit = 31
# steps = 3
# ///
"""Trains a small GPT-2 of transformers: with 8192 tokens its logits, their logarithms and their gradient take 1.5 GiB each."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

WARM_UP = [1, 1, 2]


def build() -> GPT2LMHeadModel:
    """Returns a model of two layers with the vocabulary of GPT-2, 50257."""
    config = GPT2Config(n_layer=2, n_embd=128, n_head=2, n_positions=1024, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    return GPT2LMHeadModel(config).cuda()


def train(model: GPT2LMHeadModel) -> None:
    """Grows the batch to its full size of 8 sequences."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate([*WARM_UP, 8, 8]):
        tokens = torch.zeros(batch, 1024, dtype=torch.long, device="cuda")
        outputs = model(input_ids=tokens, labels=tokens)
        outputs.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del outputs
        print("step", step, "batch", batch)


if __name__ == "__main__":
    train(build())
