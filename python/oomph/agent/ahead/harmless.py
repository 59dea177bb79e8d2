"""Calls that take no memory of a GPU worth the name: output, files, time, arithmetic of the host, reductions to a number.

A call that is not known to be harmless is none: what a program did not run yet is named rather than trusted.
"""

import ast
import types

import torch
from torch import nn

from ..process import objects
from ..source import trees
from ..source.functions import function_of
from ..source.names import name_of_call
from ..source.scope import UNKNOWN, Scope

_PACKAGES = {
    *("argparse", "builtins", "csv", "datetime", "gc", "glob", "json", "logging", "loguru", "math", "matplotlib", "numpy", "os", "pandas"),
    *("pathlib", "PIL", "platform", "posix", "pprint", "random", "re", "rich", "shutil", "signal", "statistics", "string", "sys", "tempfile"),
    *("tensorboard", "tensorboardX", "textwrap", "time", "tqdm", "wandb", "warnings", "yaml", "_io", "_random", "posixpath", "mlflow"),
}
# Methods of strings, files, containers, loggers, writers and bars; of tensors the methods with a result on the host or a number, and those that
# write a constant in place; of Accelerate those that move no tensor.
_METHODS = {
    *("add_figure", "add_hparams", "add_image", "add_scalar", "add_scalars", "add_text", "append", "basename", "close", "copy", "count", "cpu"),
    *("critical", "debug", "detach", "dim", "dump", "error", "exists", "extend", "find", "finish", "flush", "format", "get", "get_last_lr"),
    *("index", "info", "insert", "is_file", "item", "items", "join", "keys", "log", "log_metrics", "lower", "mkdir", "numel", "numpy", "open"),
    *("perf_counter", "pop", "print", "read", "refresh", "replace", "rstrip", "savefig", "set_description", "set_epoch", "set_postfix"),
    *("set_postfix_str", "setdefault", "size", "split", "start", "startswith", "strip", "strftime", "tolist", "touch", "update", "upper"),
    *("values", "warn", "warning", "write", "writerow", "zero_grad", "all", "any", "argmax", "max", "mean", "min", "norm", "sum"),
    *("fill_", "zero_", "unwrap_model", "wait_for_everyone"),
}
_OF_MODULES = {"eval", "train", "state_dict", "parameters", "named_parameters", "modules", "named_modules", "children", "zero_grad"}
_OF_OPTIMIZERS = {"state_dict", "zero_grad"}
_OF_SCHEDULERS = {"step", "state_dict", "get_last_lr"}
_OF_TORCH = {
    *("no_grad", "inference_mode", "set_grad_enabled", "manual_seed", "set_float32_matmul_precision", "is_tensor", "device", "is_available"),
    *("synchronize", "empty_cache", "reset_peak_memory_stats", "max_memory_allocated", "memory_allocated", "memory_reserved", "current_device"),
    *("max_memory_reserved", "memory_summary", "memory_stats", "mem_get_info", "barrier", "destroy_process_group", "get_rank"),
    *("get_world_size", "is_initialized", "device_count", "save", "seed_all", "manual_seed_all", "get_device_name", "elapsed_time"),
}
_DEPTH = 4
_OF_PYTHON = (
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType),
    *(types.MethodWrapperType, types.ClassMethodDescriptorType),
)


def name_of(call: ast.Call) -> str:
    """The last name of the called expression: `evaluate` of `self.evaluate(loader)`."""
    return name_of_call(call) or "a call"


def is_harmless(call: ast.Call, scope: Scope, depth: int = 0) -> bool:
    """True if the call takes no memory of a GPU; calls in the arguments are judged separately. Raises `Spent`."""
    found, name = scope.evaluate(call.func), name_of(call)
    owner = scope.evaluate(call.func.value) if isinstance(call.func, ast.Attribute) else UNKNOWN
    function = function_of(found)
    if function is not None:
        return depth < _DEPTH and is_body_harmless(found, function, scope, depth)
    is_module = objects.is_a(owner, types.ModuleType)
    if is_module and _top(objects.list_own(owner).get("__name__")) == "torch":
        return name in _OF_TORCH
    if owner is not UNKNOWN and not is_module:
        return _is_objects_method_harmless(owner, name)
    if found is UNKNOWN:
        return isinstance(call.func, ast.Attribute) and name in _METHODS
    return _package(found) in _PACKAGES or _name_of_function(found) in _OF_TORCH


def _is_objects_method_harmless(owner: object, name: str) -> bool:
    if objects.is_a(owner, nn.Module):
        return name in _OF_MODULES
    if objects.is_a(owner, torch.optim.Optimizer):
        return name in _OF_OPTIMIZERS
    if objects.is_a(owner, torch.optim.lr_scheduler.LRScheduler):
        return name in _OF_SCHEDULERS
    return name in _METHODS or _package(type(owner)) in _PACKAGES


def _package(found: object) -> str:
    """The package of a class, of a function, or of an object's class."""
    kind = found if objects.is_a(found, type) else type(found)
    return _top(_read_of_function(found, "__module__")) or _top(objects.module_of_class(kind))


def _name_of_function(found: object) -> object:
    return objects.name_of_class(found) if objects.is_a(found, type) else _read_of_function(found, "__name__")


def _read_of_function(found: object, name: str) -> object:
    """An attribute of a function, or of a wrapper that has it in its dict; `None` for any other object."""
    found = found.__func__ if type(found) is types.MethodType else found
    return getattr(found, name, None) if type(found) in _OF_PYTHON else objects.list_own(found).get(name)


def _top(module: object) -> str:
    """The first name of a module's."""
    return module.split(".")[0] if type(module) is str else ""


def is_body_harmless(found: object, function: types.FunctionType, scope: Scope, depth: int) -> bool:
    """True if a function of the program's makes none but harmless calls."""
    node = find_definition(function)
    if node is None:
        return False
    is_method = type(found) is types.MethodType and function.__code__.co_argcount > 0
    inner = scope.of_call(function, {function.__code__.co_varnames[0]: found.__self__} if is_method else {})
    for part in (part for statement in node.body for part in ast.walk(statement)):
        scope.budget.spend()
        if isinstance(part, ast.Call) and not is_harmless(part, inner, depth + 1):
            return False
    return True


def find_definition(function: types.FunctionType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The parsed definition of a function; `None` for a lambda, and without a source."""
    found = trees.find_definition(function.__code__, function.__globals__)
    return None if isinstance(found, ast.Lambda) else found
