"""Shortened loops: a changed source does the same, and every pass with a difference runs."""

import ast
import copy
import sys
import tempfile
import unittest
from pathlib import Path

from oomph.agent.life import calls, rewriting
from oomph.agent.life.items import open_items
from oomph.agent.life.passes import Control
from oomph.agent.life.signature import Pass, Reading, find_period

# Sources, each with a result in `found`.
SAME = (
    "found = [i for i in range(3)]\nfor i in range(4):\n    found.append(str(i))\n",
    "found, step = [], 0\nwhile step < 5:\n    step += 1\n    if step == 3: continue\n    found.append(abs(step))\nelse:\n    found.append('end')\n",
    "found = []\nfor i, x in enumerate('abc', 2):\n    found.append(str(i) + x)\n    if i == 3: break\nelse:\n    found.append('never')\n",
    "def f():\n    n = 0\n    for x in (1, 2, 3):\n        n += x\n        print(end='')\n    return n\nfound = f()\n",
    "n = 0\ndef f():\n    global n\n    for x in range(3):\n        n += int(x)\nf()\nfound = n\n",
    "def f():\n    n = 0\n    def g():\n        nonlocal n\n        for x in range(3):\n            n += int(x)\n    g()\n    return n\nfound = f()\n",
    "found = []\nfor x in iter([1, 2]):\n    for y in zip('ab', 'cd'):\n        found.append((x, *y))\n",
    "found = []\ndef f(x):\n    for y in range(x):\n        found.append(y)\n        f(y)\nf(4)\n",
    "found, it = [], iter('abc')\nwhile (x := next(it, None)) is not None:\n    found.append(str(x))\n",
    "found, it = [], iter('abcd')\nwhile True:\n    try:\n        found.append(next(it) + next(it))\n    except StopIteration:\n        break\n",
    "found = []\nwhile True:\n    found.append(len(found))\n    if len(found) > 3: break\n",
    "from __future__ import annotations\nfound = 0\nfor i in range(3):\n    found += int(i)\n",
    "found = 0\nfor i in range(3):\n    try:\n        found += 1 // i\n    except ZeroDivisionError:\n        found += int(10)\n",
    "found = sum(1 for _ in range(3))\nmatch found:\n    case 3:\n        for i in range(2):\n            found += int(i)\n",
    "class A:\n    n = 0\n    for i in range(3):\n        n += int(i)\nfound = A.n\n",
    "def g():\n    for i in range(3):\n        yield int(i)\nfound = list(g())\n",
)
# Sources with calls of `train()` for a step, `keep()` for lasting memory, and `note(...)`; values among the noted, and the most noted
# values.
SHORT = (
    ("for i in range(1000):\n    train()\n    note(i)\n", [0, 1, 2, 999], 8),
    ("for i in range(1000):\n    train()\n    if i % 300 == 0: keep(); note(i)\n", [300, 600, 900], 8),
    ("n = 0\nwhile n < 1000:\n    train()\n    n += 1\n    if n == 500: note(n)\nnote(n)\n", [500, 1000], 2),
    ("n = 0\nfor epoch in range(50):\n    for i in range(100):\n        train()\n        n += 1\n        if n == 2345: note((epoch, i, n))\nnote(n)\n", [(23, 44, 2345), 5000], 2),
    ("losses = []\nfor i in range(1000):\n    train()\n    losses.append(i)\nnote(len(losses))\n", [1000], 1),
    ("class T:\n    step = 0\n    def go(self):\n        for _ in range(1000):\n            self.one()\n    def one(self):\n        train()\n        self.step += 1\n"
     "        if self.step == 700: note(self.step)\nt = T()\nt.step = 0\nt.go()\nnote(t.step)\n", [700, 1000], 2),
    ("state = {'n': 0}\nfor i in range(1000):\n    train()\n    state['n'] += 1\n    if state['n'] in (250, 750): note(state['n'])\nnote(state['n'])\n", [250, 1000], 2),
    ("size = 1\nfor i in range(1000):\n    if i in (250, 500, 750): size *= 2; note(i)\n    train(size)\nnote(size)\n", [250, 500, 750, 8], 4),
    ("actions = {100: lambda i: note(i)}\nfor i in range(1000):\n    train()\n    action = actions.get(i)\n    if action is not None: action(i)\n", [100], 1),
    ("def due(i): return i > 0 and i % 400 == 0\nfor i in range(1000):\n    train()\n    if due(i): note(i)\n", [400], 2),
    ("for size in [64] * 500 + [128] * 500:\n    train(size)\n    note(size)\n", [64, 128], 10),
    ("for i in range(1000):\n    train()\n    size = 8 if i < 600 else 16\n    note(size)\n", [8, 16], 10),
    ("i = 0\nwhile True:\n    train()\n    i += 1\n    if i >= 800: break\nnote(i)\n", [800], 1),
    ("for i in range(1000):\n    work()\n    if (i + 1) % 100 == 0: step()\n    if i == 950: note(i)\n", [950], 1),
    ("def go():\n    total = 0\n    for i in range(1000):\n        total += 2\n        train()\n    return total\nnote(go())\n", [2000], 1),
    ("from itertools import product\nfor n, (a, b) in enumerate(product(range(4), range(200))):\n    train()\n    if b == 0 and a > 0: note((n, a, b))\n", [(200, 1, 0), (400, 2, 0), (600, 3, 0)], 3),
    ("n = 0\nfor i in range(1000):\n    work()\n    if (i + 1) % 4 == 0:\n        step()\n        n += 1\n        if n % 100 == 0: note((i, n))\nnote(n)\n", [(399, 100), 250], 8),
    ("def weight(i): return max(0, i - 799) / 800\nfor i in range(1600):\n    train()\n    if (w := weight(i)) > 0: note(i)\n", [800], 8),
    ("i = 0\nwhile i < 1000:\n    first = next(iter([1, 2, 3]))\n    train()\n    i += 1\n    if i == 700: note(i)\nnote(i)\n", [700, 1000], 2),
    ("def bad():\n    yield from [1] * 500\n    raise ValueError\ntry:\n    for n, x in enumerate(bad()):\n        train()\nexcept ValueError:\n    note(n)\n", [499], 1),
    ("class Clock:\n    now = 0\n    def __iter__(self): return self\n    def __next__(self):\n        if self.now >= 900: raise StopIteration\n        self.now += 1\n        return self.now\n"
     "clock = Clock()\nclock.now = 0\nfor _ in clock:\n    train()\n    if clock.now == 400: note(clock.now)\nnote(clock.now)\n", [400, 900], 3),
    ("dry = False\nfor i in range(1000):\n    train()\n    if i % 10 == 0:\n        note(i)\n        if dry: break\n", [10], 4),
    ("for i in range(1000):\n    train()\n    if i % 10 == 0:\n        if i > 600: break\nnote(i)\n", [610], 1),
    ("for i in range(1000):\n    train()\n    str(100.0 * i / len('abc'))\n    note(i)\n", [999], 9),
    ("plan, rows = {0: 1, 500: 2, 800: 3}, 1\nfor i in range(1000):\n    rows = plan.get(i, rows)\n    train(rows)\n    if rows > 1: note(i)\n", [500, 800], 20),
    ("kept = 0\nfor i in range(1000):\n    train()\n    if kept: keep(); kept = 0\n    if i % 200 == 100: kept = 1; note(i)\n", [100, 300, 500, 700, 900], 5),
    ("for a, b in zip(range(500), range(500)):\n    train()\n    if a == 400: note(b)\n", [400], 1),
    ("it = iter(['x'] * 500 + ['x' * 9] + ['x'] * 20)\nwhile (a := next(it, None)) is not None:\n    train(len(a))\n    note(len(a))\nnote('end')\n", [9, 'end'], 20),
    ("n, it = 0, iter([1] * 300)\nwhile n < 1000:\n    try:\n        next(it)\n    except StopIteration:\n        it = iter([1] * 300)\n        next(it)\n"
     "    train()\n    n += 1\nnote(n)\n", [1000], 1),
    ("for i, a in enumerate(iter(['x'] * 500)):\n    train()\n    note(i)\n", [499], 10),
    ("for i in range(1000):\n    train()\n    if i % 10 == 0: str('pic_%d' % i)\n    note(i)\n", [10, 999], 20),
    ("def rows(i): return 2 ** (i // 400)\nfor i in range(1000):\n    train(rows(i))\n    if rows(i) > 1: note(i)\n", [400, 800], 20),
    ("table = {0: 1, 300: 2, 700: 3}\ndef rows(i): return table[max(it for it in table if it <= i)]\nfor i in range(1000):\n    n = rows(i)\n    train(n)\n    note(i)\n", [300, 700, 999], 20),
    ("def rows(i):\n    if i < 300:\n        return 1\n    part = i // 100\n    if part < 7: return 2\n    return 3\nfor i in range(1000):\n    train(rows(i))\n    note(i)\n", [300, 700, 999], 30),
    ("class T:\n    most = 1000\n    @property\n    def start(self): return int(self.most * 0.6)\n    def run(self):\n        for i in range(self.most):\n            train()\n"
     "            if i >= self.start: note(i)\nT().run()\n", [600, 999], 9),
    ("def f(top=None):\n    if top is not None: note(-1)\n    train()\nfor i in range(1000):\n    f()\n    note(i)\n", [999], 9),
    ("import os\nfor i in range(1000):\n    train()\n    if os.environ.get('NOT_THERE') is not None: keep()\n    elif hasattr(os, 'nothing'): keep()\n    note(i)\n", [999], 9),
    ("def steps():\n    n = 0\n    while True:\n        yield n\n        n += 1\nit, now = steps(), 0\nnow = it.send(None)\nwhile now < 900:\n    now = it.send(None)\n    train()\n"
     "    if now % 300 == 0: keep(); note(now)\n", [300, 600, 900], 3),
    ("class Monitor:\n    asked = 0\n    def __init__(self): self.asked = 0\n    def __bool__(self):\n        self.asked += 1\n        if self.asked % 180: return False\n        note(self.asked)\n"
     "        return False\nmonitor = Monitor()\nfor i in range(400):\n    train()\n    if monitor: str()\n", [180], 2),
    ("class Made(dict):\n    def __missing__(self, key):\n        self[key] = key\n        note(key)\n        return key\nmade = Made()\nfor i in range(350):\n    train()\n"
     "    made[1500 + 100 * (i // 70)]\n", [1500, 1600, 1700, 1800, 1900], 5),
    ("class Valve:\n    calls = 0\n    @staticmethod\n    def turn():\n        Valve.calls += 1\n        if Valve.calls % 25_000 == 0: note(Valve.calls)\nfor i in range(60_000):\n    train()\n"
     "    Valve.turn()\nnote(Valve.calls)\n", [25_000, 60_000], 2),
    ("import torch\nclass Valve(torch.autograd.Function):\n    calls = 0\n    @staticmethod\n    def forward(ctx, x): return x.view_as(x)\n    @staticmethod\n    def backward(ctx, grad):\n"
     "        Valve.calls += 1\n        if Valve.calls % 400 == 0: note(Valve.calls)\n        return grad\nx = torch.ones(2, requires_grad=True)\nfor i in range(1000):\n    train()\n"
     "    Valve.apply(x).sum().backward()\n", [400], 1),
    ("import torch\nx = torch.ones(1, requires_grad=True)\ndef factor(epoch):\n    if epoch == 240: note(epoch)\n    return 1.0\nsgd = torch.optim.SGD([x], lr=0.1)\n"
     "schedule = torch.optim.lr_scheduler.LambdaLR(sgd, factor)\nfor i in range(400):\n    train()\n    sgd.step()\n    schedule.step()\n", [240], 1),
    ("import torch\nclass Look(torch.optim.lr_scheduler.LRScheduler):\n    def get_lr(self):\n        if self.last_epoch == 210: note(210)\n        return [1.0]\n"
     "x = torch.ones(1, requires_grad=True)\nsgd = torch.optim.SGD([x], lr=0.1)\nschedule = Look(sgd)\nfor i in range(260):\n    train()\n    sgd.step()\n    schedule.step()\n", [210], 1),
    ("class Ledger:\n    def __init__(self): self.count = 0\n    def __iadd__(self, n):\n        self.count += 1\n        if self.count == 150: note(150)\n        return self\n"
     "ledger = Ledger()\nfor i in range(320):\n    train()\n    ledger += 1\n", [150], 1),
    ("for size in [64, 64, 64, 64, 128, 64]:\n    train(size)\n    note(size)\n", [128], 5),
    ("sizes = (64,) * 9 + (512,) + (64,) * 90\nfor epoch in range(10):\n    for size in sizes:\n        train(size)\n        note(size)\n", [512], 40),
    ("for size in [64, 256, 128, 512, 96, 4096, 320, 80, 64]:\n    train(size)\n    note(size)\n", [4096], 9),
    ("for text in ['x'] * 50 + ['x' * 99] + ['x'] * 50:\n    train(len(text))\n    note(len(text))\n", [99], 9),
    ("import random\nlots = random.Random(0)\nfor i in range(5000):\n    train(lots.choice((1, 2)))\n    if i == 3000: note(i)\n    note(0)\nnote(i)\n", [3000, 4999], 60),
    ("import random\nlots = random.Random(0)\nfor epoch in range(300):\n    for i in range(200):\n        train(lots.choice((1, 2)))\n    if epoch == 100: note(epoch)\n"
     "    note(0)\nnote(epoch)\n", [100, 299], 30),
)
# Sources without a shortened loop: memory grows, nothing works, or the passes are few.
WHOLE = (
    ("for i in range(200):\n    train()\n    keep()\n    note(i)\n", 200),
    ("for i in range(200):\n    note(i)\n", 200),
    ("for i in range(3):\n    train()\n    note(i)\n", 3),
    ("for i in range(200):\n    train(i)\n    note(i)\n", 200),
    ("for i in range(100):\n    for _ in range(2):\n        note(i)\n        j = 0\n        while j < 2:\n            j += int(1)\n", 200),
)


class Machine:
    """Stands in for a GPU: counts the calls of a program."""

    def __init__(self) -> None:
        self.current = self.total = self.allocations = self.works = self.steps = 0
        self.noted: list = []
        self.is_counting = True

    def read(self) -> Reading:
        return Reading(self.current, self.current, self.total, self.allocations, self.works, self.steps)

    def count_steps(self) -> int:
        return self.steps

    def work(self, size: int = 1) -> None:
        self.total += size
        self.allocations += 1
        self.works += 1

    def step(self) -> None:
        self.steps += 1

    def train(self, size: int = 1) -> None:
        self.work(size)
        self.step()

    def keep(self) -> None:
        self.current += 1
        self.total += 1

    @property
    def names(self) -> dict:
        return {"train": self.train, "work": self.work, "step": self.step, "keep": self.keep, "note": self.noted.append}


class NoStages:
    """Hears of stages, and does nothing."""

    def __getattr__(self, _name: str):
        return lambda *_args, **_kwargs: None


def change(source: str, file: str) -> ast.Module:
    """The changed tree of a source."""
    tree = ast.parse(source)
    rewriting.rewrite(tree, file, copy.deepcopy(tree))
    return tree


# Sources that draw by lot, and true if a size may depend on it.
LOTS = (
    ("import random\nfor i in range(1000):\n    size = random.choice((1, 1, 1))\n    bytes(size)\n    train()\n", False),
    ("import random\nfor i in range(1000):\n    size = random.choice((1,) * 300 + (2,))\n    bytes(size)\n    train()\n", True),
    ("import random\ndef size(): return random.randint(1, 1)\nfor i in range(1000):\n    bytes(size())\n    train()\n", True),
    ("from random import randint\nfor i in range(1000):\n    n = randint(1, 1)\n    train()\n    str(n)\n", False),
    ("import random\nlots = random.Random(1)\nfor i in range(1000):\n    bytes(max(1, int(lots.gauss(1, 0))))\n    train()\n", True),
    ("import random\nfor i in range(1000):\n    x = [1, 2][random.randint(0, 0)]\n    train()\n", False),
    ("import random\nwords = 'a' * 50\nfor i in range(1000):\n    at = random.randint(0, 9)\n    train(len(words[at : at + 9]))\n", False),
    ("import random\nwords = 'a' * 50\nfor i in range(1000):\n    at = random.randint(9, 9)\n    train(len(words[:at]))\n", True),
    ("import random\ndef grow(x): return x.upper() if random.random() < 0 else x\nfor i in range(1000):\n    x = grow('a')\n    train(len(x) * 1)\n", False),
    ("import random\ndef grow(x): return x * 9 if random.random() < 0 else x\ndef make(x): bytes(x)\nfor i in range(1000):\n    x = grow(1)\n    make(x)\n    train()\n", True),
    ("import random\nfor i in range(1000):\n    random.seed(random.randint(0, 9))\n    train()\n", False),
    # Sizes that no rule foresees, within bounds.
    ("import zlib\nfor i in range(5000):\n    train(zlib.crc32(bytes(i)) % 1000)\n", True),
)


class LifeTest(unittest.TestCase):
    """Changed sources, run."""

    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        sys.modules.setdefault("_oomph_agent.life.calls", calls)
        self.addCleanup(calls.start, None, None, lambda: False)

    def run_changed(self, source: str, names: dict) -> dict:
        path = Path(self._folder.name, f"program{len(rewriting.LOOPS)}.py")
        path.write_text(source, encoding="utf-8")
        space = {"__name__": "program", **names}
        exec(compile(change(source, str(path)), str(path), "exec", dont_inherit=True), space)
        return space

    def test_a_changed_source_does_the_same(self) -> None:
        for source in SAME:
            with self.subTest(source):
                plain: dict = {}
                exec(compile(source, "plain", "exec", dont_inherit=True), plain)
                self.assertEqual(self.run_changed(source, {})["found"], plain["found"])
                calls.start(Control(Machine(), NoStages(), 3), open_items, lambda: False)
                self.assertEqual(self.run_changed(source, {})["found"], plain["found"])
                calls.start(None, None, lambda: False)

    def run_shortened(self, source: str) -> Machine:
        machine = Machine()
        calls.start(Control(machine, NoStages(), 3), open_items, lambda: False)
        self.run_changed(source, machine.names)
        return machine

    def test_passes_that_differ_run(self) -> None:
        for source, wanted, most in SHORT:
            with self.subTest(source):
                noted = self.run_shortened(source).noted
                self.assertEqual([it for it in wanted if it not in noted], [], noted)
                self.assertLessEqual(len(noted), most, noted)

    def test_passes_that_may_matter_all_run(self) -> None:
        for source, count in WHOLE:
            with self.subTest(source):
                self.assertEqual(len(self.run_shortened(source).noted), count)

    def test_a_loop_that_is_too_long_to_read_is_cut(self) -> None:
        cases = (("for i in range(30_000_000):\n    train()\n    if i == 25_000_000: note(i)\n", "cut"), ("for i in range(3_000):\n    train()\n    if i == 2_500: note(i)\n", "alike"))
        for source, reason in cases:
            with self.subTest(source):
                control = Control(Machine(), NoStages(), 3)
                calls.start(control, open_items, lambda: False)
                self.run_changed(source, control.pulse.names)
                self.assertEqual([run.reason for run in control.shortened.values()], [reason])

    def test_sizes_drawn_by_lot_are_not_known(self) -> None:
        for source, is_open in LOTS:
            with self.subTest(source):
                control = Control(Machine(), NoStages(), 3)
                calls.start(control, open_items, lambda: False)
                self.run_changed(source, control.pulse.names)
                self.assertEqual([run.reason for run in control.shortened.values()], ["varying" if is_open else "alike"])

    def test_an_allocator_without_counters_repeats_nothing(self) -> None:
        machine = Machine()
        machine.is_counting = False
        calls.start(Control(machine, NoStages(), 3), open_items, lambda: False)
        self.run_changed("for i in range(100):\n    train()\n    note(i)\n", machine.names)
        self.assertEqual(len(machine.noted), 100)

    def test_a_period_is_found(self) -> None:
        one, other = Pass(0, 0, 1, 1, 1, 0, False), Pass(0, 0, 2, 1, 1, 1, True)
        cases = (([one], None), ([one, one], 1), ([one, other, one, other], 2), ([other, one, one], 1), ([one, other, one], None))
        for passes, period in cases:
            with self.subTest(passes):
                self.assertEqual(find_period(passes), period)


if __name__ == "__main__":
    unittest.main()
