"""What a program still has before it when it is stopped after some steps."""

import sys
import tempfile
import textwrap
import threading
import types
import unittest
from pathlib import Path

import torch
from oomph.agent.ahead.look import look
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset


class Images(Dataset):
    """A hundred samples; every tenth has `other` columns."""

    def __init__(self, other):
        self.other = other

    def __len__(self):
        return 100

    def __getitem__(self, index):
        return torch.zeros(3, self.other if index % 10 == 9 else 8), index


def look_ahead(source, at=3, **names):
    """Runs a program that calls `step()` for each optimizer step, and looks ahead in step number `at`."""
    found, count = [], 0

    def step():
        nonlocal count
        count += 1
        if count == at:
            found.append(look(sys._getframe(1), at))
            raise SystemExit

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.py"
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        module = types.ModuleType("__main__")
        vars(module).update(step=step, torch=torch, nn=nn, **names)
        code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
        # In a thread of its own: the functions of the tests are no callers of the program.
        thread = threading.Thread(target=exec, args=(code, vars(module)))
        thread.start()
        thread.join()
    return found[0]


class AheadTest(unittest.TestCase):
    def check(self, expected, source, total=None, **names):
        ahead = look_ahead(source, **names)
        items = [(item.reason, item.what, item.line) for item in ahead.items]
        self.assertEqual((items, ahead.count_steps(3)), (expected, total), source)

    def test_steps_that_repeat_have_nothing_ahead(self):
        for body in ("step()", "x = torch.zeros(4, 8)\n    step()", "step()\n    print(i, 'done')", "step()\n    if i == 0:\n        print('begun')"):
            self.check([], f"for i in range(1000):\n    {body}\n", total=1000)
        # A block inside the loop goes on after the step, as it did in the passes before.
        for body in ("with torch.no_grad():\n        step()\n        torch.zeros(9)", "x = torch.zeros(3)\n    step()\n    if i == 50:\n        x.fill_(1)"):
            self.check([], f"for i in range(1000):\n    {body}\n", total=1000)
        self.check([], "i = 0\nwhile i < 50:\n    step()\n    i += 1\n", total=50)
        self.check([], "i = 0\nwhile True:\n    step()\n    i += 1\n    if i >= 20:\n        break\n", total=20)

    def test_a_branch_that_did_not_run_is_named(self):
        source = """
            def evaluate():
                torch.zeros(9)
            for i in range(100):
                step()
                if i % 10 == 9:
                    evaluate()
        """
        self.check([("unrun", "evaluate", 7)], source, total=100)
        # Behind the last pass, and in a branch that was taken.
        self.check([], source.replace("range(100)", "range(9)"), total=9)
        self.check([], source.replace("% 10 == 9", "% 2 == 1"), total=100)

    def test_what_follows_a_loop_is_named_unless_it_takes_no_memory_of_a_gpu(self):
        source = """
            model = nn.Linear(2, 2)
            def export(model):
                return model.double()
            def main():
                for i in range(5):
                    step()
                {after}
            main()
        """
        for after in ("print('done')", "torch.save(model.state_dict(), 'w.pt')", "model.eval()", "x = [1, 2]; x.append(3)", "return"):
            self.check([], source.replace("{after}", after), total=5)
        self.check([("unrun", "export", 8)], source.replace("{after}", "export(model)"), total=5)
        self.check([("unrun", "model", 8)], source.replace("{after}", "model(torch.zeros(1, 2))"), total=5)

    def test_a_number_that_grows_is_named(self):
        sizes = """
            for size in {sizes}:
                torch.zeros(size)
                step()
        """
        self.check([("larger", "size", 3)], sizes.replace("{sizes}", "[4, 4, 4, 8]"), total=4)
        self.check([], sizes.replace("{sizes}", "[8, 8, 8, 4]"), total=4)
        self.check([("larger", "size", 3)], sizes.replace("{sizes}", "range(1, 9)"), total=8)
        self.check([], sizes.replace("{sizes}", "range(9, 1, -1)"), total=8)
        # Slices of one width, and seeds.
        self.check([], "x = torch.zeros(100)\nfor i in range(10):\n    x[i * 4:i * 4 + 4]\n    step()\n", total=10)
        self.check([], "for i in range(10):\n    torch.manual_seed(i)\n    step()\n", total=10)

    def test_the_number_is_followed_through_functions(self):
        source = """
            def train(rows):
                torch.zeros(rows, 4)
                step()
            def search():
                for _ in range(20):
                    train(8)
            search()
            for _ in range(50):
                train({rows})
        """
        self.check([("unrun", "train", 10), ("larger", "rows", 3)], source.replace("{rows}", "16"), total=20)
        self.check([("unrun", "train", 10)], source.replace("{rows}", "8"), total=20)

    def test_state_of_an_object_is_followed(self):
        source = """
            class Trainer:
                def __init__(self):
                    self.step, self.every = 0, {every}
                def train(self):
                    for _ in range(100):
                        self.train_step()
                def train_step(self):
                    step()
                    self.step += 1
                    if self.step % self.every == 0:
                        self.evaluate()
                def evaluate(self):
                    torch.zeros(9)
            Trainer().train()
        """
        self.check([("unrun", "evaluate", 12)], source.replace("{every}", "10"), total=100)
        self.check([], source.replace("{every}", "1000"), total=100)

    def test_nested_loops_multiply(self):
        source = """
            def validate():
                torch.zeros(9)
            for epoch in range(4):
                for i in range(25):
                    step()
                {after}
        """
        self.check([], source.replace("{after}", "print(epoch)"), total=100)
        self.check([("unrun", "validate", 7)], source.replace("{after}", "validate()"), total=100)
        self.check([("unrun", "validate", 7)], source.replace("{after}", "if epoch == 3: validate()"), total=100)
        self.check([], source.replace("{after}", "if epoch == 4: validate()"), total=100)

    def test_batches_of_a_loader_repeat_if_their_shapes_do(self):
        source = "for x, y in loader:\n    step()\n"
        alike = TensorDataset(torch.zeros(40, 3), torch.zeros(40))
        self.check([], source, total=10, loader=DataLoader(alike, batch_size=4))
        self.check([], source, total=25, loader=DataLoader(Images(8), batch_size=4))
        self.check([("varying", "", 1)], source, total=100, loader=DataLoader(Images(9)))
        collated = DataLoader(alike, batch_size=4, collate_fn=lambda batch: batch)
        self.check([("varying", "", 1)], source.replace("x, y", "x"), total=10, loader=collated)
        self.check([("varying", "", 1)], source.replace("loader", "(n for n in 'abcdefgh')").replace("x, y", "x"))

    def test_items_of_a_list_repeat_if_their_shapes_do(self):
        source = "for i in range(4):\n    x = data[i]\n    step()\n"
        self.check([], source, total=4, data=[torch.zeros(3)] * 4)
        self.check([("varying", "", 2)], source, total=4, data=[*[torch.zeros(3)] * 3, torch.zeros(9)])

    def test_passes_without_a_step_are_not_counted_as_steps(self):
        accumulated = """
            for epoch in range({epochs}):
                for i in range(120):
                    if i % 4 == 3:
                        step()
        """
        self.check([], accumulated.replace("{epochs}", "1"), total=30)
        self.check([], accumulated.replace("{epochs}", "5"), total=150)
        # Nothing tells how many passes were made.
        loader = DataLoader(TensorDataset(torch.zeros(40, 3)), batch_size=4)
        self.check([], "n = 0\nfor (x,) in loader:\n    n += 1\n    if n % 2 == 0:\n        step()\n", loader=loader)

    def test_a_loop_without_end_goes_on_from_its_number(self):
        source = "import itertools\nfor i in itertools.count(5):\n    torch.zeros(i)\n    step()\n    if i == {last}: break\n"
        self.check([], source.replace("{last}", "7"), total=3)
        self.check([("larger", "i", 3)], source.replace("{last}", "24"), total=20)

    def test_unfreezing_is_named(self):
        source = """
            model = nn.Linear(2, 2)
            for epoch in range(6):
                if epoch == 5:
                    model.requires_grad_(True)
                step()
        """
        self.check([("unrun", "requires_grad_", 5)], source, total=6)


if __name__ == "__main__":
    unittest.main()
