"""Absent tokenizers, processors and data: stand-ins, made-up sets, and errors.

    python tests/weights/texts.py --oomph target/debug/oomph [WORD ...]

Programs in `texts` compare the stand-ins with their documentation, and run under `oomph check` with the packages of `target/frameworks`.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(1, str(HERE.parent))

import documents
import suite

# The environment of this process: `make weights` runs one with the frameworks.
PYTHON = sys.executable
PROGRAMS = HERE / "texts"
PATIENCE = 300
# A script with absent data, the name in the error, and the way in the hint.
ABSENT = [
    ("import torch, datasets\ndatasets.load_dataset('imdb')", "imdb", "--fake-data"),
    ("import torch, datasets\ndatasets.load_dataset('someone/own', split='train')", "someone/own", "hf download --repo-type dataset"),
    ("import torch, datasets\ndatasets.load_dataset('csv', data_files='rows.csv')", "rows.csv", "rows.csv"),
    ("import torch, torchvision\ntorchvision.datasets.MNIST('folder')", "MNIST is not in folder", "--fake-data"),
    ("import torch, torchvision\ntorchvision.datasets.CIFAR10('folder', download=True)", "CIFAR10 is not in folder", "--fake-data"),
    ("import torch, evaluate\nevaluate.load('accuracy')", "accuracy", "metric"),
    ("import torch\nopen('train.csv')", "train.csv", "`train.csv`"),
]
# A script with a set of no table, and --fake-data.
UNKNOWN = [
    ("import torch, datasets\ndatasets.load_dataset('someone/own')", "makes up no data set 'someone/own'", "imdb"),
    # The hint is about the data, and not about the value that was read before.
    (
        "import torch, datasets\nprint(torch.randn(64, 64, device='cuda').svd().S.sum().item())\ndatasets.load_dataset('another/own')",
        "makes up no data set 'another/own'",
        "a copy on the disk",
    ),
    ("import torch, datasets\ndatasets.load_dataset('glue')", "makes up no configuration", "sst2"),
    ("import torch, torchvision\ntorchvision.datasets.VOCDetection('folder', year='2009')", "VOCDetection 2009", "CIFAR10"),
    ("import torch, torchvision\ntorchvision.datasets.CocoDetection('folder', 'my.json')", "my.json", "CIFAR10"),
]


def check(oomph: Path, program: Path, *options: str, arguments: tuple = ()) -> tuple[dict | None, subprocess.CompletedProcess]:
    """Checks a program in a new folder; returns the report, or `None`."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PROGRAMS, folder, dirs_exist_ok=True)
        if program.parent != PROGRAMS:
            shutil.copy(program, folder)
        environment = {**os.environ, "HF_HOME": os.path.join(folder, "cache"), "TORCH_HOME": os.path.join(folder, "torch")}
        words = [oomph, "check", "--gpu", "rtx-4090", "--python", PYTHON, "--json", *options, program.name, *arguments]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=PATIENCE, cwd=folder, env=environment)
        return documents.parse(done.stdout) or None, done


def compare(oomph: Path, name: str, *options: str) -> str:
    """A program whose own assertions hold."""
    report, done = check(oomph, PROGRAMS / name, *options)
    assert done.returncode == 0 and report is not None, f"{done.returncode}: {done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    assert ("--fake-data" in options) == bool(report["made_up_data"]), report["made_up_data"]
    return f"{len(report['made_up_data'])} made up"


def finetune(oomph: Path, way: str) -> str:
    """A training from a configuration: the assumption names a guessed length, the report the made-up set and the tokenizer."""
    report, done = check(oomph, PROGRAMS / "finetune.py", "--fake-data", arguments=(way,))
    assert done.returncode == 0 and report is not None, f"{done.returncode}: {done.stderr[-3000:]}"
    assert report["made_up_data"] == ["imdb"], report["made_up_data"]
    assert any("tokenizer" in note and "model" in note for note in report["notes"]), report["notes"]
    names = [assumption["id"] for assumption in report["assumptions"]]
    assert ("text-length" in names) == (way != "fixed"), names
    return report["verdict"]


def say_in_headline(oomph: Path) -> str:
    """The first sentence contains `with made-up data`."""
    report, done = check(oomph, PROGRAMS / "finetune.py", "--fake-data", arguments=("fixed",))
    assert report is not None, done.stdout + done.stderr
    assert report["headline"].startswith("fits") and "with made-up data" in report["headline"], report["headline"]
    return report["headline"]


def refuse(oomph: Path, case: tuple[str, str, str], *options: str) -> str:
    """Absent data: exit status 2, the name, and the way."""
    source, name, way = case
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "script.py")
        program.write_text(source)
        _, done = check(oomph, program, *options)
    assert done.returncode == 2, f"{done.returncode}: {done.stdout}{done.stderr}"
    error = documents.parse_error(done.stdout)
    said = f"{error['message']}\n{error['hint']}"
    assert name in said and way in said and error["hint"], error
    return ""


def prefer_files(oomph: Path) -> str:
    """Existing files are used: a small tokenizer, and a folder of pictures."""
    source = """
import torch, torchvision, transformers as t
from tokenizers import Tokenizer, models
from PIL import Image
from pathlib import Path
from step import make_step
t.BertConfig().save_pretrained("own")
t.PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"[UNK]": 0, "yes": 1}, "[UNK]")), unk_token="[UNK]").save_pretrained("own")
assert len(t.PreTrainedTokenizerFast.from_pretrained("own")) == 2
for name in ("cat", "dog"):
    Path("pictures", name).mkdir(parents=True)
    Image.new("RGB", (8, 8)).save(f"pictures/{name}/1.png")
assert torchvision.datasets.ImageFolder("pictures").classes == ["cat", "dog"]
make_step()
"""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "script.py")
        program.write_text(source)
        report, done = check(oomph, program, "--fake-data")
    assert done.returncode == 0 and report["made_up_data"] == [], f"{done.stdout[-800:]}{done.stderr[-2000:]}"
    assert not any("not on this machine" in note for note in report["notes"]), report["notes"]
    return ""


def load_by_name(oomph: Path) -> str:
    """A name in the cache with its configuration alone, and a hub that cannot be reached: the stand-in comes without retries."""
    source = """
import os, sys, transformers as t
from pathlib import Path
from step import make_step
commit = "0" * 40
model = Path(os.environ["HF_HOME"], "hub", "models--org--name")
t.BertConfig().save_pretrained(model / "snapshots" / commit)
(model / "refs").mkdir()
(model / "refs" / "main").write_text(commit)
attempts = []
sys.addaudithook(lambda event, arguments: attempts.append(event) if event in ("socket.connect", "socket.getaddrinfo") else None)
assert len(t.AutoTokenizer.from_pretrained("org/name")) == 30522
assert len(attempts) <= 1, attempts
make_step()
"""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "script.py")
        program.write_text(source)
        report, done = check(oomph, program, "--offline")
    assert done.returncode == 0 and report is not None, f"{done.stdout[-800:]}{done.stderr[-2000:]}"
    assert any("org/name is not on this machine" in note for note in report["notes"]), report["notes"]
    return ""


# The name of each case, and its body, which takes the binary.
CASES = [
    ("tokenizers and processors of configurations", partial(compare, name="tokenizers_of.py")),
    ("torchvision's sets, made up", lambda oomph: compare(oomph, "pictures_of.py", "--fake-data")),
    ("datasets' sets, made up", lambda oomph: compare(oomph, "rows_of.py", "--fake-data")),
    ("fine-tuning with guessed lengths", partial(finetune, way="guessed")),
    ("fine-tuning with fixed lengths", partial(finetune, way="fixed")),
    ("the headline names made-up data", say_in_headline),
    ("files that are there are used", prefer_files),
    ("a name without a network", load_by_name),
    *((f"absent data: {case[1]}", partial(refuse, case=case)) for case in ABSENT),
    *((f"unknown data: {case[1]}", lambda oomph, case=case: refuse(oomph, case, "--fake-data")) for case in UNKNOWN),
]


def list_cases(oomph: Path) -> list[suite.Case]:
    """The cases for a binary."""
    return [suite.Case(name, partial(body, oomph)) for name, body in CASES]


if __name__ == "__main__":
    arguments = suite.parser(__doc__).parse_args()
    sys.exit(suite.run("texts", list_cases(arguments.oomph.absolute()), arguments))
