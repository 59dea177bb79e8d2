"""The counters of a loop beside its target: variables, attributes and items to which each pass adds, and lists that grow with each pass."""

import ast
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from ..process import objects
from ..source.names import name_of_call
from ..source.scope import UNKNOWN, Scope
from .reached import Body

_MOST_COUNTERS = 64
# A list that is made longer by more elements than this stays as it is.
_MOST_ELEMENTS = 1 << 20


class ClassNamespace:
    """The attributes of a class, whose dict Python does not let be changed."""

    # One of each class: counters are compared by the identity of their namespace.
    _known: ClassVar[dict[type, "ClassNamespace"]] = {}

    def __init__(self, kind: type) -> None:
        self._kind = kind

    @classmethod
    def of(cls, kind: type) -> "ClassNamespace":
        """The namespace of a class."""
        return cls._known.setdefault(kind, cls(kind))

    def get(self, name: str) -> object:
        """The value of an attribute of the class itself."""
        return objects.list_own(self._kind).get(name)

    def __setitem__(self, name: str, value: object) -> None:
        """Sets an attribute, without a function of the metaclass."""
        type.__setattr__(self._kind, name, value)


@dataclass
class Counter:
    """A counter outside the loop's own variables: `owner[key]`, in the object's own dict where it is an attribute."""

    owner: object
    namespace: dict | ClassNamespace
    key: object
    # The value at the begin of each pass.
    values: list[int] = field(default_factory=list)

    @property
    def place(self) -> tuple[int, object]:
        """The identity of the dict, and the key."""
        return id(self.namespace), self.key

    def read(self) -> None:
        """Notes the value."""
        value = self.namespace.get(self.key)
        self.values.append(value if type(value) is int else None)

    def add(self, number: int) -> None:
        """Adds to the value, unless the items that were made meanwhile have changed it, as those of a progress bar do."""
        if self.values and self.values[-1] is not None and self.namespace.get(self.key) == self.values[-1]:
            self.namespace[self.key] = self.values[-1] + number


class JobSteps:
    """The optimizer steps of the job: steps made, and steps of skipped passes."""

    def __init__(self, count: Callable[[], int], show: Callable[[int], object]) -> None:
        self._count = count
        self._show = show
        self._skipped = 0

    def counter(self) -> "StepCounter":
        """A counter for a run of a loop."""
        return StepCounter(self)

    def read(self) -> int:
        """The steps now."""
        return self._count() + self._skipped

    def skip(self, number: int) -> None:
        """Adds the steps of skipped passes."""
        self._skipped += number
        self._show(self._skipped)


class StepCounter(Counter):
    """The steps of the job, as a counter of a loop."""

    def __init__(self, steps: JobSteps) -> None:
        super().__init__(None, {}, "steps")
        self._steps = steps

    @property
    def place(self) -> tuple[int, object]:
        """One for all loops."""
        return 0, self.key

    def read(self) -> None:
        """Notes the steps."""
        self.values.append(self._steps.read())

    def add(self, number: int) -> None:
        """Adds the steps of skipped passes."""
        self._steps.skip(number)


@dataclass
class Grown:
    """A list to which a pass appends."""

    values: list
    lengths: list[int] = field(default_factory=list)

    def read(self) -> None:
        """Notes the length."""
        self.lengths.append(len(self.values))

    def repeat(self, number: int) -> None:
        """Appends the last element again, as often as elements are missing: a list of losses has its true length."""
        if self.values and 0 < number <= _MOST_ELEMENTS:
            self.values.extend(itertools.repeat(self.values[-1], number))


def find_counters(bodies: list[Body], names: list[str]) -> list[Counter]:
    """The counters that the code of a loop adds to or reads, but for the loop's own `names`."""
    found: dict[tuple[int, object], Counter] = {}
    for body in bodies:
        given = ((it, body.caller.scope) for it in body.arguments.values()) if body.caller is not None else ()
        for node, scope in (*((it, body.scope) for it in body.walk()), *given):
            target = _find_target(node)
            place = None if target is None else find_place(target, scope, names)
            if place is not None and len(found) < _MOST_COUNTERS:
                found.setdefault((id(place[1]), place[2]), Counter(*place))
    return list(found.values())


def _find_target(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Add, ast.Sub)):
        return node.target
    # A method may add to an attribute that is read here, as a progress bar's does.
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return node
    is_sum = isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, (ast.Add, ast.Sub))
    return node.targets[0] if is_sum and ast.unparse(node.value.left) == ast.unparse(node.targets[0]) else None


def find_place(target: ast.expr, scope: Scope, names: list[str]) -> tuple[object, dict | ClassNamespace, object] | None:
    """The owner, the namespace and the key of a counter: a global variable of another function, an attribute, an item of a dict."""
    if isinstance(target, ast.Name):
        is_global = target.id not in names and type(scope.namespace) is dict and type(scope.namespace.get(target.id)) is int
        return (None, scope.namespace, target.id) if is_global and scope.get(target.id) is scope.namespace[target.id] else None
    owner = scope.evaluate(target.value) if isinstance(target, (ast.Attribute, ast.Subscript)) else UNKNOWN
    if owner is UNKNOWN:
        return None
    if isinstance(target, ast.Attribute):
        own = ClassNamespace.of(owner) if objects.is_a(owner, type) else objects.list_own(owner)
        is_count = type(own) in (dict, ClassNamespace) and type(own.get(target.attr)) is int
        return (owner, own, target.attr) if is_count else None
    key = scope.evaluate(target.slice)
    is_item = type(owner) is dict and type(key) in (str, int) and type(owner.get(key)) is int
    return (owner, owner, key) if is_item else None


def find_lists(bodies: list[Body]) -> list[Grown]:
    """The lists of the program that the code of a loop appends to.

    One that the code makes anew in each pass does not grow; to hold it would keep its tensors alive until the next is full.
    """
    found: dict[int, Grown] = {}
    for body in bodies:
        nodes = list(body.walk())
        made = {ast.unparse(target) for node in nodes if isinstance(node, ast.Assign) for target in node.targets}
        for node in nodes:
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and name_of_call(node) in ("append", "extend")
            if is_call and ast.unparse(node.func.value) not in made:
                values = body.scope.evaluate(node.func.value)
                if type(values) is list:
                    found.setdefault(id(values), Grown(values))
    return list(found.values())


def difference(values: list, period: int) -> int | None:
    """By how much a value rises in `period` passes, if it rose as much in the two last periods; `values` ends with the present one."""
    if len(values) < 2 * period + 1:
        return None
    last, middle, first = values[-1], values[-1 - period], values[-1 - 2 * period]
    if None in (last, middle, first) or any(type(it) is not int for it in (last, middle, first)):
        return None
    return last - middle if last - middle == middle - first else None
