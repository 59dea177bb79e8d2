"""The gates of a release that a program can hold: version, changelog and branch of a tag (docs/release.md has the others).

    python3 tests/packaging/gates.py v1.2.3
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BRANCH = "origin/main"


def main() -> int:
    """Exit status 1 for any problem; each is printed."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    problems = [*find_faults(sys.argv[1], version, changelog), *find_strays()]
    print("\n".join(problems) or f"{sys.argv[1]} may be released")
    return bool(problems)


def find_faults(tag: str, version: str, changelog: str) -> list[str]:
    """The contradictions between a tag, the version of the workspace, and the changelog."""
    problems = []
    if tag != f"v{version}":
        problems.append(f"the tag is {tag}, and Cargo.toml has {version}: expected v{version}")
    sections = dict(re.findall(r"^## (\S+)[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL))
    if not sections.get(version, "").strip():
        problems.append(f"CHANGELOG.md has no section `## {version}` with text")
    if sections.get("Unreleased", "").strip():
        problems.append(f"CHANGELOG.md has lines under *Unreleased*: they belong under {version}")
    return problems


def find_strays() -> list[str]:
    """A tag whose commit is on no released branch."""
    on_branch = subprocess.run(["git", "merge-base", "--is-ancestor", "HEAD", BRANCH], cwd=ROOT, check=False).returncode == 0
    return [] if on_branch else [f"the tagged commit is not on {BRANCH}"]


if __name__ == "__main__":
    sys.exit(main())
