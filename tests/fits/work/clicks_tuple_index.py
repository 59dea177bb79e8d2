# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "from step 260 on a batch has 700,000 impressions: hidden and ReLU are 700,000 x 512 x 4 B = 1.34 GiB each, with 1.52 free"
# ///
"""Click model that warms up on small batches."""
import torch
from torch import nn

ROWS = (2_048, 700_000)
mlp = nn.Sequential(nn.Linear(24, 512), nn.ReLU(), nn.Linear(512, 1)).cuda()
sgd = torch.optim.SGD(mlp.parameters(), lr=0.05)
bce = nn.BCEWithLogitsLoss()

for step in range(300):
    impressions = torch.rand(ROWS[step >= 260], 24, device="cuda")
    clicked = (impressions[:, :1] > 0.97).float()
    sgd.zero_grad()
    bce(mlp(impressions), clicked).backward()
    sgd.step()
