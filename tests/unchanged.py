"""Compares what two builds of oomph answer to the same questions: for changes that must change no figure.

    python3 tests/unchanged.py --before OLD/oomph --after target/release/oomph --python .venv/bin/python

Every number, key, order and identifier in the JSON must be equal; of a sentence only its figures. Reworded sentences are counted, and
listed with --texts.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests" / "programs"
# Times differ from run to run; folders differ between the two builds.
IGNORED = {"seconds", "oomph", "replays_per_second"}


def questions(snapshots: list[str]) -> list[list[str]]:
    """The command lines, after `oomph`."""
    check = ["check", "--json", "--gpu", "rtx-4090"]
    scripts = "accumulate deep_mlp gan inference leak leak_graph value_shapes varying_sizes multi_gpu raises catches_oom".split()
    examples = ROOT / "examples"
    texts = sorted((ROOT / "tests/causes/texts").glob("*.txt"))
    causes = "fragmentation growing_collection optimizer_state need_exceeds_device one_huge_request retained_graph".split()
    return [
        [*check, str(examples / "mlp.py")],
        [*check, str(examples / "gpt2.py"), "--batch-size", "8"],
        [*check, str(examples / "gpt2.py"), "--batch-size", "16"],
        [*check, "--with", "autocast:dtype=bf16,gradient-accumulation:steps=2", str(examples / "gpt2.py"), "--batch-size", "16"],
        [*check, "--vram", "8GiB", str(examples / "resnet50.py")],
        [*check, "--world-size", "4", str(PROGRAMS / "sharded.py")],
        *([*check, str(PROGRAMS / f"{name}.py")] for name in scripts),
        *([*check, str(ROOT / "tests/causes/cases" / name / "program.py")] for name in causes),
        ["check", "--json", "--gpu", "a100-sxm4-40gb", "--steps", "1", str(examples / "resnet50.py")],
        ["fit", "--json", "--gpu", "rtx-3060", "--no-cache", str(examples / "gpt2.py"), "--batch-size", "16"],
        ["tune", "--json", "--gpu", "rtx-4090", "--", "python", str(PROGRAMS / "fragments.py")],
        *(["explain", "--json", str(path)] for path in texts),
        *(["explain", "--json", path] for path in snapshots),
        *(["tune", "--json", path] for path in snapshots),
        ["gpus", "--json"],
        ["lint", "--output-format", "json", str(examples), str(PROGRAMS)],
    ]


def answer(oomph: str, python: str, words: list[str]) -> tuple[int, object]:
    """The exit status and the JSON of a question; other output stays text."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PATH": f"{pathlib.Path(python).parent}:/usr/bin:/bin", "HOME": folder, "OOMPH_PYTHON": python}
        done = subprocess.run([oomph, *words], capture_output=True, text=True, cwd=ROOT, env=environment, timeout=900, stdin=subprocess.DEVNULL)
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        return done.returncode, done.stdout + done.stderr


def differences(before: object, after: object, path: str = ""):
    """Each place at which two answers differ: its path, both values, and whether only words differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            if key not in IGNORED:
                yield from differences(before.get(key), after.get(key), f"{path}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (one, other) in enumerate(zip(before, after)):
            yield from differences(one, other, f"{path}[{place}]")
    elif before != after:
        yield path, before, after, is_reworded(path.rpartition(".")[2], before, after)


def is_reworded(key: str, before: object, after: object) -> bool:
    """True if two sentences have the same figures. An identifier has no blank, and must be equal; a source is a sentence."""
    both = isinstance(before, str) and isinstance(after, str) and (key == "source" or " " in before or " " in after)
    return both and figures(before) == figures(after)


def figures(text: str) -> list[str]:
    """The numbers in a sentence, in any order: words may move."""
    return sorted(re.findall(r"\d+(?:\.\d+)?", text))


def main() -> None:
    """Asks both, and prints the differences; exit status 1 if a figure differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True)
    parser.add_argument("--after", required=True)
    parser.add_argument("--python", default=str(ROOT / ".venv/bin/python"))
    parser.add_argument("--only", default="", help="questions that contain this text")
    parser.add_argument("--texts", action="store_true", help="list reworded sentences")
    parser.add_argument("snapshots", nargs="*", help="snapshots that `explain` and `tune` read as well")
    options = parser.parse_args()
    changed = reworded = asked = 0
    for words in questions(options.snapshots):
        name = " ".join(words).replace(f"{ROOT}/", "")
        if options.only not in name:
            continue
        asked += 1
        python = str(pathlib.Path(options.python).absolute())
        (status, one), (other_status, other) = (answer(oomph, python, words) for oomph in (options.before, options.after))
        found = [*differences(one, other), *([] if status == other_status else [("exit status", status, other_status, False)])]
        changed += any(not same for *_, same in found)
        reworded += sum(same for *_, same in found)
        print("changed" if any(not same for *_, same in found) else "same", name, flush=True)
        for place, was, now, same in found:
            if not same or options.texts:
                print(f"    {place}\n        - {shown(was)}\n        + {shown(now)}", flush=True)
    print(f"{asked - changed} passed, {changed} failed; {reworded} sentences reworded")
    sys.exit(bool(changed))


def shown(value: object) -> str:
    """A value on one line."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text.replace("\n", "\\n")[:400]


if __name__ == "__main__":
    main()
