# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["later-steps"]
# open = "stage evaluation, expected later-steps"
# step = 1201
# line = 26
# form = "for range over steps, step in a set from the arguments; validation every val_every steps"
# need_gib = [4.9, 5.2]
# why = "a teacher is 163,840 x 2,048 x 4 B = 1.25 GiB; the student has 65,536 x 1,024 x 4 B = 256 MiB, gradient and momentum: 0.75 GiB; after 400 and 800 steps there are two teachers, 3.25 GiB of 3.55, and after 1,200 the third: 4.5"
# ///
"""Distillation from a growing group of teachers: one more is loaded at each of the given steps."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Teacher(nn.Module):
    def __init__(self, vocab=163_840, width=2048, out=64):
        super().__init__()
        self.table = nn.Embedding(vocab, width, device="cuda")
        self.head = nn.Linear(width, out, device="cuda")

    @torch.no_grad()
    def forward(self, ids):
        return self.head(self.table(ids).mean(dim=1))


class Student(nn.Module):
    def __init__(self, vocab=65_536, width=1024, out=64):
        super().__init__()
        self.vocab = vocab
        self.table, self.head = nn.Embedding(vocab, width), nn.Linear(width, out)

    def forward(self, ids):
        return self.head(self.table(ids % self.vocab).mean(dim=1))


class TeacherGroup:
    def __init__(self):
        self.members = []

    def load_next(self, step):
        teacher = Teacher().eval().requires_grad_(False)
        self.members.append(teacher)
        print(f"step {step}: {len(self.members)} teachers")

    def targets(self, ids, temperature):
        if not self.members:
            return None
        logits = torch.stack([teacher(ids) for teacher in self.members])
        return (logits / temperature).softmax(dim=-1).mean(dim=0)


def distillation_loss(logits, labels, targets, args):
    loss = F.cross_entropy(logits, labels)
    if targets is None:
        return loss
    soft = F.kl_div((logits / args.temperature).log_softmax(dim=-1), targets, reduction="batchmean")
    return (1 - args.alpha) * loss + args.alpha * args.temperature**2 * soft


@torch.no_grad()
def validate(student, args):
    student.eval()
    right = 0
    for _ in range(args.val_batches):
        ids, labels = draw(args)
        right += (student(ids).argmax(dim=-1) == labels).sum().item()
    student.train()
    return right / (args.val_batches * args.batch_size)


def draw(args):
    return torch.randint(163_840, (args.batch_size, args.tokens)).cuda(), torch.randint(64, (args.batch_size,)).cuda()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1600)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--teacher-steps", type=int, nargs="*", default=[400, 800, 1200])
    parser.add_argument("--temperature", type=float, default=4.0)
    parser.add_argument("--alpha", type=float, default=0.7)
    parser.add_argument("--val-every", type=int, default=300)
    parser.add_argument("--val-batches", type=int, default=5)
    args = parser.parse_args()

    student, teachers = Student().cuda(), TeacherGroup()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    joins = set(args.teacher_steps)
    for step in range(args.steps):
        if step in joins:
            teachers.load_next(step)
        ids, labels = draw(args)
        loss = distillation_loss(student(ids), labels, teachers.targets(ids, args.temperature), args)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if (step + 1) % args.val_every == 0:
            print(f"step {step + 1} loss {loss.item():.4f} accuracy {validate(student, args):.4f}")


if __name__ == "__main__":
    main()
