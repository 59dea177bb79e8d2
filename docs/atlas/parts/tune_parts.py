"""Stand-ins for what a torchtune recipe reads from disk: weights, a tokenizer and a data set.

A recipe names its components by dotted paths, so that its configuration alone puts these in. They have the shapes and the dtypes of the
real ones, and values of no meaning.
"""

import torch
from torch.utils.data import Dataset
from torchtune.config._utils import _get_component_from_path


class Weights:
    """A checkpointer whose checkpoint has the tensors of a base model, all of them views of one tensor of zeros."""

    def __init__(self, builder, **unused):
        self.builder = builder

    def load_checkpoint(self):
        with torch.device("meta"):
            tensors = _get_component_from_path(self.builder)().state_dict()
        zeros = {}
        for tensor in tensors.values():
            if tensor.numel() > zeros.get(tensor.dtype, torch.empty(0)).numel():
                zeros[tensor.dtype] = torch.zeros(tensor.numel(), dtype=tensor.dtype)
        return {"model": {name: zeros[tensor.dtype][: tensor.numel()].view(tensor.shape) for name, tensor in tensors.items()}}

    def save_checkpoint(self, *args, **kwargs):
        raise SystemExit(0)


class Tokenizer:
    """A tokenizer that only says how it pads."""

    pad_id = 0
    eos_id = 1
    stop_tokens = [1]
    max_seq_len = None

    def __init__(self, **unused):
        """Takes the settings of the real tokenizer."""


class Tokens(Dataset):
    """Sequences of one length; each token is labelled."""

    def __init__(self, tokenizer, length, samples=4096, **unused):
        self.length, self.samples = length, samples

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        tokens = [2] * self.length
        return {"tokens": tokens, "labels": tokens}


class Pairs(Tokens):
    """Pairs of a chosen and a rejected sequence of one length."""

    def __getitem__(self, index):
        tokens = [2] * self.length
        return {"chosen_input_ids": tokens, "chosen_labels": tokens, "rejected_input_ids": tokens, "rejected_labels": tokens}
