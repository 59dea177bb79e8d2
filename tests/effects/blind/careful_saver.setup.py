"""Makes the files of an earlier run."""

import torch

torch.save({"step": 900, "values": torch.arange(10)}, "model.pt")
torch.save({"step": 800}, "model.pt.bak")
