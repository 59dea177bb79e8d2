"""The objects of the process that lead to device memory, and their references.

Note [Search]
~~~~~~~~~~~~~
A process with PyTorch has half a million objects, and few lead to a tensor on a device. One pass reads the references of all objects; from the
tensors backwards, the referrers are followed until nothing new is found. All later questions concern these few objects.

The variables of a module are the end of the way back: each function refers to the variables of its module, and each object to the functions of
its class. So the dict of a module is a holder, not an object in the search; the same is true of the parts of IPython.

Note [Unreachable cycles]
~~~~~~~~~~~~~~~~~~~~~~~~~
An object with more references than the found objects have to it is in use from elsewhere: by a running function, a module, C++. The
garbage collector would free all objects that no used object leads to. The collector computes the same (CPython's Modules/gcmodule.c), but runs
finalizers; the search runs nothing.
"""

import gc
import sys
from collections.abc import Iterator

from . import kinds
from .tensors import Tensors


class Heap:
    """The objects that lead to device memory, by id. To be dropped after use: it holds tensors."""

    def __init__(self, tensors: Tensors, ends: set[int]) -> None:
        self.tensors, self._ends = tensors, ends
        self.objects: dict[int, object] = {}
        self._children: dict[int, list[int]] = {}
        self._graphs: dict[int, int] = {}
        # Objects that a question to PyTorch has made; kept so that no id is used twice.
        self._made: dict[int, object] = {}
        self.unreachable: list[object] = []
        self._find()
        self._find_unreachable()

    def _find(self) -> None:
        """Fills `objects`. See Note [Search]."""
        everything = gc.get_objects()
        inert = kinds.INERT
        candidates = [it for it in everything if id(type(it)) not in inert]
        tracked = {id(it): it for it in candidates}
        seeds = self._list_seeds(candidates)
        referrers = _read_referrers(candidates, tracked.keys() - self._ends) if seeds else {}
        waiting = list(seeds)
        while waiting:
            found = waiting.pop()
            if found in self.objects or found in self._ends:
                continue
            self.objects[found] = tracked[found]
            waiting += referrers.get(found, ())

    def _list_seeds(self, candidates: list[object]) -> list[int]:
        word_of, is_seed = self.tensors.word_of, self.tensors.is_seed
        return [id(it) for it in candidates if (word := word_of(it)) and is_seed(it, word)]

    def list_direct(self, value: object) -> list[object]:
        """The references that the garbage collector sees, to objects of the search; one as often as it occurs."""
        objects = self.objects
        return [it for it in gc.get_referents(value) if id(it) in objects]

    def children_of(self, key: int) -> list[int]:
        """The referenced objects, in Python and in C++, but for graphs."""
        known = self._children.get(key)
        if known is None:
            value = self.get(key)
            known = {id(it) for it in self.list_direct(value)}
            word = self.tensors.word_of(value)
            known.update(self._keep(it) for it in (self.tensors.list_children(value, word) if word else ()) if it is not None)
            known = self._children[key] = list(known)
        return known

    def graph_of(self, key: int) -> int | None:
        """The last node of the graph of a tensor."""
        if key not in self._graphs:
            value = self.get(key)
            node = self.tensors.graph_of(value) if self.tensors.word_of(value) == "tensor" else None
            self._graphs[key] = 0 if node is None else self._keep(node)
        return self._graphs[key] or None

    def get(self, key: int) -> object:
        """The object with an id."""
        return self.objects[key] if key in self.objects else self._made[key]

    def _keep(self, value: object) -> int:
        if id(value) not in self.objects:
            self._made[id(value)] = value
        return id(value)

    def _find_unreachable(self) -> None:
        """Fills `unreachable`. See Note [Unreachable cycles]."""
        used = _count_uses(self.objects)
        direct = {key: [id(it) for it in self.list_direct(value)] for key, value in self.objects.items()}
        for children in direct.values():
            for child in children:
                used[child] -= 1
        alive, waiting = set(), [key for key, count in used.items() if count > 0]
        while waiting:
            key = waiting.pop()
            if key not in alive:
                alive.add(key)
                waiting += direct[key]
        self.unreachable = [value for key, value in self.objects.items() if key not in alive]


def _read_referrers(candidates: list[object], targets: set[int]) -> dict[int, list[int]]:
    """The ids of the referrers of each object among the targets."""
    referrers: dict[int, list[int]] = {}
    find, get_referents = targets.intersection, gc.get_referents
    for holder in candidates:
        for target in find(map(id, get_referents(holder))):
            if target in referrers:
                referrers[target].append(id(holder))
            else:
                referrers[target] = [id(holder)]
    return referrers


def _count_uses(objects: dict[int, object]) -> dict[int, int]:
    """The references to each object from outside `objects`' dict and this function."""
    probe = object()
    own = next(_counts({0: probe}))[1] - 1
    return {key: count - own for key, count in _counts(objects)}


def _counts(objects: dict[int, object]) -> Iterator[tuple[int, int]]:
    for key in objects:
        yield key, sys.getrefcount(objects[key])
