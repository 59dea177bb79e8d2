"""The operation whose request failed: its expression in the user's source, and the shapes of its tensors."""

import ast
import itertools
import math
from types import FrameType

import torch

from .. import records
from ..process import frames, local_variables, objects
from ..source.flow import FUNCTIONS, find_innermost, walk_own
from ..source.names import name_of_call
from ..source.scope import UNKNOWN, Scope
from ..source.spans import find_instruction, find_running, span_of

# Of a subclass, too, the shape that PyTorch knows.
_read_shape = torch._C.TensorBase.shape.__get__
_LONGEST = 120
_MOST_SHAPES = 16
# The most nodes of an expression, and of the values of its variables.
_MOST_NODES = 5_000
_PRODUCTS = ("matmul", "bmm", "baddbmm")
# The bytes of an element, and the unit of large segments (c10/cuda/CUDACachingAllocator.cpp).
_ELEMENT_SIZES = (1, 2, 4, 8, 16)
_SEGMENT_ROUNDING = 2 << 20
_CONSTANTS = Scope.of_module({})


def describe(frame: FrameType | None, requested: int) -> dict | None:
    """The record of the operation of `frame` that requests bytes; `None` without a line of the user."""
    inner, outer = [], frame
    while outer is not None and not frames.is_users(outer.f_code.co_filename):
        if not frames.is_agents(outer.f_code.co_filename):
            inner.append(outer)
        outer = outer.f_back
    if outer is None:
        return None
    expression, scope = _find_expression(outer), Scope.of_frame(outer)
    return records.operation(
        functions=[it.f_code.co_name for it in reversed(inner)],
        text="" if expression is None else ast.unparse(expression)[:_LONGEST],
        shapes=[] if expression is None else _list_shapes(expression, scope),
        result=[] if expression is None else _result(expression, scope),
        operands=[] if expression is None else _find_operands([expression, *_list_values(expression, outer)], scope, requested),
        input=next((shape for it in inner if (shape := _shape_of(local_variables.read(it, "input")))), []),
        out_features=next((it for it in map(_out_features, inner) if it), 0),
        **_find_scores(inner[0] if inner else outer),
    )


def _out_features(frame: FrameType) -> int:
    """The number of output features of a linear layer, for its `forward`; else 0."""
    module = local_variables.read(frame, "self")
    return module.out_features if objects.is_a(module, torch.nn.Linear) else 0


def _find_scores(frame: FrameType) -> dict:
    """The shape of attention's scores, for `scaled_dot_product_attention` and for a line of a function of attention; else empty."""
    expression, scope = _find_expression(frame), Scope.of_frame(frame)
    name = name_of_call(expression)
    if name == "scaled_dot_product_attention":
        query, key = ([*map(lambda it: _infer(it, scope), _arguments(expression, ("query", "key")))] + [[], []])[:2]
        return {"scores": [*query[:-1], key[-2]] if min(len(query), len(key)) >= 2 else [], "is_sdpa": True}
    is_attention = "attention" in frame.f_code.co_name.lower() and expression is not None
    return {"scores": _result(expression, scope) if is_attention else [], "is_sdpa": False}


def _arguments(call: ast.Call, names: tuple[str, ...]) -> list[ast.expr]:
    """The first arguments of a call, by position or by name."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    return [*call.args, *(named[name] for name in names if name in named)][: len(names)]


def _find_expression(frame: FrameType) -> ast.AST | None:
    """The smallest call or operator around the running instruction; without positions of instructions, the statement."""
    path = find_running(frame)
    statement = path[-1] if path else None
    if statement is None or hasattr(statement, "body"):
        return None
    at = find_instruction(frame)
    found = (node for node in ast.walk(statement) if isinstance(node, ast.expr) and span_of(node) == at)
    return next(found, statement)


def _list_shapes(expression: ast.AST, scope: Scope) -> list[list[int]]:
    """The shapes of the named tensors in the expression."""
    leaves = [node for node in ast.walk(expression) if isinstance(node, (ast.Name, ast.Attribute))]
    shapes = (_shape_of(scope.evaluate(leaf)) for leaf in leaves)
    return [shape for shape in shapes if shape][:_MOST_SHAPES]


def _result(expression: ast.AST, scope: Scope) -> list[int]:
    """The shape of the result, as far as the operands tell; for any other call, the shape of the first operand."""
    found = _infer(expression, scope) if isinstance(expression, ast.expr) else []
    if found or not isinstance(expression, ast.Call):
        return found
    receiver = [expression.func.value] if isinstance(expression.func, ast.Attribute) else []
    shapes = (_infer(operand, scope) for operand in [*receiver, *expression.args])
    return next((shape for shape in shapes if shape), [])


def _find_operands(expressions: list[ast.AST], scope: Scope, requested: int) -> list[list[int]]:
    """The shapes of the two operands with the largest growth by broadcasting, of which the result has the requested bytes."""
    nodes = (node for expression in expressions for node in ast.walk(expression))
    pairs = (_operands(node, scope) for node in itertools.islice(nodes, _MOST_NODES))
    sizes = ((math.prod(_broadcast(*pair)), pair) for pair in pairs if len(pair) == 2)
    found = [(size / max(map(math.prod, pair)), pair) for size, pair in sizes if _has_bytes(size, requested)]
    return max(found, key=lambda it: it[0], default=(0, []))[1]


def _has_bytes(elements: int, requested: int) -> bool:
    """True if a tensor of one of PyTorch's types has so many elements, and the requested bytes in whole segments."""
    return any(0 <= requested - elements * size < _SEGMENT_ROUNDING for size in _ELEMENT_SIZES)


def _operands(node: ast.AST, scope: Scope) -> list[list[int]]:
    """The shapes of the sides of an operator, or of the first two tensors of a call."""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        return [shape for side in (node.left, node.right) if (shape := _infer(side, scope))]
    if isinstance(node, ast.Call):
        return [shape for argument in node.args[:2] if (shape := _infer(argument, scope))]
    return []


def _list_values(expression: ast.AST, frame: FrameType) -> list[ast.expr]:
    """The values that the running function assigned to the variables of an expression."""
    names = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
    path = find_running(frame)
    nodes = walk_own(find_innermost(path, FUNCTIONS) or path[0], is_whole=True)
    assigned = [node for node in nodes if isinstance(node, ast.Assign) and node.lineno < frame.f_lineno]
    return [node.value for node in assigned for target in node.targets if isinstance(target, ast.Name) and target.id in names]


def _infer(node: ast.expr, scope: Scope) -> list[int]:
    """The shape of a variable, an attribute, or a view with added or kept dimensions; empty if unknown."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        return _transpose(_infer(node.value, scope), [])
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _shape_of(scope.evaluate(node))
    if isinstance(node, ast.Subscript):
        return _index(_infer(node.value, scope), node.slice)
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    if is_method and node.func.attr == "unsqueeze" and len(node.args) == 1:
        return _unsqueeze(_infer(node.func.value, scope), node.args[0])
    if is_method and node.func.attr in ("float", "half", "bfloat16", "contiguous", "abs", "square", "exp", "cuda", "detach"):
        return _infer(node.func.value, scope)
    if is_method and node.func.attr in ("transpose", "t"):
        return _transpose(_infer(node.func.value, scope), node.args)
    if name_of_call(node) in _PRODUCTS:
        sides = [node.func.value, *node.args] if is_method and not _is_torch(node.func.value) else node.args
        shapes = [_infer(side, scope) for side in sides[-2:]]
        return _multiply(*shapes) if len(shapes) == 2 else []
    if name_of_call(node) == "einsum":
        return _contract(node, scope)
    if isinstance(node, ast.BinOp):
        combine = _multiply if isinstance(node.op, ast.MatMult) else _broadcast
        return combine(_infer(node.left, scope), _infer(node.right, scope))
    return []


def _is_torch(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "torch"


def _contract(call: ast.Call, scope: Scope) -> list[int]:
    """The shape of an `einsum` with single letters and all tensors known."""
    equation = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
    if not isinstance(equation, str) or "->" not in equation or "." in equation:
        return []
    inputs, output = equation.replace(" ", "").split("->")
    shapes = [_infer(operand, scope) for operand in call.args[1:]]
    letters = inputs.split(",")
    if [len(it) for it in letters] != [len(it) for it in shapes]:
        return []
    sizes = {letter: size for names, shape in zip(letters, shapes, strict=True) for letter, size in zip(names, shape, strict=True)}
    return [sizes[letter] for letter in output if letter in sizes]


def _transpose(shape: list[int], places: list[ast.expr]) -> list[int]:
    axes, found = [_CONSTANTS.evaluate(place) for place in places] or [-2, -1], list(shape)
    if len(axes) != 2 or not all(type(axis) is int and -len(shape) <= axis < len(shape) for axis in axes):
        return []
    one, other = axes
    found[one], found[other] = found[other], found[one]
    return found


def _multiply(one: list[int], other: list[int]) -> list[int]:
    if len(one) < 2 or len(other) < 2 or one[-1] != other[-2]:
        return []
    batch = _broadcast(one[:-2], other[:-2])
    return [*batch, one[-2], other[-1]]


def _shape_of(value: object) -> list[int]:
    return list(map(int, _read_shape(value))) if objects.is_a(value, torch.Tensor) else []


def _index(shape: list[int], index: ast.expr) -> list[int]:
    """The shape after an index of slices and numbers that the source states, `None` and an ellipsis; empty for any other."""
    items = [_read_index(item) for item in (index.elts if isinstance(index, ast.Tuple) else [index])]
    taken = sum(isinstance(item, (slice, int)) for item in items)
    rest, found = list(shape), []
    for item in items:
        if item is None:
            found.append(1)
        elif isinstance(item, (slice, int)) and rest:
            size = rest.pop(0)
            found += [len(range(*item.indices(size)))] if isinstance(item, slice) else []
            taken -= 1
        elif item is Ellipsis:
            keep = len(rest) - taken
            found, rest = found + rest[:keep], rest[keep:]
        else:
            return []
    return found + rest if shape else []


def _read_index(item: ast.expr) -> object:
    """A slice, a number, `None` or an ellipsis; `UNKNOWN` for any other index."""
    if isinstance(item, ast.Slice):
        bounds = [None if part is None else _CONSTANTS.evaluate(part) for part in (item.lower, item.upper, item.step)]
        return slice(*bounds) if all(bound is None or type(bound) is int for bound in bounds) else UNKNOWN
    value = _CONSTANTS.evaluate(item)
    return value if value is None or value is Ellipsis or type(value) is int else UNKNOWN


def _unsqueeze(shape: list[int], at: ast.expr) -> list[int]:
    place = _CONSTANTS.evaluate(at)
    if type(place) is not int or not shape:
        return []
    place = place + len(shape) + 1 if place < 0 else place
    return [*shape[:place], 1, *shape[place:]]


def _broadcast(one: list[int], other: list[int]) -> list[int]:
    if not one or not other:
        return one or other
    try:
        return list(torch.broadcast_shapes(one, other))
    except RuntimeError:
        return []
