"""The sources of a program's batches, and taking a k-th of each batch.

transformers' `TrainingArguments` decide where the program uses them; otherwise the `DataLoader`s that are iterated while autograd records,
so evaluation under `no_grad` keeps its batches. All other sources belong to the remedy `batch-size`: if it is requested too, `batch-size`
sets the size, and this remedy only the libraries' switches.
"""

import sys
import weakref

import torch
from torch.utils.data import BatchSampler, DataLoader

from ..hooks import around, events
from ..process import frames
from . import Remedy, is_asked
from .actions import divide_argument, multiply_argument

_NOTHING = "no DataLoader gave a batch, and nothing else is known to set its size (the remedy batch-size beside this one does)"


class BatchSplit:
    """Divides batch sizes by `parts`, and knows whether the program's own loop must accumulate."""

    def __init__(self, remedy: Remedy, parts: int) -> None:
        self.remedy = remedy
        self.parts = parts
        self._is_others = is_asked("batch-size")
        # True if batches are split; if a library accumulates; if the library also sets the batch size.
        self._is_split = self._is_others
        self._by_library = False
        self._sized_by_library = False
        self._is_rejected = False
        self._lines: weakref.WeakKeyDictionary[DataLoader, tuple[str, int]] = weakref.WeakKeyDictionary()
        self._samplers: weakref.WeakSet[BatchSampler] = weakref.WeakSet()

    def install(self) -> None:
        """Replaces the sources of batches."""
        events.before_training_arguments(self._tell_transformers)
        events.before_lightning_trainer(self._tell_lightning)
        if not self._is_others:
            events.around_loader_made(events.before(self._note_line))
            around("torch.utils.data.dataloader:DataLoader.__iter__", events.before(self._split_for_training))

    @property
    def is_ours(self) -> bool:
        """True if batches are split, and no library accumulates them."""
        return self._is_split and not self._by_library

    def check(self) -> None:
        """A backward begins: what has not been split by now will not be."""
        if not (self._is_split or self._is_rejected):
            self.reject(_NOTHING)

    def part_of(self, batch: int, callee: str, keyword: str, at: tuple[str, int] | None = None) -> int:
        """Divides the batch that `callee` is given as `keyword`; returns the batch itself where it cannot be divided."""
        if self._is_rejected:
            return batch
        if batch % self.parts:
            self.reject(f"a batch of {batch} is not divisible by {self.parts}")
            return batch
        self._is_split = True
        action = divide_argument(callee, keyword, self.parts)
        self.remedy.applied(f"{callee}({keyword}={batch // self.parts}) in place of {batch}", at, action=action)
        return batch // self.parts

    def reject(self, text: str) -> None:
        """The remedy cannot take effect, and changes nothing from now on."""
        self._is_rejected, self._is_split = True, False
        self.remedy.rejected(text)

    def _note_line(self, loader: DataLoader, *_args, **_kwargs) -> None:
        self._lines[loader] = frames.users_line(sys._getframe(1))

    def _split_for_training(self, loader: DataLoader) -> None:
        if torch.is_grad_enabled() and not self._sized_by_library and not self._is_rejected:
            self._split(loader)

    def _split(self, loader: DataLoader) -> None:
        sampler = loader.batch_sampler
        size = getattr(sampler, "batch_size", None)
        if not isinstance(size, int):
            return self.reject("the DataLoader's batches are made by the program itself: its batch size is not known")
        if sampler not in self._samplers:
            self._samplers.add(sampler)
            sampler.batch_size = self.part_of(size, "DataLoader", "batch_size", self._lines.get(loader))

    def _tell_transformers(self, arguments) -> None:
        name = type(arguments).__name__
        if not self._is_others:
            arguments.per_device_train_batch_size = self.part_of(arguments.per_device_train_batch_size, name, "per_device_train_batch_size")
            self._sized_by_library = True
        self._turn_on(name, vars(arguments), "gradient_accumulation_steps")

    def _tell_lightning(self, keywords: dict) -> None:
        self._turn_on("Trainer", keywords, "accumulate_grad_batches")

    def _turn_on(self, callee: str, settings: dict, switch: str) -> None:
        """Has a library accumulate: it then does what this remedy does."""
        if not self._is_rejected:
            self._by_library = True
            settings[switch] = (settings.get(switch) or 1) * self.parts
            self.remedy.applied(f"{callee}({switch}={settings[switch]})", action=multiply_argument(callee, switch, self.parts))
