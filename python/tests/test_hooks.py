"""Replaced functions and layers, in a library made for the test: Note [Replacements] in `hooks`."""

import functools
import importlib
import inspect
import json
import sys
import types
import unittest
from unittest import mock

from oomph.agent.hooks import around, events, innermost, replacing, without
from oomph.agent.hooks.rows import remedies
from oomph.agent.hooks.table import ROWS, Row

from .support import needs_torch, run_program

_LIBRARY = "oomph_test_library"
# A compiled model, trained and then evaluated: the compiler is asked about the layers of a call.
_COMPILED = """
    import torch

    model = torch.nn.Linear(4, 2)
    compiled = torch.compile(model, backend="eager")
    for _ in range(2):
        compiled(torch.ones(3, 4)).sum().backward()
    model.eval()
    print(compiled(torch.ones(3, 4)).requires_grad)
"""


def _make_library() -> types.ModuleType:
    """A module of one function, under two names, and a class."""
    library = types.ModuleType(_LIBRARY)

    class Shop:
        """Methods of each kind, which return the arguments."""

        def sell(self, *goods):
            """A method."""
            return goods

        @staticmethod
        def open(*hours):
            """A static method."""
            return hours

        @classmethod
        def found(cls, *names):
            """A class method."""
            return cls.__name__, *names

    def double(number):
        return 2 * number

    library.Shop, library.double, library.twice = Shop, double, double
    return library


def _prefix(word: str):
    """A layer that puts a word before the arguments of a call without an object."""

    def layer(call, *args):
        return call(word, *args)

    return layer


class Layers(unittest.TestCase):
    """`around`, on names of the library."""

    def setUp(self):
        names = ("double", "Shop.sell", "Shop.open", "Shop.found", "absent", "Shop.absent")
        rows = {f"{_LIBRARY}:{name}": Row(f"{_LIBRARY}:{name}", (f"{_LIBRARY}:twice",) if name == "double" else (), {"test": ""}) for name in names}
        self.library = _make_library()
        for changed in (mock.patch.dict(ROWS, rows), mock.patch.dict(replacing.REPLACED), mock.patch.dict(sys.modules, {_LIBRARY: self.library})):
            changed.start()
            self.addCleanup(changed.stop)

    def put(self, name: str, layer) -> None:
        """Puts a layer around a name of the library."""
        around(f"{_LIBRARY}:{name}", layer)

    def test_a_later_layer_wraps_an_earlier_one(self):
        self.put("double", lambda call, number: call(number + 1))
        self.put("double", lambda call, number: 10 * call(number))
        # 10 · 2 · (3 + 1), under both names.
        self.assertEqual((self.library.double(3), self.library.twice(3)), (80, 80))

    def test_an_inner_layer_is_next_to_the_function(self):
        self.put("double", lambda call, number: 10 * call(number))
        around(f"{_LIBRARY}:double", lambda call, number: call(number + 1), is_inner=True)
        # 10 · (2 · (3 + 1)); the other order has 2 · (10 · 3 + 1).
        self.assertEqual(self.library.double(3), 80)
        around(f"{_LIBRARY}:double", lambda call, number: 100 + call(number), is_inner=True)
        self.assertEqual(self.library.double(3), 1080)

    def test_a_name_is_replaced_once(self):
        self.put("double", lambda call, number: call(number + 1))
        stand_in = self.library.double
        self.put("double", lambda call, number: call(number + 1))
        self.assertIs(self.library.double, stand_in)
        self.assertEqual(self.library.double(3), 10)

    def test_methods_stay_of_their_kind(self):
        shop = self.library.Shop()
        for name in ("sell", "open", "found"):
            self.put(f"Shop.{name}", lambda call, *args: call(*args, "more"))
        self.assertEqual((shop.sell(1), shop.open(1), self.library.Shop.open(1)), ((1, "more"),) * 3)
        self.assertEqual((shop.found("A"), self.library.Shop.found("A")), (("Shop", "A", "more"),) * 2)

    def test_a_removed_layer_is_gone(self):
        layer = _prefix("early")
        self.put("Shop.open", layer)
        self.put("Shop.open", _prefix("late"))
        self.assertEqual(self.library.Shop.open(), ("early", "late"))
        without(f"{_LIBRARY}:Shop.open", layer)
        self.assertEqual(self.library.Shop.open(), ("late",))

    def test_the_function_below_all_layers_is_found(self):
        original, found = self.library.double, []

        def layer(_argument, call, number):
            found.append(innermost(call))
            return call(number)

        # A partial function as a layer: an argument comes before the call.
        self.put("double", functools.partial(layer, "first"))
        self.put("double", functools.partial(layer, "second"))
        self.assertEqual(self.library.double(3), 6)
        self.assertEqual(found, [original, original])

    def test_the_parameters_are_those_of_the_original(self):
        self.put("double", lambda call, *args: call(*args))
        self.assertEqual(list(inspect.signature(self.library.double).parameters), ["number"])

    def test_names_that_the_library_lacks_are_passed_over(self):
        before = dict(vars(self.library))
        for name in ("absent", "Shop.absent"):
            self.put(name, _prefix("never"))
        self.assertEqual(vars(self.library), before)
        self.assertFalse(hasattr(self.library.Shop, "absent"))

    def test_events_come_before_and_after(self):
        order = []
        self.put("double", lambda _call, number: order.append("call") or number)
        self.put("double", events.before(lambda number: order.append(("before", number))))
        self.put("double", events.after(lambda number: order.append(("after", number))))
        self.assertEqual(self.library.double(3), 3)
        self.assertEqual(order, [("before", 3), "call", ("after", 3)])


@needs_torch
class Compiled(unittest.TestCase):
    """Layers in a program that PyTorch compiles."""

    def test_the_compiler_sees_the_function_alone(self):
        ran = run_program(_COMPILED, OOMPH_REMEDIES=json.dumps([{"remedy": "no-grad-in-eval"}]))
        self.assertEqual((ran.status, ran.stdout), (0, "False\n"), ran.stderr)


@needs_torch
class Rows(unittest.TestCase):
    """The names of the table, in the installed PyTorch."""

    def test_each_class_of_optimizers_and_schedulers_has_a_row(self):
        import torch
        from torch.optim import lr_scheduler

        made = _list_classes(torch.optim, torch.optim.Optimizer, "__init__")
        self.assertLessEqual(made - {"Optimizer"}, set(remedies.OPTIMIZERS))
        stepped = _list_classes(lr_scheduler, lr_scheduler.LRScheduler, "step")
        self.assertLessEqual(stepped - {"ReduceLROnPlateau"}, set(remedies.SCHEDULERS))

    def test_no_two_rows_name_the_same_attribute(self):
        named: dict[tuple[int, str], str] = {}
        for row in ROWS.values():
            if row.library == "torch":
                importlib.import_module(row.module)
                for name in (row.name, *row.aliases):
                    holder, attribute = replacing._find(name)
                    self.assertEqual(named.setdefault((id(holder), attribute), row.name), row.name)


def _list_classes(module: types.ModuleType, base: type, method: str) -> set[str]:
    """The names of the classes derived from `base` with a method of their own."""
    classes = (value for value in vars(module).values() if isinstance(value, type) and issubclass(value, base))
    return {value.__name__ for value in classes if method in vars(value)}


if __name__ == "__main__":
    unittest.main()
