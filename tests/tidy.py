"""What no compiler checks: licences of dependencies, opening comments, lengths of files, arrows between crates, rule pages.

    python3 tests/tidy.py
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINES = 800
# SPDX terms that an MIT OR Apache-2.0 program may carry in its binary.
LICENCES = {"MIT", "Apache-2.0", "Unicode-3.0", "Zlib", "BSD-2-Clause", "BSD-3-Clause", "ISC", "0BSD", "CC0-1.0", "Unlicense", "BSL-1.0"}
# Which of our crates each may depend on: the arrows of ARCHITECTURE.md.
ARROWS = {
    "trace": set(),
    "phantom": set(),
    "gpus": {"trace"},
    "report": {"trace"},
    "allocator": {"trace"},
    "diagnose": {"trace", "allocator", "report"},
    "python": set(),
    "patch": {"python", "report"},
    "lint": {"python", "report"},
    "oomph": {"trace", "gpus", "report", "diagnose", "patch", "lint"},
}


def main() -> None:
    """Prints each problem; exit status 1 if there is one."""
    packages = json.loads(run("cargo", "metadata", "--format-version", "1", "--locked"))["packages"]
    problems = [*licences(packages), *arrows(packages), *files(), *rule_pages()]
    print("\n".join(problems) or "tidy")
    sys.exit(bool(problems))


def run(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


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
    """Each source file says first what it is for, and ends before it becomes a place where reading stops."""
    for name in run("git", "ls-files", "-z", "*.rs", "*.py").split("\0"):
        path = ROOT / name
        if not name or not path.is_file():
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        opening = next((line for line in lines if line.strip() and not line.startswith(("#!", "// Note"))), "")
        if not opening.startswith(("//!", '"""', 'r"""')):
            yield f"{name}: opens with `{opening[:60]}`, expected a comment that says what the file is for"
        if len(lines) > LINES and "/generated/" not in name:
            yield f"{name}: {len(lines)} lines, at most {LINES}"


def rule_pages():
    """Every rule has a page, and every page a rule."""
    source = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "crates/diagnose/src/rules").glob("*.rs")))
    pages = {path.stem for path in (ROOT / "docs/rules").glob("*.md")} - {"README"}
    for rule in sorted(set(re.findall(r'RuleId\("([a-z-]+)"\)', source)) - pages):
        yield f"the rule {rule} has no page docs/rules/{rule}.md"
    for page in sorted(page for page in pages if f'"{page}"' not in source):
        yield f"docs/rules/{page}.md is of no rule in crates/diagnose/src/rules"


if __name__ == "__main__":
    main()
