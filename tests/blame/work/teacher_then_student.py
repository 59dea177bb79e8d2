# /// expect
# run = "check"
# vram = "5.2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "earlier-model"
# first_finding = ["earlier-model-alive"]
# lines = [33, 39, 27, 29, 40, 28]
# why = "the teacher's 12 x 4096 x 4096 x 4 B = 768 MiB, its gradients and Adam's two moments are 3 GiB and stay; the student's 640 MiB x 4 = 2.5 GiB come to it: 5.5 + 0.48 of 5.2, with the temporaries of a step 6.6; alone each stage takes at most 3.75 + 0.48"
# ///
"""Trains a teacher, writes its answers to the host, and trains a student from them."""

import torch
from torch import nn


def mlp(depth):
    layers = []
    for _ in range(depth):
        layers += [nn.Linear(4096, 4096, bias=False), nn.ReLU()]
    return nn.Sequential(*layers)


def fit(net, optimizer, inputs, targets):
    for x, y in zip(inputs, targets):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()


inputs = torch.randn(4, 256, 4096)
teacher = mlp(12).cuda()
teacher_optimizer = torch.optim.Adam(teacher.parameters())
fit(teacher, teacher_optimizer, inputs, inputs.relu())
with torch.no_grad():
    answers = torch.stack([teacher(x.cuda()).cpu() for x in inputs])

student = mlp(10).cuda()
student_optimizer = torch.optim.Adam(student.parameters())
fit(student, student_optimizer, inputs, answers)
print("done")
