# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [40]
# keeps_mib = 24
# allocates = [43]
# full_at = [98, 109]
# why = "a closure keeps the picture of each of 300 steps, 3 x 2048 x 1024 x 4 B = 24 MiB: 7 GiB"
# ///
"""Style transfer by plain gradient descent on the pixels: every intermediate picture is recorded for an animation."""

import torch
import torch.nn.functional as F

HEIGHT, WIDTH, RATE, STEPS = 2048, 1024, 0.05, 300


def recorder():
    pictures = []

    def record(picture):
        pictures.append(picture)
        return len(pictures)

    return record


def gram(picture):
    flat = F.avg_pool2d(picture, 4).flatten(1)
    return flat @ flat.t() / flat.shape[1]


def paint(content, style):
    record = recorder()
    target = gram(style)
    picture = content.clone().requires_grad_()
    for _ in range(STEPS):
        loss = (gram(picture) - target).square().sum()
        (gradient,) = torch.autograd.grad(loss, picture)
        picture = torch.sub(picture.detach(), gradient, alpha=RATE).requires_grad_()
        recorded = record(picture)
    return recorded


content = torch.rand(3, HEIGHT, WIDTH, device="cuda")
style = torch.rand(3, HEIGHT, WIDTH, device="cuda")
print("pictures", paint(content, style))
