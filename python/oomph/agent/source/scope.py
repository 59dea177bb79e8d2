"""The values of a program's expressions, without running any of its code.

Names are looked up in a running function and its module, attributes in an object's own `__dict__`. Arithmetic and comparisons are computed
for numbers and texts of Python's own types only: a subclass may compute in another way. All else is `UNKNOWN`. See Note [Foreign objects] in
`process.objects`.
"""

import ast
import builtins
import functools
import math
import operator
import sys
import types
from collections.abc import Callable, Collection

from ..process import local_variables, objects
from ..process.objects import Budget
from . import facts

_PLAIN = (int, float, str, bool, type(None))
_SEQUENCES = (list, tuple, range)
_SETS = (set, frozenset, dict)
_ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}
_COMPARED = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_}
_FUNCTIONS = (range, int, float, abs, min, max, round, bool, str, math.ceil, math.floor, math.sqrt)
# No counter of a training loop is larger, and `**` and `<<` of larger numbers take long.
_LARGEST = 1 << 62
# Longer texts are not computed with: `"a" * n` may be as long as the memory.
_LONGEST = 1 << 12
# The most elements of a container that are compared with a value.
_ELEMENTS = 1 << 12
# The dicts in which a module of PyTorch keeps attributes.
_PARTS = ("_parameters", "_buffers")


class Unknown:
    """The value of what cannot be evaluated."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()


class Scope:
    """The variables of a function, and their values as a walk through its source changes them; the running program's own stay as they are."""

    def __init__(self, read: Callable[[str], object], namespace: dict, budget: Budget | None = None, attributes: dict | None = None) -> None:
        self._read = read
        self.namespace = namespace
        # Shared by all walks of one program. Without a budget, the length of a source is the bound.
        self.budget = Budget(sys.maxsize) if budget is None else budget
        self._changed: dict[str, object] = {}
        # By object and name; shared by all scopes of a walk.
        self.attributes: dict[tuple[int, str], object] = {} if attributes is None else attributes

    @classmethod
    def of_frame(cls, frame: types.FrameType, budget: Budget | None = None) -> "Scope":
        """The scope of a running function, with each variable as it is when it is first read."""
        return cls(functools.cache(lambda name: local_variables.read(frame, name, UNKNOWN)), frame.f_globals, budget)

    @classmethod
    def of_module(cls, namespace: dict, budget: Budget | None = None) -> "Scope":
        """The scope of a module with these names."""
        return cls(lambda _name: UNKNOWN, namespace, budget)

    def of_call(self, function: types.FunctionType, arguments: dict[str, object]) -> "Scope":
        """The scope of a function that is called with these arguments."""
        free = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        own = {*function.__code__.co_varnames, *function.__code__.co_cellvars}

        def read(name: str) -> object:
            if name in arguments:
                return arguments[name]
            return _contents(free[name]) if name in free else UNKNOWN

        scope = type(self)(read, function.__globals__, self.budget, self.attributes)
        scope._changed.update({name: UNKNOWN for name in own if name not in arguments})
        return scope

    def get(self, name: str) -> object:
        """The value of a name."""
        if name in self._changed:
            return self._changed[name]
        found = self._read(name)
        if found is UNKNOWN:
            # The namespace of `exec` may be of a subclass of `dict`.
            found = dict.get(self.namespace, name, vars(builtins).get(name, UNKNOWN))
        return found

    def set(self, name: str, value: object) -> None:
        """Changes a variable, for the walk only."""
        self._changed[name] = value

    def evaluate(self, node: ast.expr) -> object:
        """The value of an expression; `UNKNOWN` if the value is not sure. Raises `Spent`."""
        try:
            return self._evaluate(node)
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError):
            return UNKNOWN

    def read(self, text: str) -> object:
        """The value of an expression in a text, such as `self.batch`."""
        return self.evaluate(ast.parse(text, mode="eval").body)

    def _evaluate(self, node: ast.expr) -> object:
        self.budget.spend()
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.get(node.id)
        if isinstance(node, ast.Attribute):
            return self._attribute(self._evaluate(node.value), node.attr)
        if isinstance(node, (ast.Tuple, ast.List)):
            return tuple(self._evaluate(part) for part in node.elts)
        if isinstance(node, ast.Subscript):
            return self._item(self._evaluate(node.value), self._evaluate(node.slice))
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.IfExp):
            test = truth(self._evaluate(node.test))
            return UNKNOWN if test is None else self._evaluate(node.body if test else node.orelse)
        return self._operation(node)

    def _operation(self, node: ast.expr) -> object:
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            return _compute(_ARITHMETIC[type(node.op)], self._evaluate(node.left), self._evaluate(node.right))
        if isinstance(node, ast.UnaryOp):
            return _compute(_UNARY[type(node.op)], self._evaluate(node.operand))
        if isinstance(node, ast.BoolOp):
            return self._bool(node)
        if isinstance(node, ast.Compare):
            return self._compare(node)
        return UNKNOWN

    def _bool(self, node: ast.BoolOp) -> object:
        """`and` and `or` are known from the one operand that decides."""
        is_and, has_unknown = isinstance(node.op, ast.And), False
        value: object = UNKNOWN
        for part in node.values:
            value = self._evaluate(part)
            holds = truth(value)
            if holds is None:
                has_unknown = True
            elif holds != is_and:
                return value
        return UNKNOWN if has_unknown else value

    def _compare(self, node: ast.Compare) -> object:
        left = self._evaluate(node.left)
        for how, right_node in zip(node.ops, node.comparators):
            right = self._evaluate(right_node)
            holds = _compute_comparison(how, left, right)
            if holds is UNKNOWN or not holds:
                return holds
            left = right
        return True

    def _attribute(self, owner: object, name: str) -> object:
        if owner is UNKNOWN:
            return UNKNOWN
        if (id(owner), name) in self.attributes:
            return self.attributes[id(owner), name]
        own = objects.list_own(owner)
        if name in own and type(own[name]) not in (staticmethod, classmethod, property):
            return own[name]
        if objects.is_a(owner, type) and type(inherited := objects.find_in_bases(owner, name)) in (staticmethod, classmethod):
            return inherited.__func__ if type(inherited) is staticmethod else types.MethodType(inherited.__func__, owner)
        parts = [part for it in _PARTS if type(part := own.get(it)) is dict and name in part]
        if parts:
            return parts[0][name]
        found = objects.find_in_class(owner, name, UNKNOWN)
        if type(found) is types.FunctionType:
            return types.MethodType(found, owner)
        if type(found) is staticmethod:
            return found.__func__
        if type(found) is classmethod:
            return types.MethodType(found.__func__, type(owner))
        if type(found) in _PLAIN:
            return found
        fact = facts.read_attribute(owner, name)
        return UNKNOWN if fact is facts.NO_FACT else fact

    def set_attribute(self, owner: object, name: str, value: object) -> None:
        """Changes an attribute, for the walk only."""
        if owner is not UNKNOWN:
            self.attributes[id(owner), name] = value

    def _item(self, owner: object, index: object) -> object:
        if type(owner) in _SEQUENCES and type(index) is int:
            return owner[index]
        # A key of the program's may have an `__eq__` of its own.
        is_plain = type(owner) is dict and type(index) in _PLAIN and _are_plain(owner)
        return owner[index] if is_plain else UNKNOWN

    def _call(self, node: ast.Call) -> object:
        if node.keywords:
            return UNKNOWN
        arguments = [self._evaluate(argument) for argument in node.args]
        fact = self._fact(node, arguments)
        if fact is not facts.NO_FACT:
            return fact
        function = self._evaluate(node.func)
        if function is UNKNOWN:
            return UNKNOWN
        if function is len and len(arguments) == 1:
            return self.length(arguments[0])
        is_known = any(function is known for known in _FUNCTIONS)
        return function(*arguments) if is_known and all(map(_is_small, arguments)) else UNKNOWN

    def _fact(self, node: ast.Call, arguments: list[object]) -> object:
        if any(it is UNKNOWN for it in arguments):
            return facts.NO_FACT
        if isinstance(node.func, ast.Attribute):
            owner = self._evaluate(node.func.value)
            return facts.NO_FACT if owner is UNKNOWN else facts.call_method(owner, node.func.attr, arguments)
        return facts.call_builtin(self._evaluate(node.func), arguments)

    def length(self, value: object) -> object:
        """The length of a container of Python's; other classes' code is not run."""
        return len(value) if type(value) in (*_SEQUENCES, *_SETS, str) else UNKNOWN


def _contents(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return UNKNOWN


def _is_small(value: object) -> bool:
    """True for a number or a text with which a computation takes no time."""
    if type(value) is int:
        return abs(value) <= _LARGEST
    return type(value) in _PLAIN and (type(value) is not str or len(value) <= _LONGEST)


def _are_plain(values: Collection) -> bool:
    """True if a container has few elements, none of them of the program's own classes."""
    return len(values) <= _ELEMENTS and all(type(it) in _PLAIN for it in values)


def _compute(function: Callable, *operands: object) -> object:
    if not all(map(_is_small, operands)):
        return UNKNOWN
    # `"%1000000000d" % 1`, `"a" * n`.
    if function in (operator.mul, operator.mod) and any(type(it) is str for it in operands):
        return UNKNOWN
    if function is operator.lshift and operands[1] > 64:
        return UNKNOWN
    return function(*operands)


def _compute_comparison(how: ast.cmpop, left: object, right: object) -> object:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(how, (ast.Is, ast.IsNot)):
        return _COMPARED[type(how)](left, right)
    if isinstance(how, (ast.In, ast.NotIn)):
        return _COMPARED[type(how)](left, right) if _is_searched(left, right) else UNKNOWN
    return _compute(_COMPARED[type(how)], left, right)


def _is_searched(left: object, right: object) -> bool:
    """True if `left in right` runs no code of the program's, and takes no time."""
    if type(right) is range:
        # Any other type is compared with each number.
        return type(left) is int
    if type(right) is str:
        return type(left) is str and _is_small(left) and _is_small(right)
    return type(left) in _PLAIN and type(right) in (list, tuple, *_SETS) and _are_plain(right)


def truth(value: object) -> bool | None:
    """The value as a condition, if its truth is known without a `__bool__` of the program's; else `None`."""
    return bool(value) if type(value) in (*_PLAIN, *_SEQUENCES, *_SETS) else None
