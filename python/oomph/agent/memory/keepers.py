"""The containers with many tensors of a device, by their names in the program, and the statements that fill them.

A container belongs to a variable of a running function, a module's globals, an attribute of an object, or the cache of a function. A
statement fills a container by a method such as `append`, or by an assignment to an element.
"""

import ast
import collections
import functools
import gc
import sys
import types
from collections.abc import Callable, Iterator, Mapping

import torch

from .. import records
from ..process import frames, local_variables, objects
from ..process.objects import Budget
from ..process.own_files import list_own_files
from ..source import trees
from ..source.names import last_name, name_of_call
from .referrers import list_referrers

# Containers with fewer tensors are listed by their bytes, and after those with more.
_MANY = 8
_LEAST = 2
_MOST_KEEPERS = 4
# The most searches for the names of all containers, each through all objects of the process; the most referrers of a container, and the most
# containers among them.
_SEARCHES = 64
_MOST_REFERRERS = 64
_MOST_OUTER = 4
_CONTAINERS = (list, dict, set, tuple, collections.deque, collections.OrderedDict, collections.defaultdict)
_METHODS = {"append", "appendleft", "add", "extend", "insert", "update", "setdefault", "put"}


def list_keepers(storages: Callable[[torch.Tensor], dict[int, int]]) -> Iterator[dict]:
    """The records of the containers, the container with most tensors first. `storages`: the bytes of a tensor's storages by address."""
    tensors = {id(it): it for it in gc.get_objects() if issubclass(type(it), torch.Tensor)}
    kept = {id(holder): (holder, found) for holder, found in _list_holders(tensors, storages)}
    kept = _with_outer(kept, tensors)
    found = [(holder, places) for holder, places in kept.values() if len(places) >= _LEAST]
    many = sorted((it for it in found if len(it[1]) >= _MANY), key=lambda it: -len(it[1]))
    few = sorted((it for it in found if len(it[1]) < _MANY), key=lambda it: -sum(it[1].values()))
    yield from _describe(many)
    yield from _describe(few)


def _describe(found: list[tuple[object, dict[int, int]]]) -> Iterator[dict]:
    """The records of the first containers with a name."""
    left, searches = _MOST_KEEPERS, Budget(_SEARCHES)
    for holder, places in found[: 4 * _MOST_KEEPERS]:
        holder = next((it for it in gc.get_referrers(holder) if _is_cache(it)), holder)
        owner, name = _name_of(holder, searches)
        # A list that a comprehension still fills has no name. A few tensors in a private attribute are parameters and buffers.
        if not name or not left or (len(places) < _MANY and name.startswith("_")):
            continue
        left -= 1
        file, line = _line_of_cache(holder) or _find_statement(name) or ("", 0)
        yield records.keeper(container=_words_of(holder), owner=owner, name=name, file=file, line=line, addresses=sorted(places))


def _list_holders(tensors: dict[int, torch.Tensor], storages: Callable) -> Iterator[tuple[object, dict[int, int]]]:
    """The containers that refer to tensors, with the bytes by address."""
    for holder in list_referrers(tensors):
        if not _is_keeper(holder):
            continue
        kept = [tensors[id(it)] for it in gc.get_referents(holder) if id(it) in tensors]
        yield holder, {address: size for it in kept for address, size in storages(it).items()}


def _with_outer(kept: dict, tensors: object) -> dict:
    """The containers, each joined by the containers in it: a list of dicts with a loss each keeps the losses."""
    small = {key: holder for key, (holder, places) in kept.items() if 0 < len(places) < _MANY}
    joined = dict(kept)
    for outer in list_referrers(small) if small else ():
        inner = [kept[id(it)] for it in gc.get_referents(outer) if id(it) in kept] if _is_keeper(outer) and outer is not tensors else []
        places = {address: size for holder, found in inner if holder is not outer for address, size in found.items()}
        own = kept.get(id(outer), (outer, {}))[1]
        if len(inner) >= _LEAST:
            joined[id(outer)] = (outer, own | places)
    return joined


def _is_keeper(holder: object) -> bool:
    return type(holder) in _CONTAINERS or _is_cache(holder)


def _is_cache(holder: object) -> bool:
    return type(holder) is functools._lru_cache_wrapper


def _words_of(holder: object) -> str:
    return "cache" if _is_cache(holder) else objects.name_of_class(type(holder))


def _line_of_cache(holder: object) -> tuple[str, int] | None:
    function = getattr(holder, "__wrapped__", None) if _is_cache(holder) else None
    return (function.__code__.co_filename, function.__code__.co_firstlineno) if type(function) is types.FunctionType else None


def _name_of(holder: object, searches: Budget, depth: int = 1) -> tuple[str, str]:
    """The owner and the name of a container, or of the container around it; empty if unknown."""
    if _is_cache(holder):
        return "", getattr(holder, "__name__", "")
    for frame in _users_frames():
        variables = local_variables.read_all(frame, list(frame.f_code.co_varnames + frame.f_code.co_freevars))
        name = next((name for name, value in variables.items() if value is holder), None)
        if name is not None:
            return "", name
    if not searches.has():
        return "", ""
    referrers = gc.get_referrers(holder)[:_MOST_REFERRERS]
    found = next((found for it in referrers if (found := _name_in(it, holder)) is not None), None)
    if found is None and depth:
        # A list in a dict of lists has the name of the dict.
        containers = [it for it in referrers if type(it) in _CONTAINERS and type(it) is not tuple][:_MOST_OUTER]
        outer = (_name_of(it, searches, depth - 1) for it in containers)
        found = next((it for it in outer if it[1]), None)
    return found or ("", "")


def _name_in(referrer: object, holder: object) -> tuple[str, str] | None:
    """The owner and the name of a container in the variables of a module or of an object."""
    if type(referrer) is dict:
        name = _find_key(referrer, holder)
        if name is None:
            return None
        owner = next((it for it in gc.get_referrers(referrer) if objects.list_own(it) is referrer), None)
        is_module = owner is None or objects.is_a(owner, types.ModuleType)
        return "" if is_module else objects.name_of_class(type(owner)), name
    if type(referrer) in (types.FrameType, types.CellType, list, tuple):
        return None
    name = _find_key(objects.list_own(referrer), holder)
    return None if name is None else (objects.name_of_class(type(referrer)), name)


def _find_key(variables: Mapping, holder: object) -> str | None:
    return next((name for name, value in variables.items() if value is holder and type(name) is str), None)


def _users_frames() -> Iterator[types.FrameType]:
    return (frame for frame in frames.list_running(sys._getframe(1)) if frames.is_users(frame.f_code.co_filename))


def _find_statement(name: str) -> tuple[str, int] | None:
    """The first statement that fills a container of the name, in the files of the running functions."""
    files = {frame.f_code.co_filename: frame.f_globals for frame in _users_frames()}
    # Nothing runs at the end of a program.
    files = files or dict.fromkeys(list_own_files())
    for file, namespace in files.items():
        lines = [node.lineno for node in trees.walk(file, namespace) if _fills(node, name)] if name else []
        if lines:
            return file, min(lines)
    return None


def _fills(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        filled = node.func.value.value if isinstance(node.func.value, ast.Subscript) else node.func.value
        return name_of_call(node) in _METHODS and last_name(filled) == name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return any(
        last_name(target.value) == name if isinstance(target, ast.Subscript) else isinstance(node, ast.AugAssign) and last_name(target) == name
        for target in targets
    )
