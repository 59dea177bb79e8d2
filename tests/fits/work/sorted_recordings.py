# /// expect
# run = "check"
# vram = "6GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "the last recordings have 64 + 8 x 799 = 6,456 frames: one map of 16 x 6,456 x 256 x 4 B is 101 MiB, each of 24 layers saves ten or more of them: over 20 GiB; the first have 64 frames"
# ///
"""Bird-call encoder on recordings sorted by length, padded by the collate function."""

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class Recordings(Dataset):
    def __len__(self):
        return 320_000

    def __getitem__(self, index):
        return torch.full((64 + 8 * (index // 400), 40), 0.1), index % 12


def collate(items):
    calls, species = zip(*items)
    return pad_sequence(list(calls), batch_first=True), torch.tensor(species)


data = Recordings()
loader = DataLoader(data, batch_size=16, sampler=range(320_000), collate_fn=collate)
enter, leave = nn.Linear(40, 256).cuda(), nn.Linear(256, 12).cuda()
trunk = nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 8, 512, batch_first=True), 24).cuda()
weights = [*enter.parameters(), *trunk.parameters(), *leave.parameters()]
optimizer = torch.optim.AdamW(weights, lr=2e-4)
for calls, species in loader:
    logits = leave(trunk(enter(calls.cuda())).mean(dim=1))
    loss = nn.functional.cross_entropy(logits, species.cuda())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(weights, 1.0)
    optimizer.step()
