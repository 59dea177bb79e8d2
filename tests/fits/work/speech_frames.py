# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "at step 300 an utterance has 32 x 4^4 = 8192 frames: the input of the second layer is 64 x 8192 x 256 x 4 B = 512 MiB, and linear, SiLU and the gates after it take 512 to 1536 MiB each: over 3 GiB, with 1.52 free"
# ///
"""Phoneme classifier with a length curriculum."""
import torch
from torch import nn

frames = lambda s: 32 * 4 ** (s // 75)  # noqa: E731
BATCH, MEL, PHONEMES = 64, 80, 40

acoustic = nn.Sequential(
    nn.Linear(MEL, 256), nn.SiLU(),
    nn.Linear(256, 768), nn.SiLU(),
    nn.Linear(768, PHONEMES),
).cuda()
criterion = nn.CrossEntropyLoss()
adam = torch.optim.AdamW(acoustic.parameters(), lr=3e-4, weight_decay=0.01)

step = 0
while step < 320:
    length = frames(step)
    mel = torch.randn(BATCH, length, MEL, device="cuda")
    target = torch.randint(PHONEMES, (BATCH, length), device="cuda")
    adam.zero_grad()
    loss = criterion(acoustic(mel).transpose(1, 2), target)
    loss.backward()
    adam.step()
    step += 1
print("last loss", loss.item())
