# /// expect
# run = "check"
# vram = "2.4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "fragmentation"
# first_finding = ["fragmentation"]
# lines = [25, 22]
# why = "workspaces of 60, 64, ... 152 MiB; 54 % of each is kept as the compressed document, so what is left never serves a later workspace or document: 24 segments are 2544 MiB of 1966; alive are 1374 MiB and a workspace of 152, which expandable segments serve"
# ///
"""Indexes documents by length, shortest first: a workspace for each, and a compressed form that stays."""

import torch


class Index:
    def __init__(self):
        self.documents = {}

    def add(self, name, tokens):
        energy = self.measure(tokens)
        self.documents[name] = torch.full((tokens * 54 // 100, 256), energy, device="cuda")

    def measure(self, tokens):
        workspace = torch.ones(tokens, 256, device="cuda")
        workspace *= 0.5
        return workspace.mean().item()


index = Index()
for number in range(24):
    index.add(f"document {number}", tokens=(60 + 4 * number) * 1024)
print(len(index.documents))
