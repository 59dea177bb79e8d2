"""The repeated blocks of a model: the layers of a transformer, the bottlenecks of a ResNet.

Note [Repeated blocks]
~~~~~~~~~~~~~~~~~~~~~~
A block is a child of a `ModuleList`, `ModuleDict` or `Sequential` with a neighbour of the same class, and has at least two modules without
children: a single module saves little besides its input. A `Sequential` has no class of its own; two `Sequential`s are alike if their
children are, in the same order. The class with the longest run is chosen first, the outer class of two equally long ones; then each other
class without a block inside or around a chosen block. All children of a chosen class in any list are blocks: so are the last layers of a
ResNet's stages, and an only child.
"""

from dataclasses import dataclass
from itertools import groupby

import torch

from .models import plain_name

_LISTS = (torch.nn.ModuleList, torch.nn.ModuleDict, torch.nn.Sequential)


@dataclass(frozen=True)
class Block:
    """A block, and the name of its list."""

    module: torch.nn.Module
    inside: str


def repeated(root: torch.nn.Module) -> list[Block]:
    """The repeated blocks below `root`, in its order; empty if nothing repeats. See Note [Repeated blocks]."""
    chosen: list[Block] = []
    by_kind = _by_kind(root)
    for kind in sorted(by_kind, key=lambda kind: -_longest_run(root, kind)):
        if _longest_run(root, kind) > 1 and not _overlap(by_kind[kind], chosen):
            chosen += _outermost(by_kind[kind])
    order = {id(module): place for place, module in enumerate(root.modules())}
    return sorted(chosen, key=lambda block: order[id(block.module)])


def described(blocks: list[Block]) -> str:
    """`12 × Block in h`, for each class."""
    parts = []
    for kind in dict.fromkeys(type(block.module).__name__ for block in blocks):
        alike = [block for block in blocks if type(block.module).__name__ == kind]
        parts.append(f"{len(alike)} × {kind} in {', '.join(dict.fromkeys(block.inside for block in alike))}")
    return "; ".join(parts)


def _lists(root: torch.nn.Module):
    """The children of every list of modules, outer lists first, with the list's name."""
    for name, module in root.named_modules():
        if isinstance(module, _LISTS):
            yield plain_name(name) or type(module).__name__, list(module.children())


def _by_kind(root: torch.nn.Module) -> dict[tuple, list[Block]]:
    found: dict[tuple, list[Block]] = {}
    for name, children in _lists(root):
        for child in children:
            if _is_large_enough(child):
                found.setdefault(_kind(child), []).append(Block(child, name))
    return found


def _kind(module: torch.nn.Module) -> tuple:
    if type(module) is torch.nn.Sequential:
        return (torch.nn.Sequential, *map(_kind, module))
    return (type(module),)


def _longest_run(root: torch.nn.Module, kind: tuple) -> int:
    runs = (group for _, children in _lists(root) for group in groupby(map(_kind, children)))
    return max((len(list(members)) for of, members in runs if of == kind), default=0)


def _is_large_enough(module: torch.nn.Module) -> bool:
    return sum(1 for below in module.modules() if next(below.children(), None) is None) > 1


def _outermost(blocks: list[Block]) -> list[Block]:
    """The blocks outside all others: a class may contain modules of the same class."""
    inner = {id(below) for block in blocks for below in block.module.modules() if below is not block.module}
    return [block for block in blocks if id(block.module) not in inner]


def _overlap(blocks: list[Block], chosen: list[Block]) -> bool:
    """True if a block of one list equals, contains or is part of a block of the other list."""
    ours, theirs = _below(blocks), _below(chosen)
    return any(id(block.module) in theirs for block in blocks) or any(id(block.module) in ours for block in chosen)


def _below(blocks: list[Block]) -> set[int]:
    return {id(module) for block in blocks for module in block.module.modules()}
