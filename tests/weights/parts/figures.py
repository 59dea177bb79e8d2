"""What the programs of `work` and `blind` share: the figures of a moment, zeros, and the two modes of a program."""

import resource
import sys
from collections.abc import Callable

import torch


def run(make: Callable[[str], None], load: Callable[[str], None]) -> None:
    """`PROGRAM --make FOLDER` writes the real files, `PROGRAM SOURCE` loads them."""
    if sys.argv[1] == "--make":
        torch.manual_seed(0)
        make(sys.argv[2])
    else:
        load(sys.argv[1])


def show() -> None:
    """Prints the figures of this moment: PyTorch's for device 0, and the host's peak."""
    print("allocated", torch.cuda.memory_allocated())
    print("peak", torch.cuda.max_memory_allocated())
    print("reserved", torch.cuda.memory_reserved())
    print("host", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, flush=True)


def zero(model: torch.nn.Module) -> torch.nn.Module:
    """Fills all parameters and buffers with zeros."""
    with torch.no_grad():
        for tensor in model.state_dict().values():
            tensor.zero_()
    return model


def make_tokenizer(words: int):
    """A tokenizer of transformers that knows so many words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"w{number}" for number in range(words - 4))])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=128, **special)
