# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "data-on-device"
# first_finding = ["dataset-on-gpu"]
# lines = [23]
# saves_mib = 2093
# why = "2000 meters x 1429 overlapping windows of 192 hours are 2000 x 1429 x 192 x 4 B = 2093 MiB on the device, from a series of 67 MiB; a step needs about 1000 MiB (batch 16384, hidden 2048: six saved tensors of 128 MiB and backward's temporaries), together 3150 of 2662 MiB"
# ///
"""Day-ahead forecasts of electricity meters from overlapping windows of one week."""

import torch
from torch import nn

METERS, HOURS, PAST, AHEAD, STRIDE = 2000, 8760, 168, 24, 6


class WindowedMeters:
    def __init__(self, series):
        windows = series.cuda().unfold(1, PAST + AHEAD, STRIDE)
        self.windows = windows.reshape(-1, PAST + AHEAD)

    def __len__(self):
        return len(self.windows)

    def sample(self, count):
        rows = self.windows[torch.randint(0, len(self), (count,), device="cuda")]
        return rows[:, :PAST], rows[:, PAST:]


def network(hidden=2048):
    return nn.Sequential(
        nn.Linear(PAST, hidden), nn.GELU(),
        nn.Linear(hidden, hidden), nn.GELU(),
        nn.Linear(hidden, hidden), nn.GELU(),
        nn.Linear(hidden, AHEAD),
    )


meters = WindowedMeters(torch.randn(METERS, HOURS))
print(len(meters), "windows")
model = network().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(5):
    past, ahead = meters.sample(16384)
    loss = nn.functional.smooth_l1_loss(model(past), ahead)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
