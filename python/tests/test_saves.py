"""Checkpoints of a dry run: what was there before stays, what was not is written."""

import unittest

from .support import needs_phantom, run_program

PROGRAM = """
    import os, pathlib, torch
    here = pathlib.Path(__file__).parent
    saved, opened, made = here / "saved.pt", here / "opened.pth", here / "made.pt"
    for path in (saved, opened):
        descriptor = os.open(path, os.O_CREAT | os.O_WRONLY)
        os.write(descriptor, b"trained")
        os.close(descriptor)
    weights = torch.ones(1024, device="cuda")
    torch.save(weights, saved)
    torch.save(obj=weights, f=str(saved))
    with open(opened, "wb") as file:
        torch.save(weights, file)
    for _ in range(2):
        torch.save(weights, made)
    print([path.read_bytes() for path in (saved, opened)], torch.load(made).shape)
"""

SAFETENSORS = """
    import os, pathlib, torch
    from safetensors.torch import load_file, save_file
    here = pathlib.Path(__file__).parent
    (here / "made.safetensors").unlink(missing_ok=True)
    for _ in range(2):
        save_file({"weights": torch.ones(1024, device="cuda")}, here / "made.safetensors")
    os.rename(here / "made.safetensors", here / "old.safetensors")
    save_file({"other": torch.ones(8, device="cuda")}, filename=here / "old.safetensors")
    print(list(load_file(here / "old.safetensors")))
"""


@needs_phantom
class Saves(unittest.TestCase):
    """One program for each library that writes checkpoints."""

    def check(self, source: str, stdout: str, spared: list[str]) -> None:
        ran = run_program(source, phantom=True)
        self.assertEqual((ran.status, ran.stderr), (0, ""))
        self.assertEqual(ran.stdout, stdout)
        self.assertEqual([record["file"].rpartition("/")[2] for record in ran.records("save_spared")], spared)

    def test_what_was_there_is_not_written_over(self):
        stdout = "[b'trained', b'trained'] torch.Size([1024])\n"
        self.check(PROGRAM, stdout, ["saved.pt", "opened.pth"])

    def test_nor_by_safetensors(self):
        self.check(SAFETENSORS, "['weights']\n", ["old.safetensors"])
