# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "logits"
# first_finding = ["vocabulary-logits"]
# lines = [30, 31]
# why = "4096 sessions x 300000 products x 4 B = 4688 MiB of scores, and as much for their log_softmax: 9375 + 410 of 8192 MiB; the products are 300000 x 64 x 4 B = 73 MiB"
# ///
"""Next-product recommendation: a session tower is scored against the whole catalogue."""

import torch
import torch.nn as nn

PRODUCTS, WIDTH, SESSIONS = 300_000, 64, 4096

torch.manual_seed(0)
products = nn.Embedding(PRODUCTS, WIDTH).cuda()
session_tower = nn.Sequential(nn.Linear(WIDTH, 256), nn.ReLU(), nn.Linear(256, WIDTH)).cuda()
parameters = [*products.parameters(), *session_tower.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-3)
cross_entropy = nn.CrossEntropyLoss()

for step in range(30):
    clicked = torch.randint(0, PRODUCTS, (SESSIONS, 8), device="cuda")
    bought = torch.randint(0, PRODUCTS, (SESSIONS,), device="cuda")

    session = session_tower(products(clicked).mean(dim=1))
    scores = session @ products.weight.T
    loss = cross_entropy(scores, bought)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
