"""Runs the whole zoo on a phantom GPU and compares every peak with the table that is kept in peaks.json.

    python tests/zoo/check.py --oomph PATH [--all] [--update] [WORD ...]

Every program runs in one of its precisions, the next one in the next precision, and with `--all` in each.
The Python that runs this file runs the zoo: it needs torch, torchvision and transformers in the versions of the table.
A phantom GPU is deterministic, so any difference is a failure. A case is a part of a file: its programs share one process, which
imports PyTorch once.
"""

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from importlib.metadata import version
from pathlib import Path

sys.dont_write_bytecode = True

HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import suite

TABLE = HERE / "peaks.json"
GPU = "rtx-4090"
SECONDS = 3600
PACKAGES = ("torch", "torchvision", "transformers")
# In how many parts each file runs.
PARTS = {"layers": 2, "language": 2, "vision": 2, "detection": 1}
# Shapes of the detectors depend on values: `check` assumes those, `phantom` alone does not.
CHECKED = {"detection"}


def main():
    """Exit status 1 if a peak is not as kept."""
    parser = suite.parser(__doc__)
    parser.add_argument("--update", action="store_true", help="keep the peaks of this run as the table")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oomph-zoo-") as folder:
        is_whole = arguments.all or arguments.update
        zoo = Zoo(str(arguments.oomph.absolute()), Path(folder), None if arguments.update else kept_peaks(), is_whole)
        status = suite.run("zoo", cases(zoo), arguments)
        if arguments.update and status == 0:
            keep(zoo.results())
    return status


def cases(zoo):
    """Every part of every file, and then what the table has besides."""
    parts = [(file, number) for file, count in PARTS.items() for number in range(count)]
    rows = [suite.Case(f"{file}, part {number + 1} of {PARTS[file]}", partial(zoo.run, file, number)) for file, number in parts]
    return rows if zoo.kept is None else [*rows, suite.Case("the table", zoo.check_table, is_last=True)]


class Zoo:
    """Runs parts of files below `folder`, in every precision if `is_whole`; with `kept`, their peaks must be those."""

    def __init__(self, oomph, folder, kept, is_whole):
        self.oomph, self.folder, self.kept, self.is_whole = oomph, folder, kept, is_whole

    def run(self, file, number):
        """Runs a part of a file; returns the text to show."""
        out = self.folder / f"{file}-{number}.jsonl"
        script = [str(HERE / f"{file}.py"), "--part", f"{number}/{PARTS[file]}", "--out", str(out)]
        script += [] if self.is_whole else ["--one-precision"]
        if file in CHECKED:
            command = [self.oomph, "check", "--keep-files", "--gpu", GPU, "--steps", "0", "--verbose", "--", sys.executable, *script]
        else:
            command = [self.oomph, "phantom", "--gpu", GPU, "--", sys.executable, *script]
        # torch.compile must compile anew: benchmarking candidates takes memory, finding them in a cache does not.
        variables = os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(self.folder / f"inductor-{file}-{number}")}
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=variables)
        found, problems = read(out)
        if done.returncode != 0 and not problems:
            problems.append(f"{file}: expected exit status 0, found {done.returncode}\n{done.stderr[-4000:]}")
        problems += self.differences(found)
        assert not problems, "\n".join(problems)
        return f"{len(found)} peaks"

    def differences(self, found):
        """Each peak that is not as kept."""
        for name, peaks in found.items() if self.kept is not None else ():
            if name not in self.kept:
                yield f"{name}: ran and is not in the table (--update keeps it)"
            elif None not in peaks and peaks != self.kept[name]:
                yield f"{name}: expected allocated, reserved = {self.kept[name]}, found {peaks}"

    def results(self):
        """The peaks of all parts that have run."""
        return {name: peaks for out in sorted(self.folder.glob("*.jsonl")) for name, peaks in read(out)[0].items()}

    def check_table(self):
        """The installed versions are the table's, and every program of the table ran; in every precision if `is_whole`."""
        made = {name: value for name, value in json.loads(TABLE.read_text(encoding="utf-8")).items() if name != "peaks"}
        assert made == made_with(), f"the table was made with {made}, this is {made_with()}"
        named = (lambda entry: entry) if self.is_whole else (lambda entry: entry.rpartition(" ")[0])
        ran = self.results()
        missing = sorted(set(map(named, self.kept)) - set(map(named, ran)))
        assert not missing, f"in the table and did not run: {missing}"
        return f"{len(ran)} of {len(self.kept)} peaks"


def kept_peaks():
    """The peaks of the table, by name and precision."""
    return json.loads(TABLE.read_text(encoding="utf-8"))["peaks"] if TABLE.exists() else {}


def read(out):
    """The records of a part as peaks by name and precision, and as problems."""
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    results, problems = {}, []
    for record in map(json.loads, lines):
        name = f"{out.stem.rpartition('-')[0]}/{record['name']} {record['precision']}"
        # `check` runs a program with assumed sizes a second time, with the other end of the share.
        results.setdefault(name, [record.get("allocated"), record.get("reserved")])
        if "error" in record:
            problems.append(f"{name}: {record['error']}")
    return results, problems


def made_with():
    """The versions and the GPU that decide the peaks."""
    return {package: version(package) for package in PACKAGES} | {"gpu": GPU}


def keep(results):
    """Writes the table, a line per entry, for readable differences in version control."""
    lines = [f"    {json.dumps(name)}: {json.dumps(results[name])}" for name in sorted(results)]
    head = json.dumps(made_with(), indent=2)[:-2]
    text = head + ',\n  "peaks": {\n' + ",\n".join(lines) + "\n  }\n}\n"
    TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
