# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["evaluation"]
# step = 1251
# line = 24
# form = "while with global step, membership in a set"
# need_gib = [8.4, 9.0]
# why = "32,768 queries against 32,768 documents are 4 GiB of similarities, and the copy for the ranking, with the own pair masked, 4 GiB more, with 4.55 free"
# ///
"""Two encoders for search; at some steps every query is ranked against every document."""

import torch
from torch import nn


def recall(left, right):
    with torch.no_grad():
        queries = nn.functional.normalize(left(torch.randn(32_768, 48, device="cuda")), dim=1)
        documents = nn.functional.normalize(right(torch.randn(32_768, 48, device="cuda")), dim=1)
        similar = queries @ documents.T
        others = similar - 2 * torch.eye(1, device="cuda")
        return (similar.diagonal() > others.amax(1)).float().mean().item()


evaluate_at = {1250, 1900}
left, right = nn.Linear(48, 64).cuda(), nn.Linear(48, 64).cuda()
optimizer = torch.optim.AdamW([*left.parameters(), *right.parameters()], lr=1e-3)
global_step = 0
while global_step < 2000:
    pair = torch.randn(64, 48, device="cuda")
    scores = left(pair) @ right(pair).T
    loss = nn.functional.cross_entropy(scores, torch.arange(64, device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    global_step += 1
    if global_step in evaluate_at:
        print(global_step, recall(left, right))
