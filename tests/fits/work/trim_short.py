# /// expect
# run = "check"
# vram = "9GiB"
# kind = 1
# truth = "fits"
# verdict = ["fits"]
# need_gib = [4.0, 6.0]
# why = "the longest row has 512 of 4,096 tokens: logits, log_softmax and two gradients of 64 x 512 x 8192 x 4 B = 1 GiB each; padded they are 8 GiB each"
# ///
"""Distils into a small language model with dynamic padding: nothing is longer than the longest question."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, PADDED, LONGEST, VOCABULARY, WIDTH, STEPS = 64, 4096, 512, 8192, 256, 3


def tokenize(questions):
    """Pads to the model's maximum, as a tokenizer with padding="max_length" does."""
    ids = torch.zeros(len(questions), PADDED, dtype=torch.long)
    mask = torch.zeros(len(questions), PADDED, dtype=torch.long)
    for row, length in enumerate(questions):
        ids[row, :length] = torch.randint(1, VOCABULARY, (length,))
        mask[row, :length] = 1
    return {"input_ids": ids, "attention_mask": mask}


class Trainer:
    def __init__(self, device="cuda"):
        self.device = device
        self.student = nn.Sequential(nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, VOCABULARY)).to(device)
        self.optimizer = torch.optim.Adam(self.student.parameters(), lr=3e-4)

    def step(self, batch):
        batch = {key: value.to(self.device, non_blocking=True) for key, value in batch.items()}
        width = batch["attention_mask"].sum(-1).amax().item()
        ids = batch["input_ids"][:, :width]
        logits = self.student(ids[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, VOCABULARY), ids[:, 1:].reshape(-1), ignore_index=0)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    trainer = Trainer()
    for step in range(STEPS):
        questions = [LONGEST - 7 * (i % 40) for i in range(BATCH)]
        print(step, trainer.step(tokenize(questions)))
