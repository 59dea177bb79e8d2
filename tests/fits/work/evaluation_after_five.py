# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run", "evaluation_after_five.py:59"]
# need_gib = [15, 26]
# why = "the evaluation after step 5 makes logits 128 x 512 x 32000 x 4 B = 7.8 GiB for 128 texts, log_softmax as much; training has 16 texts, 0.98 GiB"
# ///
"""Fine-tunes a language model; evaluates after every fifth step with eight times the batch, as per_device_eval_batch_size."""

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, LENGTH, TRAIN_BATCH, EVAL_BATCH, EVAL_STEPS, STEPS = 32000, 256, 512, 16, 128, 5, 500


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU())
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, ids):
        return self.head(self.mlp(self.embed(ids)))


class Trainer:
    def __init__(self):
        self.model = Model().cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)

    def batch(self, size):
        return torch.randint(VOCABULARY, (size, LENGTH), device="cuda")

    def loss(self, ids):
        return F.cross_entropy(self.model(ids).view(-1, VOCABULARY), ids.view(-1))

    def training_step(self):
        loss = self.loss(self.batch(TRAIN_BATCH))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        losses = [self.loss(self.batch(EVAL_BATCH)).item() for _ in range(4)]
        self.model.train()
        return sum(losses) / len(losses)

    def train(self):
        for step in range(1, STEPS + 1):
            self.training_step()
            if step % EVAL_STEPS == 0:
                print(step, self.evaluate())


Trainer().train()
