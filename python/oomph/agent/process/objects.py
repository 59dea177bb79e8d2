"""Objects of the program, read without running its code.

Note [Foreign objects]
~~~~~~~~~~~~~~~~~~~~~~
`getattr(value, "__dict__")` calls the `__getattr__` of a class with slots. `isinstance(value, kind)` reads a property `__class__`, which in a
lazy proxy makes the object or imports a package. `len(value)`, `name in value` and `value == other` are methods of the program's as well. Each
of these may change the program, raise, or never return. So a search through objects that the agent did not make asks for the type alone
(`is_a`), and reads attributes from dicts and slots (`list_own`, `read`). Containers are read if their type is one of Python's.

Note [Bounds]
~~~~~~~~~~~~~
A search through the program's objects, graphs or sources has a `Budget`: the number of things that it visits. A number, because an answer that
depends on the time would differ from run to run.
"""

import types
from collections.abc import Iterator, Mapping

_read_dict = type.__dict__["__dict__"].__get__
_read_mro = type.__dict__["__mro__"].__get__
_read_name = type.__dict__["__name__"].__get__
_read_module = type.__dict__["__module__"].__get__
_SLOTS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_MISSING = object()


class Spent(Exception):
    """The budget of a search is used up."""


class Budget:
    """The number of things that a search may still visit."""

    def __init__(self, left: int) -> None:
        self._left = left

    def spend(self, count: int = 1) -> None:
        """Counts things; raises `Spent` if they are too many."""
        self._left -= count
        if self._left < 0:
            raise Spent

    def has(self, count: int = 1) -> bool:
        """Counts things, and tells if the budget has them."""
        self._left = max(self._left - count, -1)
        return self._left >= 0


def is_a(value: object, kinds: type | tuple[type, ...]) -> bool:
    """True for an instance by its type, whatever class the object claims to have."""
    return issubclass(type(value), kinds)


def list_bases(kind: type) -> tuple[type, ...]:
    """A class and its bases, in the order in which Python looks attributes up."""
    return _read_mro(kind)


def list_attributes(kind: type) -> Mapping[str, object]:
    """The attributes that a class itself defines."""
    return _read_dict(kind)


def list_own(value: object) -> Mapping[str, object]:
    """The attributes in an object's own dict; empty without a dict."""
    for base in list_bases(type(value)):
        found = list_attributes(base).get("__dict__")
        if found is not None:
            own = found.__get__(value) if type(found) in _SLOTS else None
            return own if type(own) in (dict, types.MappingProxyType) else {}
    return {}


def find_in_class(value: object, name: str, default: object = None) -> object:
    """The attribute that the class of an object defines, as it is stored: a property is not asked."""
    return find_in_bases(type(value), name, default)


def find_in_bases(kind: type, name: str, default: object = None) -> object:
    """The attribute that a class or its bases define, as it is stored."""
    found = (list_attributes(base).get(name, _MISSING) for base in list_bases(kind))
    return next((it for it in found if it is not _MISSING), default)


def read(value: object, name: str, default: object = None) -> object:
    """An attribute from an object's dict, its slots or its class; `default` for an attribute that a function would compute."""
    own = list_own(value)
    if name in own:
        return own[name]
    found = find_in_class(value, name, _MISSING)
    if type(found) is types.MemberDescriptorType:
        try:
            return found.__get__(value)
        except AttributeError:
            # A slot without a value.
            return default
    return default if found is _MISSING or find_in_class(found, "__get__") is not None else found


def name_of_class(kind: type) -> str:
    """The name of a class."""
    return _read_name(kind)


def module_of_class(kind: type) -> object:
    """The name of a class's module; the program may have set anything."""
    return _read_module(kind)


def list_items(value: object, most: int) -> list[object]:
    """The elements of a container of Python's, or of a subclass, as Python itself stores them; the first `most`, and of a dict the values."""
    for kind, items in _ITEMS:
        if is_a(value, kind):
            return [it for it, _ in zip(items(value), range(most))]
    return []


def _list_values(value: dict) -> Iterator[object]:
    return iter(dict.values(value))


_ITEMS = ((dict, _list_values), (list, list.__iter__), (tuple, tuple.__iter__), (set, set.__iter__), (frozenset, frozenset.__iter__))
