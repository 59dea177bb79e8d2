"""Trains a speech encoder with CTC on random features."""
import click
import torch
import torch.nn.functional as F
from torch import nn


class ConvModule(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.up = nn.Conv1d(d, 2 * d, 1)
        self.depth = nn.Conv1d(d, d, 15, padding=7, groups=d)
        self.down = nn.Conv1d(d, d, 1)

    def forward(self, x):
        y = F.glu(self.up(self.norm(x).transpose(1, 2)), dim=1)
        return x + self.down(F.silu(self.depth(y))).transpose(1, 2)


class Encoder(nn.Module):
    def __init__(self, mels=80, d=256, layers=8, tokens=500):
        super().__init__()
        self.inp = nn.Linear(mels, d)
        self.layers = nn.ModuleList()
        for _ in range(layers):
            self.layers.append(ConvModule(d))
            self.layers.append(nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.SiLU(), nn.Linear(4 * d, d)))
        self.out = nn.Linear(d, tokens)

    def forward(self, x):
        x = self.inp(x)
        for i, layer in enumerate(self.layers):
            x = x + layer(x) if i % 2 else layer(x)
        return self.out(x).log_softmax(-1)


@click.command()
@click.option("--batch-size", "-b", default=8, show_default=True, help="Utterances per update.")
@click.option("--frames", default=800, show_default=True, help="Frames per utterance.")
@click.option("--grad-accum", default=1, show_default=True, help="Forward/backward passes per update; the batch is divided among them.")
@click.option("--updates", default=6, show_default=True)
@click.option("--log-interval", default=2)
@click.option("--fp16/--fp32", default=False, help="Mixed precision with loss scaling.")
def main(batch_size, frames, grad_accum, updates, log_interval, fp16):
    if batch_size % grad_accum:
        raise click.UsageError("--grad-accum must divide --batch-size")
    model = Encoder().to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cuda", enabled=fp16)
    micro = batch_size // grad_accum
    for update in range(updates):
        optimizer.zero_grad()
        for _ in range(grad_accum):
            feats = torch.randn(micro, frames, 80).to("cuda")
            labels = torch.randint(1, 500, (micro, 60), device="cuda")
            with torch.autocast("cuda", dtype=torch.float16, enabled=fp16):
                logp = model(feats)
            lengths = torch.full((micro,), frames, dtype=torch.long)
            loss = F.ctc_loss(logp.float().transpose(0, 1), labels, lengths, torch.full((micro,), 60))
            scaler.scale(loss / grad_accum).backward()
        scaler.step(optimizer)
        scaler.update()
        if update % log_interval == 0:
            click.echo(f"update {update}: {loss.item():.3f}")


if __name__ == "__main__":
    main()
