# /// expect
# run = "check"
# vram = "4.75GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["save"]
# form = "epochs x batches, global_step % save_steps == 0, deque with maxlen of copies on the host"
# need_gib = [3.45, 3.7]
# why = "weights of 2 x 4,096 x 4,096 x 4 B = 128 MiB, two moments of Adam and the gradient or Adam's root: 640 MiB at most; a step keeps the input and what the two ReLUs make, 32,768 x 4,096 x 4 B = 512 MiB each, and the backward pass has the gradients of a ReLU on both sides: 2.5 GiB; the copies go to the host tensor by tensor. A checkpoint on the GPU would be 0.13 GiB, and three of them with the moments 1.1 GiB"
# ///
"""Regression on sensor windows; the last three checkpoints are kept on the host, so that the run can go back after a spike."""

import argparse
from collections import deque

import torch
from torch import nn


class Windows:
    def __init__(self, batches, batch_size, width):
        self.batches, self.shape = batches, (batch_size, width)

    def __len__(self):
        return self.batches

    def __iter__(self):
        for _ in range(self.batches):
            x = torch.randn(self.shape, device="cuda")
            yield x, x[:, :1].tanh()


class RollingCheckpoints:
    def __init__(self, keep):
        self.kept = deque(maxlen=keep)

    def save(self, step, model, optimizer):
        weights = {name: value.detach().to("cpu", copy=True) for name, value in model.state_dict().items()}
        self.kept.append({"step": step, "model": weights, "groups": optimizer.state_dict()["param_groups"]})

    def steps(self):
        return [checkpoint["step"] for checkpoint in self.kept]


class Engine:
    def __init__(self, args):
        self.args, self.global_step = args, 0
        width = args.width
        self.model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        self.train_data = Windows(args.batches, args.batch_size, width)
        self.val_data = Windows(4, args.batch_size // 4, width)
        self.checkpoints = RollingCheckpoints(args.save_total_limit)

    def forward_loss(self, x, y):
        return nn.functional.huber_loss(self.model(x), y)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        losses = [self.forward_loss(x, y) for x, y in self.val_data]
        self.model.train()
        return torch.stack(losses).mean().item()

    def train_one_epoch(self, epoch):
        for x, y in self.train_data:
            loss = self.forward_loss(x, y)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            self.global_step += 1
            if self.global_step % self.args.save_steps == 0:
                self.checkpoints.save(self.global_step, self.model, self.optimizer)
        print(f"epoch {epoch} validation {self.validate():.4f} checkpoints {self.checkpoints.steps()}")

    def train(self):
        for epoch in range(self.args.epochs):
            self.train_one_epoch(epoch)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--batch-size", type=int, default=32_768)
    parser.add_argument("--batches", type=int, default=300)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--save-steps", type=int, default=250)
    parser.add_argument("--save-total-limit", type=int, default=3)
    parser.add_argument("--lr", type=float, default=1e-4)
    Engine(parser.parse_args()).train()
