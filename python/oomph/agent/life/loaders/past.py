"""The samples that earlier scans of a loader have read: a later epoch has the same samples in other batches."""

from collections.abc import Sequence

from .sizes import Part, list_parts

# The most samples that are remembered.
_SAMPLES = 200_000


class Past:
    """The parts of samples by their index, and the processor seconds of all scans."""

    def __init__(self) -> None:
        self.seconds = 0.0
        # True once a sample was met with other parts than before.
        self.has_changed = False
        self._samples: dict[int, tuple[Part, ...]] = {}
        # Equal parts are stored once.
        self._parts: dict[tuple[Part, ...], tuple[Part, ...]] = {}

    def note(self, indices: Sequence[object], samples: Sequence[object]) -> list[tuple[Part, ...]]:
        """Remembers samples; returns their parts."""
        found = [tuple(list_parts(sample, is_sample=True)) for sample in samples]
        for index, parts in zip(indices, found):
            known = self._samples.get(index) if type(index) is int else None
            self.has_changed = self.has_changed or (known is not None and known != parts)
            if type(index) is int and len(self._samples) < _SAMPLES:
                self._samples[index] = self._parts.setdefault(parts, parts)
        return found

    def find(self, indices: Sequence[object]) -> list[tuple[Part, ...]] | None:
        """The parts of the samples of a batch; `None` unless all are known."""
        found = [self._samples.get(index) if type(index) is int else None for index in indices]
        return None if None in found else found
