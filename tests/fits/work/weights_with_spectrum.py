# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "the hook on state_dict(), called at step 7,000, makes the outer product of 1,000 with 1,000 units of width 1,024: 1000 x 1000 x 1024 x 4 B = 3.81 GiB, with 2.52 free; a step runs 38 encoder layers"
# ///
"""Deep encoder for log lines; the saved weights get an entry with the similarity of their units."""

import torch
from torch import nn

embed = nn.Embedding(1_000, 1_024).cuda()
narrow = nn.Linear(1_024, 56).cuda()
layer = nn.TransformerEncoderLayer(56, 7, 112, batch_first=True, dropout=0.05)
deep = nn.TransformerEncoder(layer, 38).cuda()
model = nn.Sequential(embed, narrow, deep, nn.Linear(56, 1_000).cuda())


def add_similarity(module, state, prefix, metadata):
    units = embed.weight.detach()
    pairs = units.unsqueeze(1) - units.unsqueeze(0)
    state[prefix + "similarity"] = pairs.norm(dim=2).cpu()


model.register_state_dict_post_hook(add_similarity)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(1, 20_001):
    line = torch.randint(1_000, (4, 28), device="cuda")
    loss = nn.functional.cross_entropy(model(line[:, :-1]).flatten(0, 1), line[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 7_000 == 0:
        torch.save(model.state_dict(), "lines.pt")
