# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 41
# requested_bytes = 1140850688
# says_any = [41, "gathered"]
# culprit = 41
# steps = 2
# ///
"""Records PyTorch's memory history itself, with at most 50 entries, writes and reads a snapshot of it, and runs out later."""

import pickle
import tempfile
from pathlib import Path

import torch
from torch import nn

torch.cuda.memory._record_memory_history(max_entries=50)

model = nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(2):
    optimizer.zero_grad()
    model(torch.randn(4096, 1024, device="cuda")).mean().backward()
    optimizer.step()

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "snapshot.pickle"
    torch.cuda.memory._dump_snapshot(str(path))
    snapshot = pickle.loads(path.read_bytes())
trace = snapshot["device_traces"][0]
assert len(trace) == 50, len(trace)
assert any(Path(frame["filename"]).name == Path(__file__).name for event in trace for frame in event["frames"])
print("snapshot with", len(snapshot["segments"]), "segments")

gathered = []
for shard in range(8):
    gathered.append(torch.zeros(278528, 1024, device="cuda"))
print("gathered", len(gathered))
