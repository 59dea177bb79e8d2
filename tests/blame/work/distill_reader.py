# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "evaluation"
# first_finding = ["grad-recorded-in-eval"]
# lines = [36]
# saves_mib = 7900
# why = "the teacher's 34 layers save their input and their GELU's, 2 x 16384 x 2048 x 4 B = 2 x 128 MiB, 8704 MiB that no backward uses; with its weights of 544 MiB and the student's of 28 some 9400 of 7782 MiB; with the teacher under no_grad the student's step is the peak, 1550"
# ///
"""Distils a deep reading-level regressor into a small one."""

from torch import nn, optim
import torch

TOKENS, WIDTH = 16384, 2048


def mlp(depth, inner):
    layers = [nn.Linear(WIDTH, inner)]
    for _ in range(depth - 1):
        layers += [nn.GELU(), nn.Linear(inner, inner)]
    return nn.Sequential(*layers, nn.GELU(), nn.Linear(inner, 64))


class Distiller:
    def __init__(self, teacher, student, temperature=2.0):
        self.teacher, self.student, self.temperature = teacher.eval(), student, temperature
        self.optimizer = optim.SGD(student.parameters(), lr=1e-2)

    def soften(self, scores):
        return (scores / self.temperature).log_softmax(dim=-1)

    def step(self, features):
        target = self.soften(self.teacher(features)).detach().exp()
        scores = self.soften(self.student(features))
        loss = nn.functional.kl_div(scores, target, reduction="batchmean")
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


teacher, student = mlp(34, 2048).cuda(), mlp(6, 1024).cuda()
distiller = Distiller(teacher, student)
for step in range(3):
    print("step", step, distiller.step(torch.randn(TOKENS, WIDTH, device="cuda")))
