# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["evaluation"]
# step = 901
# line = 27
# form = "self.step of a Trainer, a method decides"
# need_gib = [5.4, 6.3]
# why = "each of 16 layers keeps 32,768 x 2,048 x 4 B = 256 MiB in an evaluation without no_grad: 4 GiB, with weights and AdamW 0.75 GiB, the input 0.25 and a layer's output 0.25: 5.7 with the context"
# ///
"""A trainer of its own: it counts its steps itself, and asks a method whether it is time to evaluate."""

import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x).squeeze(-1)


class Trainer:
    def __init__(self, model, max_steps, eval_every):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        self.step, self.max_steps, self.eval_every = 0, max_steps, eval_every

    def is_time_to_evaluate(self):
        return self.step > 0 and self.step % self.eval_every == 0

    def train_step(self):
        x = torch.randn(32, 2048, device="cuda")
        loss = (self.model(x) - x.mean(1)).square().mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def evaluate(self):
        self.model.eval()
        x = torch.randn(32_768, 2048, device="cuda")
        error = (self.model(x) - x.mean(1)).abs().mean().item()
        self.model.train()
        print(self.step, error)

    def train(self):
        while self.step < self.max_steps:
            self.train_step()
            self.step += 1
            if self.is_time_to_evaluate():
                self.evaluate()


Trainer(Regressor(2048, 16).cuda(), max_steps=1500, eval_every=900).train()
