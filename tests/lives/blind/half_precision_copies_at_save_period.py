# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["save"]
# step = 801
# line = 67
# form = "for epoch in range(start, epochs), enumerate(loader); epoch > 0 and epoch % save_period == 0, or the final epoch"
# need_gib = [6.4, 6.6]
# why = "weights, average, momentum and, until the next zero_grad, the gradient are 4 x 262,144 x 1,024 x 4 B = 4 GiB; the checkpoint copies the weights before it halves them, 5 GiB with 4.55 free; later it holds the halved copies, 0.5 GiB each, and a copy of the momentum: 4 + 0.5 + 0.5 + 1 GiB = 6"
# ///
"""Item vectors with an exponential average; a checkpoint holds model and average in half precision, copied as detectors do."""

import argparse
import io
from copy import deepcopy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ItemVectors(nn.Module):
    def __init__(self, items, width):
        super().__init__()
        self.table = nn.Embedding(items, width)

    def forward(self, pairs):
        left, right = self.table(pairs).unbind(dim=1)
        return (left * right).sum(dim=-1)


class ModelEMA:
    def __init__(self, model, decay=0.999, tau=200):
        self.ema = deepcopy(model).eval()
        self.updates, self.decay, self.tau = 0, decay, tau
        self.ema.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        decay = self.decay * (1 - 2.718 ** (-self.updates / self.tau))
        for old, new in zip(self.ema.parameters(), model.parameters()):
            old.lerp_(new.detach(), 1 - decay)


class Trainer:
    def __init__(self, args):
        self.args, self.epoch, self.start_epoch = args, 0, 0
        self.model = ItemVectors(args.items, args.width).to("cuda")
        self.ema = ModelEMA(self.model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.lr0, momentum=0.937)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda x: (1 - x / args.epochs) * 0.99 + 0.01)
        pairs = torch.randint(args.items, (args.batch * args.batches, 2))
        self.loader = DataLoader(TensorDataset(pairs, torch.rand(len(pairs))), args.batch, shuffle=True)

    def train_batch(self, pairs, wanted):
        self.optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(self.model(pairs), wanted)
        loss.backward()
        self.optimizer.step()
        self.ema.update(self.model)
        return loss.detach()

    def save_model(self):
        weights = deepcopy(self.model).half()
        average = deepcopy(self.ema.ema).half()
        state = deepcopy(self.optimizer.state_dict())
        checkpoint = {
            "epoch": self.epoch,
            "model": {name: tuple(value.shape) for name, value in weights.state_dict().items()},
            "ema": {name: value[:64].cpu() for name, value in average.state_dict().items()},
            "optimizer": state["param_groups"],
            "updates": self.ema.updates,
        }
        torch.save(checkpoint, io.BytesIO())

    @property
    def is_final(self):
        return self.epoch + 1 == self.args.epochs

    def train(self):
        for self.epoch in range(self.start_epoch, self.args.epochs):
            mean = torch.zeros((), device="cuda")
            for i, (pairs, wanted) in enumerate(self.loader):
                loss = self.train_batch(pairs.cuda(), wanted.cuda())
                mean = (mean * i + loss) / (i + 1)
            self.scheduler.step()
            print(f"{self.epoch + 1}/{self.args.epochs} loss {mean.item():.4f}")
            if self.is_final or (self.epoch > 0 and self.epoch % self.args.save_period == 0):
                self.save_model()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=262_144)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--save-period", type=int, default=3)
    parser.add_argument("--lr0", type=float, default=0.01)
    Trainer(parser.parse_args()).train()
