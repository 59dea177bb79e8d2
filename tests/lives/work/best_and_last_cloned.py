# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["save"]
# step = 1001
# line = 37
# form = "callbacks called each step"
# need_gib = [6.4, 7.0]
# why = "weights and momentum are 2 x 131,072 x 2,048 x 4 B = 2 GiB; the checkpoint clones both for `best` and again for `last`: 6 GiB, the fifth of 4.55; a step has 3 with the gradient"
# ///
"""A loop with callbacks; the one that keeps checkpoints clones weights and optimizer, on the GPU, for two files."""

import io

import torch
from torch import nn


class Callback:
    def on_step_end(self, run): ...


class Printer(Callback):
    def on_step_end(self, run):
        if run.step % 250 == 0:
            print(run.step, run.loss.item())


class Checkpoint(Callback):
    def __init__(self, every):
        self.every = every

    def snapshot(self, run):
        return {
            "model": {name: tensor.clone() for name, tensor in run.model.state_dict().items()},
            "momentum": [state["momentum_buffer"].clone() for state in run.optimizer.state.values()],
        }

    def on_step_end(self, run):
        if run.step % self.every == 0:
            files = {"best": self.snapshot(run), "last": self.snapshot(run)}
            torch.save([len(file["model"]) for file in files.values()], io.BytesIO())


class Run:
    def __init__(self, callbacks):
        self.model = nn.Embedding(131_072, 2048, device="cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.5, momentum=0.9)
        self.callbacks, self.step, self.loss = callbacks, 0, None

    def go(self, steps):
        for _ in range(steps):
            self.loss = self.model(torch.randint(131_072, (128,), device="cuda")).square().mean()
            self.loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.step += 1
            for callback in self.callbacks:
                callback.on_step_end(self)


Run([Printer(), Checkpoint(every=1000)]).go(1700)
