"""Losses."""

import torch
import torch.nn.functional as F


def squared_error(prediction: torch.Tensor, target: torch.Tensor, weight: float = 1.0) -> torch.Tensor:
    """Returns the weighted mean squared error."""
    return weight * F.mse_loss(prediction, target)
