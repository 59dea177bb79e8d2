"""The deciding size of a program: names, constants, and changes to the main script."""

import ast
import unittest

from oomph.agent.remedies.sizes import constants, evaluation, names

from .support import needs_torch, run_program

_SHOWS_ITSELF = """
    from __future__ import annotations
    import importlib.machinery, multiprocessing, os, sys

    BATCH_SIZE = 8

    def work(queue):
        queue.put("found")

    if __name__ == "__main__":
        print(__spec__, __package__, os.path.basename(__file__), sys.path[0] == os.path.dirname(os.path.realpath(__file__)))
        print(isinstance(__loader__, importlib.machinery.SourceFileLoader))
        print(sys.argv[1:], BATCH_SIZE, sys.modules["__main__"].__dict__ is globals())
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        child = context.Process(target=work, args=(queue,))
        child.start()
        print(queue.get(timeout=60))
        child.join()
"""


class Names(unittest.TestCase):
    def test_of_batch_sizes(self):
        ranks = {
            "--batch-size": 2,
            "BATCH_SIZE": 2,
            "batchSize": 2,
            "--bs": 2,
            "mbs": 0,
            "--train-batch-size": 1,
            "per_device_train_batch_size": 0,
            "samples_per_gpu": 0,
            "global_batch_size": 3,
            "eval_batch_size": None,
            "batch_first": None,
            "num_batches": None,
            "accumulate_grad_batches": None,
            "batch_sampler": None,
            "size": None,
        }
        self.assertEqual({name: names.batch(name) for name in ranks}, ranks)

    def test_of_lengths_and_images(self):
        self.assertEqual([names.length(name) for name in ("--seq-len", "block_size", "max_new_tokens")], [0, 0, None])
        self.assertEqual([names.image(name) for name in ("--imgsz", "IMAGE_SIZE", "patch_size")], [0, 0, None])

    def test_of_loaders(self):
        said = {"valloader": True, "test_loader": True, "val_dl": True, "trainloader": False, "x_train": False}
        said |= dict.fromkeys(("loader", "device", "values", "latest", "train_val"))
        self.assertEqual({name: evaluation._said(name) for name in said}, said)


class Constants(unittest.TestCase):
    def test_are_numbers_with_a_name(self):
        cases = {
            "batch_size, epochs = 64, 10": [64],
            "config = {'batch_size': 32}": [32],
            "class C:\n    batch_size: int = 16": [16],
            "def f(x, batch_size=8): pass": [8],
            "main(batch_size=7)": [7],
            # Sizes of tensors, values other than numbers, and names with finders of their own or of evaluation.
            "batch_size = x.shape[0]": [],
            "batch = True": [],
            "DataLoader(data, batch_size=5)": [],
            "data.map(work, batch_size=1000)": [],
            "evaluate(batch_size=3)": [],
        }
        for source, expected in cases.items():
            found = [one.node.value for one in constants.constants(ast.parse(source)) if names.batch(one.name) is not None]
            self.assertEqual(found, expected, source)


class MainScript(unittest.TestCase):
    def test_sees_what_it_always_sees(self):
        plain = run_program(_SHOWS_ITSELF)
        changed = run_program(_SHOWS_ITSELF, OOMPH_REMEDIES='[{"remedy": "batch-size", "settings": {"size": 9}}]')
        self.assertEqual((plain.status, plain.stderr), (0, ""))
        self.assertEqual((changed.status, changed.stderr), (0, ""))
        self.assertIn("found", plain.stdout)
        self.assertEqual(changed.stdout, plain.stdout.replace("[] 8 ", "[] 9 "))

    def test_that_is_wrong_is_left_to_python(self):
        ran = run_program("batch_size = = 8", OOMPH_REMEDIES='[{"remedy": "batch-size", "settings": {"size": 9}}]')
        self.assertEqual(ran.status, 1)
        self.assertIn("SyntaxError", ran.stderr)


@needs_torch
class Overridden(unittest.TestCase):
    """A constant of the script, and other bindings of its name."""

    def check(self, source: str, *said: tuple[bool, str]) -> None:
        ran = run_program(f"import torch\n{source}", OOMPH_REMEDIES='[{"remedy": "batch-size", "settings": {"size": 4}}]')
        self.assertEqual((ran.status, ran.stderr), (0, ""))
        self.assertEqual([(note["applied"], note["text"]) for note in ran.records("remedy")], list(said), source)

    def test_constants(self):
        is_4 = (True, "batch_size is 4 instead of 8")
        self.check("batch_size = 8", is_4)
        self.check("batch_size = 8\nbatch_size *= 2", is_4)
        self.check("class C:\n    batch_size = 8\nglobals().update(batch_size=64)", is_4)
        elsewhere = "batch_size is 8 in the script and 64 when it runs: something else sets it, such as a configuration file"
        self.check("batch_size = 8\nexec('batch_size = 64')", is_4, (False, elsewhere))
