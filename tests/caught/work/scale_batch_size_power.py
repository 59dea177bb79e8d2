# /// expect
# run = "check"
# vram = "16GiB"
# verdict = ["fits", "fits so far"]
# search = true
# line = 48
# requested_bytes = 4831838208
# caught_line = 60
# then = "found batch 128"
# why = "Lightning's Tuner.scale_batch_size(mode=\"power\"): doubles until it runs out, then takes the half"
# ///
"""Doubles the batch size until a trial step runs out of memory, then trains with the last size that got through."""

import gc

import torch
import torch.nn.functional as F
from torch import nn

TOKENS, WIDTH, CLASSES = 1152, 4096, 16


def is_oom_error(exception):
    return len(exception.args) == 1 and "CUDA" in exception.args[0] and "out of memory" in exception.args[0]


def garbage_collection_cuda():
    gc.collect()
    torch.cuda.empty_cache()


class Trainer:
    def __init__(self, batch_size):
        self.batch_size = batch_size
        layers = [nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, CLASSES)]
        self.model = nn.Sequential(*layers).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9)

    def fit(self, max_steps):
        for _ in range(max_steps):
            self.optimizer.zero_grad()
            self.training_step().backward()
            self.optimizer.step()

    def training_step(self):
        images = torch.randn(self.batch_size, TOKENS, WIDTH, device="cuda")
        labels = torch.randint(CLASSES, (self.batch_size, TOKENS), device="cuda")
        logits = self.model(images)
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def scale_batch_size(trainer, steps_per_trial=1, max_trials=25):
    any_success = False
    for _ in range(max_trials):
        garbage_collection_cuda()
        try:
            trainer.fit(steps_per_trial)
            trainer.batch_size *= 2
            any_success = True
        except RuntimeError as exception:
            if not is_oom_error(exception):
                raise
            garbage_collection_cuda()
            trainer.batch_size //= 2
            if any_success:
                break
    garbage_collection_cuda()
    return trainer.batch_size


trainer = Trainer(batch_size=128)
print("Finished batch size finder, will continue with full run using batch size", scale_batch_size(trainer))
trainer.fit(10)
