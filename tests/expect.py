"""Reads the known answer of a program.

    python3 tests/expect.py [KIND ...]     the keys of a kind of programs, with their meaning

A program states its answer in the first block of this form, in TOML:

    # /// expect
    # run = "check"
    # vram = "6GiB"
    # verdict = ["does not fit", "fits so far"]
    # ///

`KEYS` is the schema of all kinds; a kind is a folder of `tests`. Lines count from 1, in the file with the block. A text of the form `store.py:13` is
a line of another file.
"""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:
    # Python 3.10, whose pip has the same parser.
    from pip._vendor import tomli as tomllib

HERE = Path(__file__).resolve().parent
OPENING, CLOSING = "# /// expect", "# ///"
# Verdicts, as a person says them.
VERDICTS = "fits", "fits so far", "does not fit", "incomplete", "fits with plan"
# Stages of a job, in the order of most jobs.
STAGE_NAMES = "load", "steps", "worst-batches", "evaluation", "generation", "save", "later-steps", "next-epoch", "end"


class BlockError(Exception):
    """A wrong block; the message names file and line."""


@dataclass(frozen=True)
class Type:
    """The values of a key."""

    name: str
    accepts: Callable[[object], bool]


def is_number(value: object) -> bool:
    """True for a number of TOML; Python counts `true` as a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_count(value: object) -> bool:
    """True for a whole number that is not negative."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_line(value: object) -> bool:
    """True for a line of the program, or of another file."""
    return is_count(value) or (isinstance(value, str) and re.fullmatch(r"[\w/.]+\.py:\d+", value) is not None)


def is_range(value: object) -> bool:
    """True for two numbers, the smaller one first."""
    return isinstance(value, list) and len(value) == 2 and all(map(is_number, value)) and value[0] <= value[1]


def is_end(value: object) -> bool:
    """True for the end of a process."""
    return isinstance(value, str) and re.fullmatch(r"ok|oom|error|(exit|signal) \d+", value) is not None


def list_of(name: str, accepts: Callable[[object], bool]) -> Type:
    """A list of accepted values, not empty."""
    return Type(f"a list of {name}", lambda value: isinstance(value, list) and value != [] and all(map(accepts, value)))


def choice(*words: str) -> Type:
    """One of some words."""
    return Type(" or ".join(f"`{word}`" for word in words), lambda value: value in words)


TEXT = Type("a text", lambda value: isinstance(value, str))
REASON = Type("a text that is not empty", lambda value: isinstance(value, str) and value.strip() != "")
COUNT = Type("a whole number", is_count)
NUMBER = Type("a number", is_number)
FLAG = Type("`true` or `false`", lambda value: isinstance(value, bool))
BOUNDS = Type("a list of two numbers, the smaller one first", is_range)
TEXTS = list_of("texts", TEXT.accepts)
RULES = Type("a list of rules", lambda value: isinstance(value, list) and all(map(TEXT.accepts, value)))
LINES = list_of("lines", is_line)
TRUTHS = choice("fits", "does not fit")
WORDS = list_of("verdicts", lambda value: value in VERDICTS)
STAGES = list_of("stages", lambda value: value in STAGE_NAMES)
PHRASES = list_of("texts and lines", lambda value: is_count(value) or isinstance(value, str))
ENDS = Type("`ok`, `oom`, `error`, `exit N` or `signal N`", is_end)


@dataclass(frozen=True)
class Key:
    """A key of blocks."""

    type: Type
    meaning: str
    # The kinds that must have the key, and the kinds that may have it.
    needed: str = ""
    allowed: str = ""


PROGRAMS = "fits lives leaks blame caught deaths effects against"
KEYS = {
    "run": Key(choice("check", "fit", "run", "against"), "the command of oomph", needed=PROGRAMS),
    "vram": Key(TEXT, "memory of the device; empty for the GPU's own", needed=PROGRAMS, allowed="causes"),
    "gpu": Key(TEXT, "the GPU, if not the one of the kind", allowed="causes"),
    "gpus": Key(COUNT, "GPUs of the machine; 1 if absent", allowed="fits deaths"),
    "others": Key(TEXT, "memory of each GPU that other processes use", allowed="deaths causes"),
    "args": Key(TEXT, "arguments of the program", allowed="fits"),
    "launch": Key(TEXT, "words between Python and the program", allowed="fits"),
    "command": Key(TEXT, "command after `oomph run --`; `python {program}` if absent", allowed="deaths"),
    "framework": Key(TEXT, "package of target/frameworks that the program imports", allowed="deaths"),
    "needs": Key(TEXTS, "commands without which the case is skipped", allowed="effects"),
    "memory_gib": Key(NUMBER, "host memory of the case; 2 if absent", allowed="effects"),
    "kind": Key(COUNT, "row of the table in fits/README.md", needed="fits"),
    "truth": Key(TRUTHS, "the fate of the whole program on such a device; ranks that NCCL refuses do not fit", needed="fits lives leaks blame"),
    "verdict": Key(WORDS, "the allowed words of the report, with their exit status", needed="fits lives leaks blame caught effects"),
    "need_gib": Key(BOUNDS, "the whole program's need, with context and cache; a report on a part may state less, never more", allowed="fits lives"),
    "full_at": Key(BOUNDS, "the pass, counted from 1, in which growth fills the device", allowed="fits leaks"),
    "grows": Key(FLAG, "true if the passes of a loop fill the device; else no loop may be named", needed="leaks"),
    "loop": Key(LINES, "the line of that loop", allowed="leaks"),
    "keeps_mib": Key(NUMBER, "memory that stays of each pass, to 1 %", allowed="leaks"),
    "allocates": Key(LINES, "lines outside modules that allocate the memory that stays; the report names one", allowed="leaks"),
    "lines": Key(LINES, "lines to blame: one is in the first sentence, the first finding or the refused request", allowed="fits blame"),
    "line": Key(COUNT, "line of the refused request; of several, deaths: the last, caught: the first", allowed="lives caught deaths"),
    "file": Key(TEXT, "file of `line`, if not the program", allowed="deaths"),
    "requested_bytes": Key(COUNT, "size of that request, before rounding", allowed="caught deaths"),
    "printed_bytes": Key(COUNT, "that size in PyTorch's message, where a setting of the allocator rounds it up", allowed="deaths"),
    "caught_line": Key(COUNT, "line that takes the error: `except`, `with` or `finally`", allowed="caught"),
    "stage": Key(STAGES, "stages of the refused request, of which the report has one; of a program that fits: of the look-alike, not compared", needed="lives"),
    "step": Key(COUNT, "optimizer step of the refused request in a full-length run, counted from 1; setup is step 1", allowed="lives"),
    "form": Key(REASON, "the form of the loops, and of the condition", needed="lives"),
    "search": Key(FLAG, "true if the program finds its size by running out, or survives by another way", allowed="caught"),
    "then": Key(TEXT, "what follows; the N of `ended with status N` is compared", needed="caught"),
    "cause": Key(TEXT, "row of the table in blame/README.md; of a program that fits, the cause that its twin has", needed="blame"),
    "first_finding": Key(RULES, "rules of which one is the first finding", allowed="blame"),
    "no_finding": Key(RULES, "rules without a warning or an error", allowed="blame"),
    "saves_mib": Key(NUMBER, "loss of the peak without the cause, by arithmetic; compared by blame/proofs.py", allowed="blame"),
    "says": Key(TEXTS, "phrases of the report's first sentence; of against: of the whole report", allowed="fits against"),
    "says_so_far": Key(TEXTS, "phrases of the first sentence if the word is `fits so far`", allowed="fits"),
    "not_says": Key(TEXTS, "phrases that the first sentence lacks", allowed="fits"),
    "says_any": Key(PHRASES, "phrases and line numbers of which the explanation has one, in lower case", allowed="deaths"),
    "ends": Key(ENDS, "`oom`: uncaught `torch.OutOfMemoryError`; `error`: another one; `exit N`: the program's own status", needed="deaths"),
    "status": Key(COUNT, "exit status: the program's, or 128 + signal; of against: of B, 0 if absent", needed="deaths", allowed="against"),
    "culprit": Key(COUNT, "line with most of the memory at the end or the refused request; absent if several have as much", allowed="deaths"),
    "culprit_file": Key(TEXT, "file of `culprit`, if not the program", allowed="deaths"),
    "caught": Key(COUNT, "out-of-memory errors that the program catches for good", allowed="deaths"),
    "steps": Key(COUNT, "optimizer steps that end", allowed="deaths"),
    "rank": Key(COUNT, "rank that the explanation names; `ends`, `steps` and the rest are about this rank", allowed="deaths"),
    "sentence": Key(TEXT, "the first sentence, as a regular expression", needed="against"),
    "largest": Key(TEXT, "line with the largest difference at the peak, with the bytes of A and of B; `none` if no line differs", allowed="against"),
    "written": Key(COUNT, "regular files that are new at the end, or were written", allowed="effects"),
    "removed": Key(COUNT, "regular files of the start that are gone at the end; a renamed file is one removed and one written", allowed="effects"),
    "folders_made": Key(COUNT, "folders that are new at the end", allowed="effects"),
    "folders_removed": Key(COUNT, "folders of the start that are gone at the end", allowed="effects"),
    "connections": Key(COUNT, "connections to the test server", allowed="effects"),
    "posts": Key(COUNT, "the most POST requests that may reach the test server, in all runs of the command", allowed="effects"),
    "reaches_gib": Key(NUMBER, "the least need: the run without a limit comes to the request that the device refuses", allowed="effects"),
    "seen": Key(FLAG, "false if the program ends before its last line", allowed="effects"),
    "wait": Key(NUMBER, "seconds until a second snapshot", allowed="effects"),
    "commands": Key(choice("check", "fit", "run"), "the command of the scene", needed="scenes"),
    "guards": Key(choice("both", "namespace", "functions", "none"), "guards under which the scene holds", needed="scenes"),
    "rule": Key(TEXT, "the first rule, from the snapshot", needed="causes"),
    "text": Key(RULES, "rules of which one comes first from the text alone; empty if the program prints no error", allowed="causes"),
    "needs_text": Key(FLAG, "true if the snapshot needs the text, because the cause is outside PyTorch's allocator", allowed="causes"),
    "ranks": Key(COUNT, "processes of the job; 0 for a single process", allowed="causes"),
    "control": Key(RULES, "the right findings on the control", allowed="causes"),
    "also": Key(RULES, "rules that the text shows beside the first", allowed="causes"),
    "on_windows": Key(FLAG, "true if the program, not its control, lies on a drive of Windows", allowed="causes"),
    "shared": Key(TEXT, "size of shared memory, as tmpfs takes it", allowed="causes"),
    "open": Key(REASON, "the reason why oomph is known to answer otherwise today; a right answer fails", allowed=f"{PROGRAMS} scenes"),
    "open_functions": Key(REASON, "the same, under the guard `functions` alone", allowed="effects scenes"),
    "why": Key(TEXT, "the arithmetic, or where the pattern is found", needed="fits lives leaks blame caught scenes", allowed="deaths effects against"),
}
# Keys that a value of another key asks for: kind, key, value, more keys.
COMPANIONS = (
    ("leaks", "grows", True, ("loop", "keeps_mib", "allocates", "full_at")),
    ("lives", "truth", "does not fit", ("line", "need_gib")),
    ("blame", "truth", "does not fit", ("first_finding", "lines")),
    ("blame", "truth", "fits", ("no_finding",)),
    ("caught", "verdict", ["fits", "fits so far"], ("search",)),
    ("deaths", "ends", "oom", ("line", "requested_bytes")),
)


def read(path: Path) -> dict:
    """The keys and values of a program's block."""
    return parse(path.read_text(encoding="utf-8"), str(path.relative_to(HERE.parent)), kind_of(path))


def kind_of(path: Path) -> str:
    """The kind of a program, by its folder."""
    parts = path.relative_to(HERE).parts
    return "scenes" if parts[1] == "scenes" else parts[0]


def parse(text: str, name: str, kind: str) -> dict:
    """The keys and values of the first block in the source of a program."""
    lines = text.splitlines()
    if OPENING not in lines:
        raise BlockError(f"{name}:1: no block `{OPENING}`")
    start = lines.index(OPENING) + 1
    block = list(take_block(lines, start, name))
    values = decode(block, start, name)
    for key, problem in problems(values, kind):
        inside = next((number for number, line in enumerate(block, 1) if re.match(rf"{re.escape(key)}\s*=", line)), 0)
        raise BlockError(f"{name}:{start + inside}: {problem}")
    return values


def take_block(lines: list[str], start: int, name: str) -> Iterator[str]:
    """The lines of a block without their comment signs."""
    for number, line in enumerate(lines[start:], start + 1):
        if line == CLOSING:
            return
        if not line.startswith("# "):
            raise BlockError(f"{name}:{number}: expected `{CLOSING}`, the end of the block")
        yield line.removeprefix("# ")
    raise BlockError(f"{name}:{len(lines)}: expected `{CLOSING}`, the end of the block")


def decode(block: list[str], start: int, name: str) -> dict:
    """The values of the lines of a block."""
    try:
        return tomllib.loads("\n".join(block))
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at (?:line (\d+).*|end of document)\)$", str(error))
        inside = int(place[1] or len(block)) if place else 0
        raise BlockError(f"{name}:{start + inside}: {str(error)[: place.start() if place else None]}") from error


def problems(values: dict, kind: str) -> Iterator[tuple[str, str]]:
    """Keys that the schema does not have for this kind, with wrong values, and missing ones."""
    for key, value in values.items():
        known = KEYS.get(key)
        if known is None or kind not in f"{known.needed} {known.allowed}".split():
            yield key, f"unknown key `{key}` of {kind}"
        elif not known.type.accepts(value):
            yield key, f"`{key}` is {value!r}, expected {known.type.name}"
    needed = [key for key, known in KEYS.items() if kind in known.needed.split()]
    needed += [key for of, name, value, more in COMPANIONS if of == kind and values.get(name) == value for key in more]
    for key in needed:
        if key not in values:
            yield key, f"no `{key}`, expected {KEYS[key].type.name}"


def main() -> None:
    """Prints the keys of kinds."""
    every = sorted({kind for key in KEYS.values() for kind in f"{key.needed} {key.allowed}".split()})
    for kind in sys.argv[1:] or every:
        print(kind)
        for name, key in KEYS.items():
            if kind in f"{key.needed} {key.allowed}".split():
                print(f"  {name:16} {'needed' if kind in key.needed.split() else '':7} {key.type.name}: {key.meaning}")


if __name__ == "__main__":
    main()
