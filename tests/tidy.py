"""Checks what no compiler checks: licences, opening comments, lengths, clocks in tests, arrows, circles, names, prose, variables, known answers of
programs.

    python3 tests/tidy.py              the problems
    python3 tests/tidy.py --measure    the figures behind them
    python3 tests/tidy.py --list PART  the comments of a crate, of `agent` or of `tests` that STYLE.md would have rewritten
"""

import json
import pathlib
import re
import subprocess
import sys

import expect
from tidying import blocks, circles, clocks, floors, foreign, imports, lengths, names, prose, repeats, samples, words

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The largest share of sentences that lean on pronouns, of pronouns among the words of a part and of a file, and of comments that
# open with a question word. Files and parts of fewer than `FEW` sentences have no density. Only ever lowered.
LEANING, DENSITY, FILE_DENSITY, OPENING = 0.03, 0.07, 0.09, 0.01
FEW = 10
CRATES_OF_A_TYPE = 2
# Names of structures and enumerations with more than one definition in the workspace. Only ever lowered.
REPEATED = 140
VARIABLES = "crates/wire/src/variable.rs"
# SPDX terms that an MIT OR Apache-2.0 program may carry in its binary.
LICENCES = {"MIT", "Apache-2.0", "Unicode-3.0", "Zlib", "BSD-2-Clause", "BSD-3-Clause", "ISC", "0BSD", "CC0-1.0", "Unlicense", "BSL-1.0"}
# The allowed dependencies of our crates: the arrows of ARCHITECTURE.md.
ARROWS = {
    "wire": set(),
    "trace": {"wire"},
    "phantom": {"wire", "world"},
    "world": {"wire"},
    "recorder": {"wire", "trace"},
    "gpus": {"trace", "wire"},
    "causes": set(),
    "options": set(),
    "remedies": set(),
    "report": {"causes", "options", "remedies", "trace"},
    "allocator": {"trace"},
    "diagnose": {"wire", "trace", "allocator", "causes", "options", "remedies", "report"},
    "python": set(),
    "patch": {"options", "python", "remedies", "report", "trace"},
    "lint": {"causes", "python", "report"},
    "mcp": set(),
    "run": {"wire", "trace", "options", "remedies", "report"},
    "generate": {"wire", "trace", "gpus", "remedies", "report", "lint", "oomph"},
    "base": {"wire", "trace", "gpus", "options", "diagnose"},
    "drive": {"base", "wire", "trace", "gpus", "options", "run", "diagnose", "world"},
    "oomph": {"wire", "trace", "gpus", "causes", "options", "remedies", "report", "run", "diagnose", "patch", "lint", "mcp", "base", "drive"},
}


def main() -> None:
    """Prints each problem; exit status 1 for any."""
    if sys.argv[1:] == ["--measure"]:
        return measure()
    if sys.argv[1:2] == ["--list"]:
        return list_comments(" ".join(sys.argv[2:]))
    packages = json.loads(run("cargo", "metadata", "--format-version", "1", "--locked"))["packages"]
    problems = [*licences(packages), *arrows(packages), *files(), *wording(), *naming(), *untied(), *variables()]
    problems += [*blocks.problems(list_files("tests/*.py")), *samples.find_faults(), *floors.find_upward(ROOT)]
    print("\n".join(problems) or "tidy")
    sys.exit(bool(problems))


def run(*command: str) -> str:
    """Runs a command and returns its output."""
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def list_files(*patterns: str) -> list[str]:
    """The tracked files, and new files that git does not ignore: a mistake in a new file shows before the commit."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns).split("\0")
    return [name for name in listed if name and (ROOT / name).is_file()]


def licences(packages: list[dict]):
    """A dependency is fine if one side of an OR, with every part of its AND, is known."""
    for package in packages:
        expression = (package["license"] or "").replace("/", " OR ").replace("(", "").replace(")", "")
        sides = [side.replace(" WITH LLVM-exception", "").split(" AND ") for side in expression.split(" OR ")]
        if not any(all(term.strip() in LICENCES for term in side) for side in sides):
            yield f"{package['name']} {package['version']}: licence `{package['license']}` is not on the list"


def arrows(packages: list[dict]):
    """Our crates depend one way."""
    for package in packages:
        if package["name"] in ARROWS and package["source"] is None:
            used = {dependency["name"] for dependency in package["dependencies"]} & ARROWS.keys()
            for extra in used - ARROWS[package["name"]]:
                yield f"{package['name']} must not depend on {extra}"


def files():
    """Each source file opens with its purpose, neither the file nor a function in it is too long, and no test fails by a clock."""
    for name in list_files("*.rs", "*.py"):
        text = (ROOT / name).read_text(encoding="utf-8")
        if "/generated/" not in name:
            yield from lengths.find_long(name, text)
        if name.startswith(("tests/", "python/tests/")):
            yield from clocks.find_clocks(name, text)
            yield from foreign.find_foreign(name, text)
        lines = text.splitlines()
        opening = next((line for line in lines if line.strip() and not line.startswith(("#!", "// Note"))), "")
        # A program with a known answer opens with the answer (tests/expect.py), a case of `tests/notebook` with the arithmetic.
        is_case = re.match(r"tests/notebook/(work|blind)", name) and opening.startswith("# ")
        if not is_case and not opening.startswith(("//!", '"""', 'r"""', expect.OPENING)):
            yield f"{name}: opens with `{opening[:60]}`, expected a comment that says what the file is for"


def source_names() -> list[str]:
    """The Rust and Python files."""
    return list_files("*.rs", "*.py")


def wording():
    """Comments name what they mean, and do not repeat a name (STYLE.md)."""
    patterns = words.replaced(ROOT / "STYLE.md")
    for name, part in sorted(prose.parts(ROOT, source_names()).items()):
        if name == prose.HELP:
            continue
        if part.leaning() > LEANING and len(part.sentences) >= FEW:
            yield f"{name}: {part.leaning():.1%} of the sentences in comments lean on pronouns, at most {LEANING:.0%} (--list {name})"
        if part.opening() > OPENING:
            yield f"{name}: {part.opening():.1%} of the comments open with a question word, at most {OPENING:.0%} (--list {name})"
        if part.density() > DENSITY and len(part.sentences) >= FEW:
            yield f"{name}: {part.density():.1%} of the words in comments are pronouns, at most {DENSITY:.0%}"
        for path, file in part.files().items():
            if file.density() > FILE_DENSITY and len(file.sentences) >= FEW:
                yield f"{path.relative_to(ROOT)}: {file.density():.1%} of the words in comments are pronouns, at most {FILE_DENSITY:.0%}"
        for comment, entry in words.in_comments(part.comments, patterns):
            yield f"{comment.path.relative_to(ROOT)}:{comment.line}: STYLE.md has another word for `{entry}`"
    for name in source_names():
        if name.startswith("crates/") and prose.part_of(name) is not None:
            for line, comment in repeats.found(ROOT / name):
                yield f"{name}:{line}: `{comment}` only repeats the name below"


def naming():
    """A type name belongs to two crates at most, few are defined twice, and no name is a module, a function, a field and a local of one crate."""
    repeated = names.repeated([text for _, _, text in names.sources(ROOT)])
    if len(repeated) > REPEATED:
        yield f"{len(repeated)} names of types are defined more than once, at most {REPEATED}: {', '.join(repeated)}"
    for name, paths in sorted(names.types(ROOT).items()):
        if len(names.crates_of(paths)) > CRATES_OF_A_TYPE:
            yield f"the type name {name} is in {', '.join(map(str, paths))}: at most {CRATES_OF_A_TYPE} crates"
    for crate, name in names.one_name_for_all(ROOT):
        yield f"crates/{crate}: {name} is a module, a function, a field and a local; call the function by its verb"


def untied():
    """No circles between files, nor between folders."""
    for kind, part, group in all_circles():
        yield f"{part}: a circle of {kind}: {', '.join(group)}"


def measure() -> None:
    """Prints the figures of prose, names and circles."""
    print("comments            openings          leaning sentences   pronouns")
    parts = prose.parts(ROOT, source_names())
    for name, part in [*sorted(parts.items()), ("all", prose.Part([c for part in parts.values() for c in part.comments]))]:
        print(
            f"  {name:16} {len(part.openings()):4} of {len(part.comments):5} {part.opening():6.1%}"
            f"  {part.leaning():6.1%} of {len(part.sentences):5}  {part.density():6.1%} of the words"
        )
    files = {path: file for part in parts.values() for path, file in part.files().items() if len(file.sentences) >= FEW}
    print(f"densest files of {FEW} sentences or more")
    for path, file in sorted(files.items(), key=lambda item: -item[1].density())[:10]:
        print(f"  {file.density():6.1%}  {path.relative_to(ROOT)}")
    types = names.types(ROOT)
    several = {name: paths for name, paths in types.items() if len(paths) > 1}
    print(f"type names {len(types)}, defined more than once {len(several)}")
    for name, paths in sorted(several.items(), key=lambda item: -len(names.crates_of(item[1]))):
        if len(names.crates_of(paths)) > 2:
            print(f"  {name}: {', '.join(sorted(names.crates_of(paths)))}")
    print("module, function, field and local of one name:", ", ".join(f"{crate}::{name}" for crate, name in names.one_name_for_all(ROOT)))
    print("locals named after the function that computes them:", len(list(names.shadows(ROOT))))
    found = list(all_circles())
    print(f"circles {len(found)}")
    for kind, part, group in found:
        print(f"  {part}: {len(group)} {kind}: {', '.join(group)}")


def all_circles():
    """Every circle: of files or of folders, with the crate and the modules."""
    parts = {crate.name: circles.rust_edges(crate) for crate in sorted((ROOT / "crates").iterdir())}
    for part, edges in {**parts, "python": imports.python_edges(ROOT / "python")}.items():
        for kind, graph in (("files", edges), ("folders", circles.between_folders(edges))):
            for group in circles.groups(graph):
                yield kind, part, ["::".join(module) for module in group]


def list_comments(name: str) -> None:
    """Prints the sentences of one part that lean on pronouns, and its comments with wrong openings or words."""
    part = prose.parts(ROOT, source_names()).get(name, prose.Part([]))
    patterns = words.replaced(ROOT / "STYLE.md")
    faults = [
        *((s.path, s.line, "leans", s.text) for s in part.sentences if s.leans()),
        *((c.path, c.line, "opens", c.lines[0]) for c in part.openings()),
        *((c.path, c.line, f"`{entry}`", c.lines[0]) for c, entry in words.in_comments(part.comments, patterns)),
    ]
    for path, line, fault, text in sorted(faults):
        print(f"{path.relative_to(ROOT)}:{line}: {fault}: {text}")


def variables():
    """Every variable in a source has a row."""
    names = set(re.findall(r"\"(OOMPH_[A-Z_]+)\"", (ROOT / VARIABLES).read_text(encoding="utf-8")))
    for name in list_files("crates/*/src/*.rs", "python/oomph/*.py"):
        for found in sorted(set(re.findall(r"\"(OOMPH_[A-Z_]+)\"", (ROOT / name).read_text(encoding="utf-8"))) - names):
            yield f"{name}: {found} has no row in {VARIABLES}"


if __name__ == "__main__":
    main()
