"""Hostile programs: every search through their sources, objects and graphs ends, and runs none of their code."""

import ast
import enum
import gc
import sys
import types
import unittest
from unittest import mock

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

from oomph.agent.ahead import look as look_module
from oomph.agent.ahead import samples
from oomph.agent.memory import census, handlers, keepers, leftovers, living, operation
from oomph.agent.position.modules import Modules, list_modules, own_tensors
from oomph.agent.process import objects
from oomph.agent.process.objects import Budget, Spent
from oomph.agent.source import scope, trees

from .test_ahead import look_ahead


class Trap:
    """Counts each call of its own code, and never returns a sound answer."""

    __slots__ = ("calls",)

    def __init__(self, calls):
        object.__setattr__(self, "calls", calls)

    def __getattr__(self, name):
        self.calls.append(name)
        return self

    @property
    def __class__(self):
        object.__getattribute__(self, "calls").append("__class__")
        return int

    def __call__(self, *_arguments):
        self.calls.append("__call__")
        return self

    def __len__(self):
        self.calls.append("__len__")
        return 10**18

    def __iter__(self):
        self.calls.append("__iter__")
        while True:
            yield self

    def __bool__(self):
        self.calls.append("__bool__")
        return True

    def __eq__(self, other):
        self.calls.append("__eq__")
        return True

    def __hash__(self):
        return hash(1)

    def __getitem__(self, index):
        self.calls.append("__getitem__")
        return self

    def __repr__(self):
        self.calls.append("__repr__")
        return "trap"

    def __index__(self):
        self.calls.append("__index__")
        return 1


class Number(int):
    """A number that computes in its own way."""

    def __add__(self, other):
        raise AssertionError

    __radd__ = __mul__ = __rmul__ = __lt__ = __gt__ = __eq__ = __add__
    __hash__ = int.__hash__


class Level(enum.IntEnum):
    """A number of the program's with a class of Python's."""

    LOW = 1


class Unending(Dataset):
    """A dataset that never answers; `at` is the function that does not return."""

    def __init__(self, at):
        self.at = at

    def __len__(self):
        while self.at == "len":
            pass
        return 10**18

    def __getitem__(self, index):
        while self.at == "item":
            try:
                index += 1
            except Exception:
                continue
        return torch.zeros(2)


def nest(source, depth):
    """A source with a function for each level, which calls the next level fifty times."""
    calls = "\n".join(f"def f{i}():\n" + f"    f{i + 1}()\n" * 50 for i in range(depth))
    return calls + f"\ndef f{depth}():\n    print()\n" + source


class LookTest(unittest.TestCase):
    def look(self, source, **names):
        ahead = look_ahead(source, **names)
        return [(item.reason, item.line) for item in ahead.items], ahead.count_steps(3)

    def test_loops_without_a_known_end(self):
        more = "def more():\n    return True\n"
        for source in (
            more + "while more():\n    step()\n",
            more + "while more():\n    step()\n    pass\n",
            "while True:\n    step()\n",
            "import itertools\nfor _ in itertools.count():\n    step()\n",
            "while not False:\n    while True:\n        step()\n",
            more + "while more() and more():\n    x = 1\n    step()\n",
            more + "while (n := more()):\n    step()\n    n = more()\n",
            "i = 0\nwhile i >= 0:\n    i += 1\n    step()\n",
            "x = 'a'\nwhile x:\n    x = x + x if len(x) < 99 else x\n    step()\n",
            "def batches():\n    while True:\n        yield 1\nfor batch in iter(range(100)):\n    step()\n",
        ):
            items, _ = self.look(source)
            self.assertEqual(items, [], source)

    def test_the_work_behind_an_endless_loop_is_still_named(self):
        source = "def more():\n    return True\ndef big():\n    torch.zeros(9)\nwhile more():\n    step()\n    if more():\n        big()\n"
        self.assertEqual(self.look(source)[0], [("unrun", 8)])

    def test_numbers_without_a_bound(self):
        for source, total in (
            ("for a in range(HUGE):\n    for b in range(HUGE):\n        step()\n".replace("HUGE", "1" + "0" * 30), None),
            ("for a in range(1 << 40):\n    for b in range(1 << 40):\n        step()\n", None),
            ("for i in range(1000000000000):\n    i = 0.5\n    step()\n", 10**12),
            ("for i in range(1000000000000):\n    i = 'text'\n    step()\n", 10**12),
            ("for i, x in enumerate(range(1000000000000)):\n    i = 1000000000000000\n    step()\n", None),
            ("for i, x in enumerate(range(9)):\n    i = -10**15\n    step()\n", 9),
            ("for i in range(9):\n    if i == 7 and 0.5 in range(1000000000000):\n        pass\n    step()\n", 9),
            ("for i in range(9):\n    step()\n    if i == 7:\n        x = 'a' * (1 << 40)\n        y = '%1000000000d' % 1\n", 9),
            ("for i in range(9):\n    1 << (1 << 40) if i == 99 else 0\n    step()\n", 9),
            ("x = list(range(10**6))\nfor i in x:\n    if i in x:\n        pass\n    step()\n", 10**6),
        ):
            items, found = self.look(source)
            self.assertEqual([it for it in items if it[0] != "larger"], [], source)
            if total is not None:
                self.assertEqual(found, total, source)

    def test_no_code_of_the_program_runs(self):
        for source in (
            "for i in range(9):\n    if trap.flag:\n        pass\n    step()\n",
            "for i in range(9):\n    if trap == 1 or trap in [trap, 1]:\n        pass\n    step()\n",
            "for i in range(9):\n    {trap: 1}.get(1)\n    table[1]\n    step()\n",
            "for i in range(9):\n    if table[1] or 1 in table:\n        pass\n    step()\n",
            "for i in range(9):\n    step()\n    trap.a.b.c(trap)(1)[2]\n",
            "for i in range(9):\n    step()\n    if maybe():\n        len(trap), int(trap), max(trap), trap + 1, -trap\n",
            "for i in range(9):\n    step()\n    if maybe():\n        for x in trap:\n            pass\n",
            "for i in range(9):\n    step()\n    if maybe():\n        x[trap:trap], [trap][0], (trap, trap)[trap]\n",
            "while trap:\n    step()\n",
            "for i in trap:\n    step()\n",
            "for i, x in zip(range(9), trap):\n    step()\n",
            "for i in range(9):\n    step()\n    if maybe() and (number + 1 > 3 or number == 1 or level == 1):\n        pass\n",
            "for i in range(9):\n    step()\n    lazy.anything\n    lazy.function(1)\n",
            "for i in range(9):\n    step()\n    holder.x\n    holder.y()\n",
        ):
            calls = []
            lazy = types.ModuleType("lazy")
            lazy.__getattr__ = lambda name, calls=calls: calls.append(name) or print

            class Holder:
                x = property(lambda self, calls=calls: calls.append("x"))

                def y(self):
                    return None

                def __getattribute__(self, name, calls=calls):
                    calls.append(name)
                    return object.__getattribute__(self, name)

            trap = Trap(calls)
            ended = types.SimpleNamespace(before=None)

            names = {"trap": trap, "lazy": lazy, "holder": Holder(), "maybe": lambda: False, "number": Number(1), "level": Level.LOW, "x": [1], "table": {trap: 1, 2: 3}}
            look = look_module.look

            def watched(frame, steps, calls=calls, ended=ended):
                calls.clear()
                found = look(frame, steps)
                ended.before = list(calls)
                return found

            with mock.patch("tests.test_ahead.look", watched):
                look_ahead(source, **names)
            self.assertEqual(ended.before, [], source)

    def test_a_generator_is_not_read(self):
        read = []

        def batches():
            for number in range(5):
                read.append(number)
                yield number

        look_ahead("for batch in batches:\n    step()\n", batches=batches())
        self.assertEqual(read, [0, 1, 2])

    def test_a_dataset_that_never_answers(self):
        for at in ("len", "item"):
            loader = DataLoader(Unending(""))
            loader.dataset.at = at
            self.assertEqual(samples.count_batches(loader), None if at == "len" else 10**18)
            self.assertFalse(samples.are_alike(loader))

    def test_a_dataset_inside_itself(self):
        inside = Subset([1], [0])
        inside.dataset = inside
        self.assertFalse(samples.are_alike(DataLoader(inside)))

    def test_objects_inside_themselves(self):
        for make in ("x = []\nx.append(x)\n", "x = {}\nx[1] = x\nx = [x, x]\n", "x = []\nfor _ in range(40):\n    x = [x, x]\n", "x = None\nfor _ in range(10**6):\n    x = (x,)\n"):
            items, _ = self.look(make + "for i in range(9):\n    for y in x:\n        x[0]\n    step()\n")
            self.assertNotIn("unread", [it[0] for it in items], make)

    def test_the_source_that_was_not_read_is_named(self):
        behind = "print()\n" * 50_000 + "torch.zeros(9)\n"
        items, total = self.look("for i in range(9):\n    step()\n" + behind)
        self.assertEqual((items, total), ([("unread", 3 + look_module.STATEMENTS_ONCE - 1)], 9))
        with mock.patch.object(look_module, "_NODES", 50_000):
            items, _ = self.look(nest("for i in range(9):\n    step()\n    if i == 7:\n        f0()\n", 6))
        self.assertEqual([it[0] for it in items], ["unread"])
        with mock.patch.object(trees, "_LONGEST", 1_000):
            items, _ = self.look("x = [" + "0, " * 1_000 + "]\nfor i in range(9):\n    step()\n")
        self.assertEqual(items, [("unread", 3)])

    def test_a_call_that_is_read_behind_a_long_source_is_named(self):
        items, _ = self.look("for i in range(9):\n    step()\n" + "print()\n" * 5_000 + "model(torch.zeros(9))\n", model=nn.Linear(1, 1))
        self.assertEqual(items, [("unrun", 5_003)])

    def test_expressions_that_are_nested_deeply(self):
        for body in (
            "x = " + "+".join(["1"] * 2_000),
            "x = " + "-" * 900 + "1",
            "x = x" + ".real" * 900,
            "x = x" + ".abs()" * 400,
            "x = " + "(" * 150 + "1" + ")" * 150,
            "x = " + "[" * 90 + "1" + "]" * 90,
            "x = 1 " + "if x is not None else 1 " * 60,
        ):
            items, _ = self.look(f"x = torch.zeros(())\nfor i in range(9):\n    {body}\n    step()\n    x = torch.zeros(())\n")
            self.assertLessEqual({it[0] for it in items}, {"unread"}, body[:40])

    def test_recursion(self):
        items, _ = self.look("def f(n):\n    step()\n    f(n + 1)\nf(0)\n")
        self.assertNotIn("unread", [it[0] for it in items])
        source = "import sys\nsys.setrecursionlimit(10**6)\ndef g(n):\n    if n:\n        g(n - 1)\n    else:\n        for i in range(9):\n            step()\ng(5000)\n"
        self.assertEqual(self.look(source)[0], [("unread", 5)])


class ObjectsTest(unittest.TestCase):
    def test_attributes_are_read_without_the_code_of_the_class(self):
        calls = []
        trap = Trap(calls)

        class Computed:
            __dict__ = property(lambda self: calls.append("__dict__"))

        class Slots:
            __slots__ = ("a", "b")

        slots = Slots()
        slots.a = 1
        plain = types.SimpleNamespace(a=2)
        for value, name, expected in ((slots, "a", 1), (slots, "b", None), (plain, "a", 2), (Computed(), "a", None), (trap, "a", None)):
            self.assertEqual(objects.read(value, name), expected)
        self.assertFalse(objects.is_a(trap, int))
        self.assertEqual(objects.list_items(Endless([1, 2, 3]), 2), [1, 2])
        self.assertEqual(objects.list_items(trap, 2), [])
        self.assertEqual(calls, [])

    def test_a_budget_ends(self):
        budget = Budget(2)
        self.assertTrue(budget.has() and budget.has())
        self.assertFalse(budget.has())
        with self.assertRaises(Spent):
            budget.spend()

    def test_only_regular_files_of_a_bounded_length_are_read(self):
        for file in ("/dev/zero", "/dev/random", "/proc", "\0", ""):
            self.assertEqual(trees.read_lines(file), [])
            self.assertIsNone(trees.parse(file, {}))
        self.assertIsNone(trees.parse_text("x\n" * 3_000_000))
        self.assertIsNone(trees.parse_text("(" * 3_000 + ")" * 3_000))
        self.assertIsNone(trees.parse_script("/dev/zero"))


class Endless(list):
    """A list that never ends when it is iterated."""

    def __iter__(self):
        while True:
            yield 1


def storages(category, tensor, _depth=0):
    """As of a device, for tensors of the CPU."""
    yield category, 0, tensor.untyped_storage().data_ptr(), tensor.untyped_storage().nbytes()


class MemoryTest(unittest.TestCase):
    def setUp(self):
        for module in (leftovers, census):
            patch = mock.patch.object(module, "storages_of", storages)
            patch.start()
            self.addCleanup(patch.stop)
        patch = mock.patch.object(living, "_addresses", lambda tensor: [tensor.data_ptr()])
        patch.start()
        self.addCleanup(patch.stop)

    def sizes(self, value):
        return leftovers.Search(Budget(200_000), Budget(200_000)).sum_sizes(value)

    def test_values_of_any_form_are_searched(self):
        calls = []
        kept = torch.zeros(8)
        cyclic = [kept]
        cyclic.append(cyclic)
        shared = [[[kept] * 1000] * 1000] * 1000
        chain = None
        for _ in range(10**5):
            chain = types.SimpleNamespace(next=chain)
        for value in (cyclic, {1: cyclic}, shared, [Trap(calls), kept], types.SimpleNamespace(trap=Trap(calls), kept=kept)):
            self.assertEqual(list(self.sizes(value).values()), [32], type(value))
        for value in (chain, Trap(calls), Endless([1]), (it for it in [kept]), types.ModuleType("m"), Trap):
            self.assertEqual(self.sizes(value), {})
        self.assertEqual(calls, [])

    def test_graphs_are_searched_once(self):
        weight = torch.zeros(4, requires_grad=True)
        loss, losses = weight.sum(), []
        for _ in range(2_000):
            loss = loss + 1
            losses.append(loss)
        visits = Budget(10_000)
        leftovers.Search(Budget(10_000), visits).sum_sizes(losses[:1000])
        self.assertTrue(visits.has(5_000))
        for _ in range(100_000):
            loss = loss + 1
        self.assertIn((0, weight.data_ptr()), self.sizes([losses[0], loss]))

    def test_a_function_of_the_program_may_have_an_attribute_named_variable(self):
        class Odd(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.variable = 3
                return x.clone()

            @staticmethod
            def backward(ctx, gradient):
                return gradient

        weight = torch.zeros(4, requires_grad=True)
        self.assertEqual(len(self.sizes(Odd.apply(weight))), 2)

    def test_many_tensors_in_many_containers(self):
        rows = [{"x": torch.zeros(1)} for _ in range(20_000)]
        found = list(keepers.list_keepers(lambda tensor: {tensor.data_ptr(): 4}))
        self.assertTrue(any(row["name"] == "rows" for row in found), found)
        del rows

    def test_a_state_inside_itself(self):
        state = {"step": torch.zeros(1), "other": [torch.zeros(2)]}
        state["self"] = state
        tensors = {id(it) for it in census._tensors_in(state)}
        self.assertEqual(len(tensors), 2)
        self.assertEqual(list(census._tensors_in(Trap([]))), [])
        self.assertEqual(len(list(census._tensors_in(Endless([torch.zeros(1)])))), 1)

    def test_modules_are_listed_without_their_own_functions(self):
        class Odd(nn.Module):
            def named_modules(self, *arguments, **options):
                raise AssertionError

            modules = parameters = named_parameters = children = named_modules

            def __getattr__(self, name):
                raise AssertionError(name)

        odd = Odd()
        vars(odd)["_modules"]["inner"] = nn.Linear(1, 1)
        vars(odd)["_modules"]["none"] = None
        vars(odd)["_modules"]["inner"].add_module("again", odd)
        self.assertEqual([name for name, _ in list_modules(odd)], ["", "inner"])
        self.assertEqual([category for category, _ in own_tensors([odd])], ["parameter"] * 2)
        marks = mock.Mock()
        Modules(marks, first_forward=lambda _root: None).add_root(odd)
        plain = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.ReLU(), nn.Linear(1, 1)))
        plain.add_module("shared", plain[1][1])
        self.assertEqual(list(list_modules(plain)), list(plain.named_modules()))
        script = torch.jit.script(nn.Sequential(nn.Linear(1, 1)))
        self.assertEqual(len(list(own_tensors([script]))), 2)

    def test_the_handler_is_found_without_the_code_of_its_classes(self):
        calls = []

        class Kind(type):
            def __subclasscheck__(cls, other):
                calls.append(other)
                return True

            def __getattr__(cls, name):
                calls.append(name)
                return lambda *_: True

        class Odd(Exception, metaclass=Kind):
            pass

        trap = Trap(calls)
        manager = Trap(calls)
        here = scope.Scope.of_frame(sys._getframe())
        kind, named, summed = (ast.parse(text, mode="eval").body for text in ("Odd", "manager", "trap.a.b + trap"))
        self.assertFalse(handlers._catches(kind, here, RuntimeError))
        self.assertFalse(handlers._swallows(named, here) or handlers._swallows(kind, here))
        self.assertEqual(operation._infer(summed, here), [])
        self.assertEqual(calls, [])
        del trap, manager, Odd, here

    def test_errors_without_number_are_searched(self):
        errors = []
        for _ in range(3_000):
            try:
                raise ValueError
            except ValueError as error:
                errors.append(error)
        found = list(living.Living(mock.Mock(calls=[]), mock.Mock()).list_held())
        self.assertLessEqual(len(found), 1_001)
        del errors
        gc.collect()
