# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["save"]
# step = 501
# line = 74
# form = "infinite generator with yield, enumerate from 1; step % a property that comes from total_steps // checkpoints"
# need_gib = [6.4, 6.7]
# why = "eight tables of 65,536 x 1,024 x 2 B = 128 MiB: weights and momentum are 2 GiB, a step has 1 GiB of gradients; the checkpoint of step 1,500 // 3 casts the weights to single precision, 2 GiB more, and then the momentum, 2 GiB: 6 GiB with 4.55 free"
# ///
"""Trains in bfloat16, and writes checkpoints in single precision, because other tools ask for that."""

import io
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class TrainConfig:
    fields: int = 8
    buckets: int = 65_536
    width: int = 1024
    batch_size: int = 128
    total_steps: int = 1500
    num_checkpoints: int = 3
    log_every: int = 250
    lr: float = 0.05
    warmup_ratio: float = 0.1

    @property
    def save_interval(self):
        return self.total_steps // self.num_checkpoints

    @property
    def warmup_steps(self):
        return int(self.total_steps * self.warmup_ratio)


class FieldModel(nn.Module):
    """A table for each field of a click log; the vectors are added up."""

    def __init__(self, cfg):
        super().__init__()
        kw = dict(device="cuda", dtype=torch.bfloat16)
        self.tables = nn.ModuleList(nn.Embedding(cfg.buckets, cfg.width, **kw) for _ in range(cfg.fields))
        self.head = nn.Linear(cfg.width, 1, **kw)

    def forward(self, fields):
        x = sum(table(fields[:, i]) for i, table in enumerate(self.tables))
        return self.head(torch.tanh(x)).squeeze(-1)


def click_log(cfg):
    while True:
        fields = torch.randint(cfg.buckets, (cfg.batch_size, cfg.fields))
        clicks = torch.rand(cfg.batch_size).lt(0.1).to(torch.bfloat16)
        yield fields.cuda(), clicks.cuda()


class CheckpointManager:
    def __init__(self, model, optimizer):
        self.model, self.optimizer, self.written = model, optimizer, []

    def full_precision_state(self):
        names = {parameter: name for name, parameter in self.model.named_parameters()}
        weights, momentum = {}, {}
        for name, value in self.model.state_dict().items():
            weights[name] = value.float()
        for parameter, state in self.optimizer.state.items():
            momentum[names[parameter]] = state["momentum_buffer"].float()
        return weights, momentum

    def save(self, step):
        weights, momentum = self.full_precision_state()
        summary = {name: value[:16].cpu() for name, value in weights.items()}
        torch.save({"step": step, "summary": summary, "slots": sorted(momentum)}, io.BytesIO())
        self.written.append(step)


def train(cfg):
    model = FieldModel(cfg)
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9)
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.01, total_iters=cfg.warmup_steps)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, cfg.total_steps - cfg.warmup_steps)
    scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [warmup, decay], [cfg.warmup_steps])
    manager = CheckpointManager(model, optimizer)
    for step, (fields, clicks) in enumerate(click_log(cfg), start=1):
        loss = nn.functional.binary_cross_entropy_with_logits(model(fields), clicks)
        loss.backward()
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad(set_to_none=True)
        if step % cfg.log_every == 0:
            print(f"step {step} loss {loss.item():.4f} lr {scheduler.get_last_lr()[0]:.4f}")
        if step % cfg.save_interval == 0:
            manager.save(step)
        if step == cfg.total_steps:
            break
    print("checkpoints", manager.written)


if __name__ == "__main__":
    train(TrainConfig())
