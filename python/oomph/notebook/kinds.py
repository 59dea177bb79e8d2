"""Types, and values read without the user's code.

Note [Looking]
~~~~~~~~~~~~~~
A class may replace `__getattr__`, `__eq__`, `__class__` or `__repr__`, and a question to an object would run that code. So objects are known by
`type`, `id` and `gc.get_referents` alone, and attributes of PyTorch's objects are read by the descriptors of PyTorch's own classes.
"""

import types
import weakref

# Objects of these types lead to no tensor: code, slots of classes, generic aliases. The callback of a weak reference is left out.
_INERT = (
    types.CodeType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GenericAlias,
    type(int | str),
    weakref.ref,
)
INERT = {id(kind) for kind in _INERT}

_name_of = type.__dict__["__name__"].__get__
_module_of = type.__dict__["__module__"].__get__
_mro_of = type.__dict__["__mro__"].__get__
_vars_of = type.__dict__["__dict__"].__get__
_dict_of = types.ModuleType.__dict__["__dict__"].__get__


def name_of(kind: type) -> str:
    """The name of a type, whatever its metaclass says."""
    return str(_name_of(kind))


def list_names(kind: type) -> set[str]:
    """The attributes of a type and of its bases."""
    return {name for it in _mro_of(kind) for name in _vars_of(it)}


def read_module(module: object) -> dict | None:
    """The variables of a module; `None` if the object is no module."""
    return _dict_of(module) if issubclass(type(module), types.ModuleType) else None


def is_users(kind: type) -> bool:
    """True for a class that a cell or a script defines."""
    return _module_of(kind) == "__main__"
