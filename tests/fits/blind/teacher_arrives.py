# /// expect
# run = "check"
# vram = "7GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [8.6, 13]
# why = "after eight steps a teacher of 28 x 8192 x 8192 x 4 B = 7 GiB is loaded beside a student of 0.5 GiB with gradients, and moments: 1 GiB more"
# ///
"""Warm-up on hard labels, then distillation from a teacher that is only built when it is needed."""

import functools

import torch
from torch import nn

WIDTH, TEACHER_WIDTH, CLASSES, BATCH, WARM, STEPS = 4096, 8192, 1000, 32, 8, 900


def tower(width, depth):
    layers = []
    for _ in range(depth):
        layers += [nn.Linear(width, width, bias=False, device="cuda"), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, CLASSES, device="cuda"))


@functools.lru_cache
def teacher():
    return tower(TEACHER_WIDTH, 28).requires_grad_(False).eval()


student = tower(WIDTH, 8)
optimizer = torch.optim.RMSprop(student.parameters(), lr=1e-5)
for step in range(STEPS):
    x = torch.randn(BATCH, WIDTH, device="cuda")
    logits = student(x)
    if step < WARM:
        loss = nn.functional.cross_entropy(logits, torch.randint(CLASSES, (BATCH,), device="cuda"))
    else:
        with torch.no_grad():
            target = teacher()(x.repeat(1, TEACHER_WIDTH // WIDTH)).softmax(1)
        loss = nn.functional.kl_div(logits.log_softmax(1), target, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
