# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# file = "trainkit/model.py"
# line = 15
# requested_bytes = 44040192
# says_any = ["outputs", 15]
# culprit_file = "trainkit/model.py"
# culprit = 15
# steps = 18
# ///
"""A trainer keeps the logits of each validation batch, 42 MiB, for a metric, and never clears them: the ninth epoch dies."""

from collections.abc import Iterator

import torch
from trainkit.model import PixelClassifier
from trainkit.trainer import Trainer

CLASSES, EPOCHS = 21, 50


def batches(count: int, size: int, side: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yields `count` batches of `size` images of `side` pixels, with their masks."""
    for _ in range(count):
        yield torch.zeros(size, 3, side, side), torch.zeros(size, side, side, dtype=torch.long)


def main() -> None:
    """Trains on crops and validates on whole images."""
    trainer = Trainer(PixelClassifier(CLASSES), lr=0.1)
    for epoch in range(EPOCHS):
        trainer.train_epoch(batches(2, 2, 64))
        print("epoch", epoch, "validated batches:", trainer.validate(batches(10, 8, 256)))


if __name__ == "__main__":
    main()
