"""Has no effects."""

import torch

torch.ones(1, device="cuda")
