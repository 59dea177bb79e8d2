# /// expect
# run = "check"
# vram = "6GiB"
# kind = 6
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.7, 4.4]
# why = "argmax over 64 clusters has at most 64 distinct values: prototypes 64 x 262,144 x 4 B = 0.06 GiB; half of the rows as classes would be 128 GiB"
# ///
"""DeepCluster-like: the distinct pseudo-labels of a batch are the classes whose masks make the prototypes."""

import torch
import torch.nn.functional as F
from torch import nn

ROWS, WIDTH, CLUSTERS, STEPS = 262_144, 128, 64, 3

encoder = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)).cuda()
assign = nn.Linear(WIDTH, CLUSTERS).cuda()
optimizer = torch.optim.SGD([*encoder.parameters(), *assign.parameters()], lr=0.05, momentum=0.9)


def prototypes(features, labels):
    classes = labels.unique()
    members = (labels[None, :] == classes[:, None]).float()
    return classes, members @ features / members.sum(1, keepdim=True).clamp(min=1)


for step in range(STEPS):
    features = F.normalize(encoder(torch.randn(ROWS, WIDTH, device="cuda")), dim=1)
    labels = assign(features).argmax(1)
    classes, centres = prototypes(features.detach(), labels)
    targets = torch.searchsorted(classes, labels)
    loss = F.cross_entropy(features @ centres.t() / 0.1, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("classes", len(classes))
