# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "tensors-kept"
# first_finding = ["growing-collection", "saved-intermediates"]
# lines = [47]
# why = "a batch leaves 64 x 256 x 512 x 4 B = 32 MiB of features in the list, and 80 batches 2560 of 1638 MiB; a forward needs some 130 besides (two hidden maps of 64 MiB), so it is full at about batch 46"
# ///
"""Encodes hydrophone recordings of whales, to find calls that are alike."""

import torch
from torch import nn

CLIPS, FRAMES, MELS = 64, 256, 96


class Recordings(torch.utils.data.Dataset):
    def __init__(self, clips):
        self.clips = clips

    def __len__(self):
        return self.clips

    def __getitem__(self, index):
        return torch.full((FRAMES, MELS), float(index % 7))


class CallEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.widen = nn.Linear(MELS, 1024)
        self.narrow = nn.Linear(1024, 512)

    def forward(self, spectrogram):
        return self.narrow(torch.tanh(self.widen(spectrogram)))


loader = torch.utils.data.DataLoader(Recordings(80 * CLIPS), batch_size=CLIPS)
encoder = CallEncoder().cuda().eval()

calls = []
with torch.no_grad():
    for batch in loader:
        encoded = encoder(batch.to("cuda"))
        calls.append(encoded)

summary = torch.cat([encoded.mean(dim=1) for encoded in calls]).cpu()
similar = torch.cdist(summary[:256], summary).topk(2, largest=False).indices[:, 1]
print(summary.shape, similar[:8].tolist())
