# /// expect
# run = "check"
# vram = "4.25GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["end"]
# step = 801
# line = 81
# form = "for epoch in range(1, epochs + 1), train and validate of a class; best weights on the host, test after the loop"
# need_gib = [6.0, 6.3]
# why = "the test asks 20 times with dropout: 8,192 x 4,096 x 4 B = 128 MiB of probabilities each, 2.5 GiB, and stacks them, 2.5 GiB more, with 3.80 free; the hidden layers, 8 MiB, split blocks of 128 MiB that earlier calls have left, so about five more are made, 0.6 GiB; 4 epochs of 200 steps came before"
# ///
"""Keeps the best weights on the host; at the end the test set is asked many times with dropout, for an uncertainty."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, features, classes, p):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, 256), nn.ReLU(), nn.Dropout(p))
        self.head = nn.Linear(256, classes)

    def forward(self, x):
        return self.head(self.body(x))


class BestKeeper:
    def __init__(self):
        self.value, self.weights, self.epoch = float("inf"), None, 0

    def offer(self, value, model, epoch):
        if self.weights is None or value < self.value:
            self.value, self.epoch = value, epoch
            self.weights = {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}


def enable_dropout(model):
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.train()


class Experiment:
    def __init__(self, args):
        self.args = args
        self.model = Net(args.features, args.classes, args.dropout).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, patience=1)
        self.criterion = nn.CrossEntropyLoss()
        self.loaders = {name: self.loader(rows) for name, rows in (("train", 12_800), ("val", 1280))}
        self.test_set = torch.randn(args.test_rows, args.features)

    def loader(self, rows):
        data = TensorDataset(torch.randn(rows, self.args.features), torch.randint(self.args.classes, (rows,)))
        return DataLoader(data, self.args.batch_size, shuffle=True)

    def train_one_epoch(self):
        self.model.train()
        for x, y in self.loaders["train"]:
            self.optimizer.zero_grad()
            self.criterion(self.model(x.cuda()), y.cuda()).backward()
            self.optimizer.step()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        losses = [self.criterion(self.model(x.cuda()), y.cuda()).item() for x, y in self.loaders["val"]]
        return sum(losses) / len(losses)

    @torch.no_grad()
    def test(self):
        self.model.eval()
        enable_dropout(self.model)
        x = self.test_set.cuda()
        probs = [self.model(x).softmax(dim=-1) for _ in range(self.args.mc_samples)]
        probs = torch.stack(probs)
        return probs.mean(dim=0).max(dim=-1).values.mean().item(), probs.var(dim=0).mean().item()

    def run(self):
        best = BestKeeper()
        for epoch in range(1, self.args.epochs + 1):
            self.train_one_epoch()
            loss = self.validate()
            self.scheduler.step(loss)
            best.offer(loss, self.model, epoch)
            print(f"epoch {epoch} validation {loss:.4f} best of epoch {best.epoch}")
        self.model.load_state_dict(best.weights)
        print("confidence and variance", self.test())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("--classes", type=int, default=4096)
    parser.add_argument("--test-rows", type=int, default=8192)
    parser.add_argument("--mc-samples", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--lr", type=float, default=1e-3)
    Experiment(parser.parse_args()).run()
