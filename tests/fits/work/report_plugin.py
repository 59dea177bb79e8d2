# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "at step 9,000 of a 32-layer encoder the report module is imported; its first line asks for 4 x 1024 x 1024 x 256 x 4 B = 4 GiB"
# ///
"""Language encoder with a plug-in for reports, which is imported when the first report is due."""

import sys
from pathlib import Path

import torch
from torch import nn

Path("late_report.py").write_text("import torch\n\nCANVAS = torch.zeros(4, 1024, 1024, 256, device='cuda')\n\n\ndef write(value):\n    CANVAS.fill_(value)\n")
sys.path.insert(0, ".")

layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
encoder = nn.TransformerEncoder(layer, 32).cuda()
embed = nn.Embedding(1000, 64).cuda()
optimizer = torch.optim.AdamW([*encoder.parameters(), *embed.parameters()], lr=1e-4)
for step in range(1, 20_001):
    tokens = torch.randint(1000, (4, 32), device="cuda")
    hidden = encoder(embed(tokens))
    loss = nn.functional.cross_entropy((hidden @ embed.weight.t()).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 9_000 == 0:
        import late_report

        late_report.write(loss.item())
