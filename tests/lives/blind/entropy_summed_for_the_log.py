# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["later-steps"]
# step = 447
# line = 69
# form = "train_one_epoch of a class, a dict of running sums that each epoch sets to zero, validation every eval_every steps"
# need_gib = [6.6, 7.0]
# why = "the entropy is only for the log, and its sum keeps the graphs of all steps of an epoch: probabilities and their logarithm, 2 x 512 x 2,048 x 4 B = 8 MiB for each step, five blocks of 4 MiB in a segment of 20; 3.55 GiB have room for 180 such segments, 900 blocks, less four for weights, moments and the workspace of cuBLAS; step 447 has kept 894 and needs four more, for the scores, the log-softmax of the loss and two gradients; an epoch of 800 steps asks for 6.25 GiB; the validation, every 300 steps, has no graph"
# ///
"""A contextual bandit; the trainer sums the entropy of the policy over an epoch, for the log, with all that hangs on it."""

import argparse
from collections import defaultdict

import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, features, arms):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, 256), nn.ReLU(), nn.Linear(256, arms))

    def forward(self, x):
        return self.body(x)


def entropy_of(logits):
    log_probs = logits.log_softmax(dim=-1)
    return -(log_probs.exp() * log_probs).sum(dim=-1).mean()


class BanditTrainer:
    def __init__(self, args):
        self.args = args
        self.policy = Policy(args.features, args.arms).to("cuda")
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=args.lr)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=0.9)
        self.global_step = 0

    def draw(self, count):
        contexts = torch.randn(count, self.args.features)
        arms = torch.randint(self.args.arms, (count,))
        return contexts.cuda(), arms.cuda(), torch.rand(count).cuda()

    @torch.no_grad()
    def evaluate(self):
        self.policy.eval()
        values = []
        for _ in range(self.args.eval_batches):
            contexts, arms, rewards = self.draw(self.args.batch_size)
            chosen = self.policy(contexts).argmax(dim=-1)
            values.append(((chosen == arms).float() * rewards).mean().item())
        self.policy.train()
        return sum(values) / len(values)

    def train_one_epoch(self, epoch):
        running = defaultdict(float)
        for i in range(self.args.steps_per_epoch):
            contexts, arms, rewards = self.draw(self.args.batch_size)
            logits = self.policy(contexts)
            loss = (rewards * nn.functional.cross_entropy(logits, arms, reduction="none")).mean()
            entropy = entropy_of(logits)

            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

            running["loss"] += loss.item()
            running["entropy"] += entropy
            self.global_step += 1
            if self.global_step % self.args.eval_every == 0:
                print(f"step {self.global_step} value {self.evaluate():.4f}")
        return {name: float(value) / self.args.steps_per_epoch for name, value in running.items()}

    def fit(self):
        for epoch in range(self.args.epochs):
            stats = self.train_one_epoch(epoch)
            self.scheduler.step()
            print(f"epoch {epoch} loss {stats['loss']:.4f} entropy {stats['entropy']:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--arms", type=int, default=2048)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--steps-per-epoch", type=int, default=800)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--eval-every", type=int, default=300)
    parser.add_argument("--eval-batches", type=int, default=10)
    parser.add_argument("--lr", type=float, default=1e-3)
    BanditTrainer(parser.parse_args()).fit()
