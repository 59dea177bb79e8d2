"""Code of the program's own that PyTorch or Python calls, without a call of the program's."""

import ast
import types
from collections.abc import Iterable, Iterator
from types import CodeType

import torch
from torch.optim import optimizer as optim

from ..process import objects
from ..source.functions import find_exit, function_of
from ..source.names import name_of_call
from ..source.scope import UNKNOWN, Scope

_MOST_OBJECTS, _MOST_ITEMS = 20_000, 256
_PICKLING = ("save", "dump", "dumps", "deepcopy", "copy")
_PICKLED = ("__getstate__", "__reduce__", "__reduce_ex__", "__deepcopy__", "__copy__")
_OPTIMIZER_HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
_TENSOR_HOOKS = ("_backward_hooks", "_post_accumulate_grad_hooks")
_PRINTING = ("print", "str", "repr", "format", "debug", "info", "warning", "log", "write")
_TEXTS = ("__str__", "__repr__", "__format__")
_STATE_HOOKS = ("_state_dict_hooks", "_state_dict_pre_hooks")


def list_backwards() -> Iterator[CodeType]:
    """The backward methods of the program's own functions of autograd."""
    yield from _list_codes(_list_methods(torch.autograd.Function, "backward"))


def list_forwards() -> Iterator[CodeType]:
    """The forward methods of the program's own modules."""
    yield from _list_codes(_list_methods(torch.nn.Module, "forward"))


def list_schedules() -> Iterator[CodeType]:
    """The methods of the program's own schedules that PyTorch's `step` calls."""
    yield from _list_codes(_list_methods(torch.optim.lr_scheduler.LRScheduler, "get_lr"))


def list_hooks(optimizers: Iterable[torch.optim.Optimizer]) -> Iterator[CodeType]:
    """The hooks of optimizers, and of their parameters."""
    hooks = [*optim._global_optimizer_pre_hooks.values(), *optim._global_optimizer_post_hooks.values()]
    for optimizer in optimizers:
        parameters = (it for group in optimizer.param_groups for it in group["params"])
        owners = [(optimizer, _OPTIMIZER_HOOKS), *((it, _TENSOR_HOOKS) for it in parameters)]
        hooks += [hook for owner, names in owners for name in names for hook in dict(getattr(owner, name, None) or {}).values()]
    yield from _list_codes(map(_as_function, hooks))


def _as_function(hook: object) -> object:
    """The function that a call of a hook runs: of an object its class's `__call__`."""
    return hook if type(hook) in (types.FunctionType, types.MethodType) else objects.find_in_class(hook, "__call__")


def _list_codes(functions: Iterable[object]) -> Iterator[CodeType]:
    """The code of those functions that are the program's own."""
    for function in map(function_of, functions):
        if function is not None:
            yield function.__code__


def _list_methods(base: type, name: str) -> Iterator[object]:
    """The functions of a name in all classes below a base."""
    waiting, met = [base], set()
    while waiting and len(met) < _MOST_OBJECTS:
        kind = waiting.pop()
        for inner in type.__subclasses__(kind):
            if inner not in met:
                met.add(inner)
                waiting.append(inner)
                found = objects.list_attributes(inner).get(name)
                yield found.__func__ if type(found) is staticmethod else found


def find_end(manager: ast.expr, scope: Scope) -> types.FunctionType | None:
    """The program's own function that runs at the end of a `with`: `__exit__`, or the generator of a `contextmanager`."""
    made = scope.evaluate(manager.func) if isinstance(manager, ast.Call) else UNKNOWN
    function = made.__func__ if type(made) is types.MethodType else made
    if type(function) is not types.FunctionType:
        return find_exit(manager, scope)
    # The generator function is inside a `contextmanager`'s helper.
    return function_of(objects.list_own(function).get("__wrapped__", function))


def list_behind_yield(definition: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    """The statements behind the `yield` of a generator; the whole body of another function."""
    block, found = definition.body, []
    while True:
        at = next((index for index, node in enumerate(block) if _has_yield(node)), None)
        if at is None:
            return found if found or any(map(_has_yield, definition.body)) else list(definition.body)
        found.extend(block[at + 1 :])
        inner = block[at]
        found.extend(getattr(inner, "finalbody", []))
        block = next((part for part in (getattr(inner, "body", None),) if isinstance(part, list)), [])


def _has_yield(node: ast.AST) -> bool:
    return any(isinstance(it, (ast.Yield, ast.YieldFrom)) for it in ast.walk(node))


def list_hidden(node: ast.Call, scope: Scope) -> Iterator[types.FunctionType]:
    """The program's own functions that a call runs without a word of them: the ways to pickle or to print an object, the hooks of a `state_dict`."""
    name = name_of_call(node)
    if name in _PICKLING:
        for argument in node.args:
            yield from _list_pickling(scope.evaluate(argument), 2)
    elif name in _PRINTING:
        for argument in node.args:
            yield from _list_defined(scope.evaluate(argument), _TEXTS)
    elif name == "state_dict" and isinstance(node.func, ast.Attribute):
        owner = scope.evaluate(node.func.value)
        for module in torch.nn.Module.modules(owner) if objects.is_a(owner, torch.nn.Module) else ():
            own = objects.list_own(module)
            hooks = (it for kind in _STATE_HOOKS for it in dict(own.get(kind) or {}).values())
            yield from (found for found in map(_function_of_hook, hooks) if found is not None)
            yield from _list_defined(module, ("get_extra_state",))


def _function_of_hook(hook: object) -> types.FunctionType | None:
    # PyTorch wraps some hooks in an object.
    return function_of(objects.list_own(hook).get("hook", hook))


def _list_defined(value: object, names: tuple[str, ...]) -> Iterator[types.FunctionType]:
    """The methods of these names that a class of the program's defines."""
    for name in names:
        found = function_of(objects.find_in_class(value, name))
        if found is not None:
            yield found


def _list_pickling(value: object, depth: int) -> Iterator[types.FunctionType]:
    yield from _list_defined(value, _PICKLED)
    if depth:
        inner = objects.list_items(value, _MOST_ITEMS) or list(objects.list_own(value).values())[:_MOST_ITEMS]
        for part in inner:
            yield from _list_pickling(part, depth - 1)


def list_conditional(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that run under a condition."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values[1:]
    if isinstance(node, ast.Match):
        return [statement for case in node.cases for statement in case.body]
    if isinstance(node, (ast.If, ast.ExceptHandler)):
        return [*node.body, *getattr(node, "orelse", [])]
    return []
