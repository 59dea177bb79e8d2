# /// expect
# run = "check"
# vram = "8GiB"
# verdict = ["fits", "fits so far"]
# search = false
# then = "never ran out"
# why = "detectron2's retry_if_cuda_oom around box matching: retry after empty_cache, then on the CPU; here neither is needed"
# ///
"""Trains a box classifier; the matching of anchors to boxes may fall back to the CPU, but always fits."""

import contextlib
import functools

import torch
import torch.nn.functional as F
from torch import nn

ANCHORS, BOXES, CLASSES = 65536, 256, 91


@contextlib.contextmanager
def ignore_torch_cuda_oom():
    try:
        yield
    except RuntimeError as e:
        if "CUDA out of memory. " not in str(e):
            raise


def retry_if_cuda_oom(function):
    @functools.wraps(function)
    def wrapped(*args):
        with ignore_torch_cuda_oom():
            return function(*args)
        torch.cuda.empty_cache()
        with ignore_torch_cuda_oom():
            return function(*args)
        return function(*(x.to("cpu") for x in args))

    return wrapped


def pairwise_iou(a, b):
    corner = torch.maximum(a[:, None, :2], b[:, :2])
    other = torch.minimum(a[:, None, 2:], b[:, 2:])
    overlap = (other - corner).clamp(min=0).prod(dim=2)
    areas = [(x[:, 2:] - x[:, :2]).prod(dim=1) for x in (a, b)]
    return overlap / (areas[0][:, None] + areas[1] - overlap)


model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, CLASSES)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
anchors = torch.rand(ANCHORS, 4, device="cuda")

for _ in range(6):
    boxes, classes = torch.rand(BOXES, 4, device="cuda"), torch.randint(CLASSES, (BOXES,), device="cuda")
    matched = retry_if_cuda_oom(pairwise_iou)(anchors, boxes).argmax(dim=1).to("cuda")
    features = torch.randn(ANCHORS, 1024, device="cuda")
    loss = F.cross_entropy(model(features), classes[matched])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("trained")
