# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["evaluation"]
# step = 751
# line = 95
# form = "epochs x batches, global_step % (len(loader) // 2) == 0, a collection of metrics"
# need_gib = [6.5, 7.1]
# why = "an evaluation keeps 50 x 256 x 16,384 x 4 B = 800 MiB of probabilities in a metric whose reset does nothing, and comes every 150 steps; four leave 3,200 MiB, and after 17 batches of the fifth 3.55 GiB are full; eight are 6.25 GiB"
# ///
"""Product matching with two metrics; the one that keeps all probabilities has no reset of its own."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Metric:
    def update(self, probs, target): ...

    def compute(self): ...

    def reset(self): ...


class Accuracy(Metric):
    def __init__(self):
        self.reset()

    def reset(self):
        self.right = torch.zeros((), dtype=torch.long, device="cuda")
        self.total = 0

    def update(self, probs, target):
        self.right += (probs.argmax(dim=-1) == target).sum()
        self.total += len(target)

    def compute(self):
        return self.right.item() / max(1, self.total)


class CalibrationError(Metric):
    """Needs the probabilities of all examples at the end."""

    def __init__(self):
        self.probs, self.targets = [], []

    def update(self, probs, target):
        self.probs.append(probs)
        self.targets.append(target)

    def compute(self):
        gaps = [(p.max(dim=-1).values - (p.argmax(dim=-1) == t).float()).mean() for p, t in zip(self.probs, self.targets)]
        return torch.stack(gaps).mean().item()


class MetricCollection(dict):
    def update_all(self, probs, target):
        for metric in self.values():
            metric.update(probs, target)

    def compute(self):
        return {name: metric.compute() for name, metric in self.items()}

    def reset(self):
        for metric in self.values():
            metric.reset()


def make_loader(rows, features, classes, batch_size, shuffle):
    return DataLoader(TensorDataset(torch.randn(rows, features), torch.randint(classes, (rows,))), batch_size, shuffle=shuffle)


class Trainer:
    def __init__(self, args):
        self.args = args
        self.train_loader = make_loader(19_200, args.features, args.classes, args.batch_size, True)
        self.val_loader = make_loader(12_800, args.features, args.classes, args.eval_batch_size, False)
        self.model = nn.Linear(args.features, args.classes).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.metrics = MetricCollection(acc=Accuracy(), ece=CalibrationError())
        self.global_step = 0
        # two evaluations in an epoch
        self.eval_interval = len(self.train_loader) // args.evals_per_epoch

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        self.metrics.reset()
        for features, target in self.val_loader:
            probs = self.model(features.cuda()).softmax(dim=-1)
            self.metrics.update_all(probs, target.cuda())
        self.model.train()
        return self.metrics.compute()

    def fit(self):
        for epoch in range(self.args.epochs):
            for features, target in self.train_loader:
                loss = nn.functional.cross_entropy(self.model(features.cuda()), target.cuda())
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.global_step += 1
                if self.global_step % self.eval_interval == 0:
                    print(epoch, self.global_step, self.evaluate())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--features", type=int, default=256)
    parser.add_argument("--classes", type=int, default=16_384)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--eval-batch-size", type=int, default=256)
    parser.add_argument("--evals-per-epoch", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1e-3)
    Trainer(parser.parse_args()).fit()
