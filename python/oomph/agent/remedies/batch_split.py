"""The sources of a program's batches, and taking a k-th of each batch.

transformers' `TrainingArguments` decide where the program uses them; otherwise the `DataLoader`s that are iterated while autograd records,
so evaluation under `no_grad` keeps its batches. All other sources belong to the remedy `batch-size`: if it is requested too, `batch-size`
sets the size, and this remedy only the libraries' switches.
"""

import functools
import inspect
import sys
import weakref
from collections.abc import Callable

import torch
from torch.utils.data import BatchSampler, DataLoader

from ..hooks import importing
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
        self._install_libraries()
        if not self._is_others:
            DataLoader.__init__ = self._noting_line(DataLoader.__init__)
            DataLoader.__iter__ = self._split_before(DataLoader.__iter__)

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

    def _noting_line(self, init: Callable) -> Callable:
        @functools.wraps(init)
        def wrapper(loader, *args, **kwargs):
            self._lines[loader] = frames.users_line(sys._getframe(1))
            init(loader, *args, **kwargs)

        return wrapper

    def _split_before(self, iterate: Callable) -> Callable:
        @functools.wraps(iterate)
        def wrapper(loader):
            if torch.is_grad_enabled() and not self._sized_by_library and not self._is_rejected:
                self._split(loader)
            return iterate(loader)

        return wrapper

    def _split(self, loader: DataLoader) -> None:
        sampler = loader.batch_sampler
        size = getattr(sampler, "batch_size", None)
        if not isinstance(size, int):
            return self.reject("the DataLoader's batches are made by the program itself: its batch size is not known")
        if sampler not in self._samplers:
            self._samplers.add(sampler)
            sampler.batch_size = self.part_of(size, "DataLoader", "batch_size", self._lines.get(loader))

    def _install_libraries(self) -> None:
        importing.after_import("transformers.training_args", self._install_transformers)
        for package in ("lightning.pytorch", "pytorch_lightning"):
            importing.after_import(f"{package}.trainer.trainer", functools.partial(self._install_lightning, package))

    def _install_transformers(self) -> None:
        arguments = sys.modules["transformers.training_args"].TrainingArguments
        self._with_switch(arguments, "gradient_accumulation_steps", "per_device_train_batch_size")

    def _install_lightning(self, package: str) -> None:
        self._with_switch(sys.modules[f"{package}.trainer.trainer"].Trainer, "accumulate_grad_batches", None)

    def _with_switch(self, owner: type, switch: str, batch: str | None) -> None:
        """Turns on a library's switch when its object is made, and sets its batch size if the library has that option."""
        init, parameters = owner.__init__, inspect.signature(owner.__init__).parameters

        @functools.wraps(init)
        def wrapper(made, *args, **kwargs):
            if batch is not None and not self._is_others:
                size = kwargs.get(batch, parameters[batch].default)
                kwargs[batch] = self.part_of(size, owner.__name__, batch)
                self._sized_by_library = True
            if not self._is_rejected:
                self._by_library = True
                kwargs[switch] = (kwargs.get(switch) or 1) * self.parts
                action = multiply_argument(owner.__name__, switch, self.parts)
                self.remedy.applied(f"{owner.__name__}({switch}={kwargs[switch]})", action=action)
            init(made, *args, **kwargs)

        owner.__init__ = wrapper
