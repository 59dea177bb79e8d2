"""Random texts for PYTORCH_CUDA_ALLOC_CONF that the installed version accepts."""

import random


class Source:
    """The settings of one program: at its start, and after each change."""

    def __init__(self, chance: random.Random, version: tuple[int, int], is_changing: bool):
        self.chance, self.version = chance, version
        # An error leaves the settings half read, so these sizes stay for the whole program. The driver makes no pages of
        # odd MiB, and expandable segments use pages of this size.
        sizes = [12, 16, 20, 32, 50, 64, 100] + ([] if is_changing else [11])
        self.large = chance.choice(sizes) if version >= (2, 11) and chance.random() < 0.2 else 20
        # PyTorch frees the middle of a segment if `max_split_size` falls: blocks of at least the limit count as whole segments.
        self.least_split = 0
        # Set once any settings had expandable segments.
        self.has_expanded = False

    def draw(self) -> str:
        """Some settings, mostly few."""
        makers = [maker for since, maker in MAKERS if self.version >= since and self.chance.random() < 0.3]
        if self.large % 2:
            makers = [maker for maker in makers if maker is not expandable]
        if self.chance.random() < 0.15 and self.large == 20:
            makers = []
        parts = [f"large_segment_size_mb:{self.large}"] * (self.large != 20)
        texts = [self._split() if maker is max_split else maker(self.chance, self.version, self.large) for maker in makers]
        parts += [text for text in texts if text]
        if max_split not in makers:
            self.least_split = UNLIMITED
        self.has_expanded |= "expandable_segments:True" in parts
        return ",".join(parts)

    def _split(self) -> str:
        sizes = [size for size in split_sizes(self.version, self.large) if size >= self.least_split]
        if not sizes:
            self.least_split = UNLIMITED
            return ""
        self.least_split = self.chance.choice(sizes)
        return f"max_split_size_mb:{self.least_split}"


# PyTorch's default of no limit: more MiB than any size.
UNLIMITED = 1 << 40


def split_sizes(version: tuple[int, int], large: int) -> list[int]:
    """Values for `max_split_size_mb`, not below the minimum."""
    least = large if version >= (2, 10) else 21
    return [least, least + 1, least + 20, 128 + large, 512 + large, 2048]


def max_split() -> None:
    """Stands for `max_split_size_mb`, which `Source` draws."""


def non_split_rounding(chance: random.Random, version: tuple[int, int], large: int) -> str:
    """`max_non_split_rounding_mb`."""
    least = large if version >= (2, 10) else 21
    return f"max_non_split_rounding_mb:{chance.choice([least, least + 4, least + 100, 1024])}"


def roundup(chance: random.Random, _version: tuple[int, int], _large: int) -> str:
    """`roundup_power2_divisions`, as a number or as a list."""
    if chance.random() < 0.5:
        return f"roundup_power2_divisions:{chance.choice([1, 2, 4, 8, 16, 32])}"
    bounds = sorted(chance.sample([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 65536], chance.randint(1, 5)))
    pairs = [f"{bound}:{chance.choice([1, 2, 4, 8, 16])}" for bound in bounds]
    rest = [f">:{chance.choice([1, 2, 4, 8])}"] if chance.random() < 0.7 else []
    return f"roundup_power2_divisions:[{','.join([*pairs, *rest])}]"


def collection(chance: random.Random, _version: tuple[int, int], _large: int) -> str:
    """`garbage_collection_threshold`."""
    return f"garbage_collection_threshold:{chance.choice([0.05, 0.3, 0.5, 0.6, 0.8, 0.95])}"


def expandable(chance: random.Random, _version: tuple[int, int], _large: int) -> str:
    """`expandable_segments`."""
    return f"expandable_segments:{chance.random() < 0.9}"


def fraction(chance: random.Random, _version: tuple[int, int], _large: int) -> str:
    """`per_process_memory_fraction`."""
    return f"per_process_memory_fraction:{chance.choice([0.25, 0.5, 0.7, 0.9, 1.0])}"


def throw(chance: random.Random, _version: tuple[int, int], _large: int) -> str:
    """`throw_on_cudamalloc_oom`."""
    return f"throw_on_cudamalloc_oom:{chance.random() < 0.8}"


def release_lock(chance: random.Random, _version: tuple[int, int], _large: int) -> str:
    """`release_lock_on_cudamalloc`, which changes nothing while threads take turns."""
    return f"release_lock_on_cudamalloc:{chance.random() < 0.5}"


def reserve(chance: random.Random, _version: tuple[int, int], _large: int) -> str:
    """`expandable_segments_reserve`."""
    return f"expandable_segments_reserve:{chance.choice(['0.1', '0.5', '1.0', '2.0', '1G', '3G'])}"


# The first version with each key.
MAKERS = [
    ((2, 0), max_split),
    ((2, 6), non_split_rounding),
    ((2, 0), roundup),
    ((2, 0), collection),
    ((2, 1), expandable),
    ((2, 10), fraction),
    ((2, 12), throw),
    ((2, 2), release_lock),
    ((2, 15), reserve),
]
