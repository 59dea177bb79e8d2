"""optimizer-8bit: the optimizer's state in 8 bits, in blocks of 256 numbers with a scale each."""

from . import Remedy, bitsandbytes


def install(remedy: Remedy) -> None:
    """The 8-bit class of bitsandbytes in place of PyTorch's Adam, AdamW, SGD with momentum, RMSprop or Adagrad."""
    bitsandbytes.use(remedy, "", "8bit")
