"""The arguments that operators write, by PyTorch's schemas."""

import functools

import torch


@functools.cache
def _written_by_name() -> dict[str, tuple]:
    """The arguments that operators write, by the schema: places, and names of those that have no place."""
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith("aten::"):
            written = [(place, it) for place, it in enumerate(schema.arguments) if it.alias_info is not None and it.alias_info.is_write]
            if written:
                name = schema.name.removeprefix("aten::") + (f".{schema.overload_name}" if schema.overload_name else "")
                found[name] = tuple(place for place, it in written if not it.kwarg_only), tuple(it.name for _, it in written if it.kwarg_only)
    return found


def written_places(name: str) -> tuple[int, ...]:
    """The places of the arguments that an operator writes."""
    return _written_by_name().get(name, ((), ()))[0]


def written_names(name: str) -> tuple[str, ...]:
    """The names of the written arguments without a place, such as `out`."""
    return _written_by_name().get(name, ((), ()))[1]


@functools.cache
def list_operators() -> frozenset[str]:
    """Operators with kernels for CUDA, but those composed of others that are seen themselves."""
    names = (it.removeprefix("aten::") for it in torch._C._dispatch_get_all_op_names() if it.startswith("aten::"))
    return frozenset(name for name in names if _has_kernel(name))


def _has_kernel(name: str) -> bool:
    is_composed = torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "CompositeImplicitAutograd")
    return not is_composed and torch._C._dispatch_has_computed_kernel_for_dispatch_key(f"aten::{name}", "CUDA")
