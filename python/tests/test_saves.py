"""Checkpoints of a dry run: existing files stay, new files are written."""

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
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), saved)
    print([path.read_bytes() for path in (saved, opened)], torch.load(made).shape)
"""

SAFETENSORS = """
    import os, pathlib, torch
    from safetensors.torch import load_file, save_file
    here = pathlib.Path(__file__).parent
    for _ in range(2):
        save_file({"weights": torch.ones(1024, device="cuda")}, here / "made.safetensors")
    # Written past Python's functions: as if another program had.
    descriptor = os.open(here / "old.safetensors", os.O_CREAT | os.O_WRONLY)
    os.write(descriptor, (here / "made.safetensors").read_bytes())
    os.close(descriptor)
    save_file({"other": torch.ones(8, device="cuda")}, filename=here / "old.safetensors")
    print(list(load_file(here / "old.safetensors")))
"""

# The checks below concern files that are created past Python's functions.
BEFORE = """
    import os, pathlib, shutil, subprocess, torch
    here = pathlib.Path(__file__).parent
    def put(*names):
        for name in names:
            subprocess.run(["mkdir", "-p", (here / name).parent], check=True)
            descriptor = os.open(here / name, os.O_CREAT | os.O_WRONLY)
            os.write(descriptor, b"trained")
            os.close(descriptor)
            os.utime(here / name, (0, 0))
    def shown(*names):
        print(*((here / name).read_text() if (here / name).is_file() else "none" for name in names))
    weights = torch.ones(1024, device="cuda")
"""

REPLACED = BEFORE + """
    put("best.pt", "last.pt", "epoch.pth", "plain", "config.json", "ckpt/.metadata")
    for name in ("config.json", "ckpt/.metadata"):
        (here / (name + ".tmp")).write_text("untrained")
        (here / (name + ".tmp")).rename(here / name)
    shown("config.json", "ckpt/.metadata", "ckpt/.metadata.tmp")
    torch.save(weights, here / "best.tmp")
    os.replace(here / "best.tmp", here / "best.pt")
    torch.save(weights, here / "other.tmp")
    (here / "other.tmp").rename(here / "plain")
    os.rename(here / "last.pt", here / "last.bak.pt")
    shutil.move(str(here / "epoch.pth"), str(here / "epoch_1.pth"))
    shown("best.pt", "best.tmp", "plain", "other.tmp", "last.pt", "last.bak.pt", "epoch.pth")
    torch.save(weights, here / "new.tmp")
    os.replace(here / "new.tmp", here / "new.pt")
    torch.save(weights, here / "new.tmp")
    os.replace(here / "new.tmp", here / "new.pt")
    print(torch.load(here / "new.pt").shape, (here / "new.tmp").exists())
"""

REMOVED = BEFORE + """
    put("old.pt", "notes.txt", "output/step-1/model.bin", "output/log.txt", "empty/log.txt")
    subprocess.run(["ln", "-s", "old.pt", here / "latest.pt"], check=True)
    os.utime(here / "latest.pt", (0, 0), follow_symlinks=False)
    (here / "link.txt").symlink_to("notes.txt")
    for name in ("old.pt", "notes.txt", "latest.pt"):
        os.remove(here / name)
    os.symlink("new.pt", here / "latest.pt")
    (here / "link.txt").unlink()
    shutil.rmtree(here / "output")
    os.makedirs(here / "output")
    shutil.rmtree(here / "empty")
    os.makedirs(here / "empty")
    shown("old.pt", "notes.txt", "latest.pt", "output/step-1/model.bin", "output/log.txt", "empty/log.txt")
    torch.save(weights, here / "made.pt")
    os.makedirs(here / "steps/1")
    torch.save(weights, here / "steps/1/model.bin")
    os.rename(here / "steps", here / "moved")
    torch.save(weights, here / "kept.pt")
    os.remove(here / "made.pt")
    shutil.rmtree(here / "moved")
    print((here / "made.pt").exists(), (here / "moved").exists(), (here / "link.txt").is_symlink())
"""

# Folders with checkpoints, and the next operations of programs on those folders.
FOLDERS = BEFORE + """
    put("out/models/best.pt", "files/a.pt", "files/b.ckpt", "best/model.bin", "last/model.bin", "runs/1.pt")
    shutil.rmtree(here / "out")
    os.makedirs(here / "out/models")
    for file in sorted((here / "files").iterdir()):
        file.unlink()
    (here / "files").rmdir()
    os.mkdir(here / "files")
    os.makedirs(here / "next")
    torch.save(weights, here / "next/model.bin")
    shutil.rmtree(here / "best")
    os.rename(here / "next", here / "best")
    os.rename(here / "last", here / "last.bak")
    os.makedirs(here / "last")
    torch.save(weights, here / "last/model.bin")
    shown("out/models/best.pt", "files/a.pt", "files/b.ckpt", "best/model.bin", "last/model.bin", "last.bak/model.bin", "next")
    try:
        while list((here / "runs").glob("*.pt")):
            min((here / "runs").glob("*.pt")).unlink()
    except FileNotFoundError as error:
        print(error.strerror)
"""

# Files of any name written by torch.save before the program began, and files that name the checkpoint to resume from.
NAMELESS = BEFORE + """
    put("latest", "young")
    (here / "latest").write_text("step-3")
    with open(here / "latest", "w") as file:
        file.write("step-3")
    torch.save(weights, here / "made")
    torch.save(weights, here / "legacy", _use_new_zipfile_serialization=False)
    for name, copy in (("made", "opened"), ("made", "removed"), ("made", "young"), ("legacy", "oldest")):
        subprocess.run(["cp", here / name, here / copy], check=True)
    for name in ("opened", "removed", "oldest"):
        os.utime(here / name, (0, 0))
    (here / "opened").write_bytes(b"zeros")
    os.remove(here / "removed")
    os.remove(here / "oldest")
    (here / "touched.pt").touch()
    torch.save(weights, here / "touched.pt")
    os.rename(here / "young", here / "grown")
    shown("latest")
    print(*(torch.load(here / name).shape[0] for name in ("opened", "removed", "grown", "oldest", "touched.pt")))
"""

# Ways past `torch.save`, linked names, and files of the program's child processes.
WAYS = BEFORE + """
    import io, multiprocessing, tarfile
    put("script.pt", "packed.tar", "last.pt", "steps/1/model.pt", "gone.pt", "export.pt2")
    subprocess.run(["ln", "-s", "1", here / "steps/latest"], check=True)
    os.utime(here / "steps/latest", (0, 0), follow_symlinks=False)
    torch.jit.script(torch.nn.Linear(2, 2)).save(str(here / "script.pt"))
    torch.export.save(torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),)), here / "export.pt2")
    with tarfile.open(here / "packed.tar", "w") as file:
        file.add(__file__)
    # timm gives the last one a further name, and removes that later.
    os.link(here / "last.pt", here / "step-1.pt")
    torch.save(weights, here / "step-1.pt")
    os.unlink(here / "step-1.pt")
    os.mkdir(here / "steps/2")
    os.symlink("2", here / "steps/.latest")
    os.replace(here / "steps/.latest", here / "steps/latest")
    os.remove(here / "gone.pt")
    with open(here / "gone.pt", "xb") as file:
        file.write(b"zeros")
    shown("script.pt", "packed.tar", "last.pt", "step-1.pt", "steps/latest/model.pt", "gone.pt", "export.pt2")
    child = multiprocessing.get_context("fork").Process(target=torch.save, args=(torch.ones(2), here / "async.pt.tmp"))
    child.start()
    child.join()
    os.rename(here / "async.pt.tmp", here / "async.pt")
    buffer = io.BytesIO()
    torch.save(weights, buffer)
    (here / "buffer.pt").write_bytes(buffer.getvalue())
    print(torch.load(here / "async.pt").shape, torch.load(here / "buffer.pt").shape)
"""

# Checkpoints in a folder and a file that the program made, by any means.
MADE = BEFORE + """
    import tempfile
    os.makedirs(here / "unpacked")
    put("unpacked/model.bin")
    shutil.rmtree(here / "unpacked")
    descriptor, file = tempfile.mkstemp(suffix=".pt", dir=here)
    torch.save(weights, file)
    print(torch.load(file).shape)
    os.remove(file)
    with tempfile.TemporaryDirectory(dir=here) as folder:
        torch.save(weights, folder + "/model.pt")
    print(*(os.path.exists(path) for path in (here / "unpacked", file, folder)))
"""


# Further uses of the replaced functions.
FUNCTIONS = """
    import os, pickle, shutil, torch
    functions = [open, os.remove, os.unlink, os.rename, os.replace, os.mkdir, os.symlink, os.link, shutil.rmtree, torch.save]
    print(all(pickle.loads(pickle.dumps(function)) is function for function in functions))
    print(os.unlink in os.supports_dir_fd, os.remove in os.supports_dir_fd, os.link in os.supports_follow_symlinks)
    folder = os.open(".", os.O_RDONLY)
    os.mkdir("folder", dir_fd=folder)
    os.rename("folder", "other", src_dir_fd=folder, dst_dir_fd=folder)
    os.link("program.py", "linked.py", follow_symlinks=False)
    os.unlink("linked.py", dir_fd=folder)
    shutil.rmtree("other")
    shutil.rmtree("absent", ignore_errors=True)
    print(sorted(os.listdir()))
    for function, arguments in ((os.remove, ("absent",)), (os.rename, ("absent", "b")), (os.mkdir, ("run",)), (os.unlink, (3,))):
        try:
            function(*arguments)
        except (OSError, TypeError) as error:
            print(type(error).__name__)
    torch.ones(1, device="cuda")
"""


@needs_phantom
class Saves(unittest.TestCase):
    """A program for each library that writes checkpoints."""

    def check(self, source: str, stdout: str, spared: list[str], made: list[str]) -> None:
        ran = run_program(source, phantom=True)
        self.assertEqual((ran.status, ran.stderr), (0, ""))
        self.assertEqual(ran.stdout, stdout)
        for kind, files in (("save_spared", spared), ("save_made", made)):
            self.assertEqual([record["file"].rpartition("/")[2] for record in ran.records(kind)], files, kind)

    def test_what_was_there_is_not_written_over(self):
        stdout = "[b'trained', b'trained'] torch.Size([1024])\n"
        self.check(PROGRAM, stdout, ["saved.pt", "opened.pth"], ["made.pt"])

    def test_nor_by_safetensors(self):
        self.check(SAFETENSORS, "['weights']\n", ["old.safetensors"], ["made.safetensors"])

    def test_nor_replaced_by_a_rename(self):
        stdout = "untrained trained none\ntrained none trained none trained none trained\ntorch.Size([1024]) False\n"
        self.check(REPLACED, stdout, [".metadata", "best.pt", "plain", "last.pt", "epoch.pth"], ["new.pt"])

    def test_nor_removed(self):
        stdout = "trained none trained trained trained none\nFalse False False\n"
        self.check(REMOVED, stdout, ["old.pt", "latest.pt", "model.bin"], ["kept.pt"])

    def test_folders_that_hold_one_stay(self):
        stdout = "trained trained trained trained trained none none\n"
        waiting = "it was there before the dry run, which leaves it; the script goes on removing it\n"
        spared = ["best.pt", "a.pt", "b.ckpt", "model.bin", "model.bin", "1.pt"]
        self.check(FOLDERS, stdout + waiting, spared, [])

    def test_names_do_not_decide_alone(self):
        stdout = "trained\n1024 1024 1024 1024 1024\n"
        self.check(NAMELESS, stdout, ["latest", "opened", "removed", "oldest"], ["made", "legacy", "touched.pt"])

    def test_nor_in_other_ways(self):
        stdout = "trained trained trained none trained trained trained\ntorch.Size([2]) torch.Size([1024])\n"
        spared = ["script.pt", "export.pt2", "packed.tar", "step-1.pt", "latest", "gone.pt"]
        self.check(WAYS, stdout, spared, ["buffer.pt"])

    def test_what_the_program_made_goes(self):
        self.check(MADE, "torch.Size([1024])\nFalse False False\n", [], [])

    def test_all_else_is_as_it_was(self):
        errors = ["FileNotFoundError", "FileNotFoundError", "FileExistsError", "TypeError"]
        lines = ["True", "True False True", "['program.py', 'run']", *errors]
        self.check(FUNCTIONS, "".join(f"{line}\n" for line in lines), [], [])
