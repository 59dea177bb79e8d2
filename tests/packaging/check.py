"""The package around the binary: completions in real shells, man pages, workflows and issue forms, gates of a release.

    python tests/packaging/check.py --oomph target/debug/oomph [WORD ...]

`tests/wheel.py`, `sdist.py` and `chroot.py` have the built files (docs/release.md).
"""

import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import gates
import suite
import workflows

PATIENCE = 60
# The generator of man pages.
SHARE = workflows.ROOT / "crates/generate/src/share.rs"
# A line up to the cursor, and its last word after Tab.
COMPLETED = [
    ("oomph che", "check"),
    ("oomph check --gpu rtx-409", "rtx-4090"),
    ("oomph fit --deny gradient-acc", "gradient-accumulation"),
    ("oomph lint --ignore retain-gr", "retain-graph-in-loop"),
    ("oomph check --form", "--format"),
]
# A command that no help page names is not offered.
HIDDEN = "oomph record-"
# Puts the words of a line into bash's variables of a completion, and prints the answer of the script.
BASH = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _oomph oomph "${@: -1}" "${@: -2:1}"; printf "%s\\n" "${COMPREPLY[@]}"'
FISH = "source $argv[1]; complete -C $argv[2]"
# zsh completes on a terminal alone. Tab, then Ctrl-X, which prints the line.
ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=(${(q)1} \\$fpath); autoload -U compinit; compinit -u -D; show() { print -r -- \\"line=[\\$BUFFER]\\" }; zle -N show; bindkey '^X' show; print ready"
zpty -r -m shell answer '*ready*ready*'
zpty -w -n shell "$2"$'\\t\\x18'
zpty -r -m shell answer '*line=\\[*\\]*'
print -r -- "${${answer##*line=\\[}%%\\]*}"
"""


def main() -> int:
    """Exit status 1 for any fault."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.absolute()
    shells = {"bash": complete_in_bash, "zsh": complete_in_zsh, "fish": complete_in_fish}
    cases = [suite.Case(f"completion in {name}", partial(complete, oomph, name, answer)) for name, answer in shells.items()]
    cases += [suite.Case(f"workflow {path.name}", partial(hold, workflows.find_workflow_faults, path)) for path in workflows.list_workflows()]
    forms = [path for path in sorted((workflows.GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) if path.name != "config.yml"]
    cases += [suite.Case(f"form {path.name}", partial(hold, workflows.find_form_faults, path)) for path in forms]
    bodies = [print_scripts, render_pages, close_gates]
    cases += [suite.Case(body.__doc__.splitlines()[0], partial(body, oomph)) for body in bodies]
    return suite.run("packaging", cases, arguments)


def hold(find, path: Path) -> None:
    """Holds a file to its rules."""
    faults = list(find(path))
    assert not faults, "\n".join(faults)


def run(*command, **options) -> str:
    """The output of a command that has to succeed."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE, check=False, **options)
    assert done.returncode == 0 and not done.stderr, f"{command}: exit status {done.returncode}: {done.stderr}"
    return done.stdout


def complete(oomph: Path, shell: str, answer) -> str:
    """Completes lines in a shell."""
    if not shutil.which(shell):
        raise suite.Skip(f"{shell} is not installed")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "_oomph"
        script.write_text(run(oomph, "completions", shell), encoding="utf-8")
        for line, expected in COMPLETED:
            found = answer(script, line)
            assert expected in found, f"{line}: {found}"
        assert not any("record-into" in word for word in answer(script, HIDDEN)), HIDDEN
    return f"{len(COMPLETED)} lines"


def complete_in_bash(script: Path, line: str) -> list[str]:
    """The words that bash offers."""
    return run("bash", "--norc", "-c", BASH, "bash", script, *line.split()).split()


def complete_in_fish(script: Path, line: str) -> list[str]:
    """The words that fish offers, without their descriptions."""
    return [row.split("\t")[0] for row in run("fish", "--no-config", "-c", FISH, script, line).splitlines()]


def complete_in_zsh(script: Path, line: str) -> list[str]:
    """The words of the line after Tab. An option that takes a value has an `=` behind it."""
    return [word.rstrip("=") for word in run("zsh", "-f", "-c", ZSH, "zsh", script.parent, line).split()]


def print_scripts(oomph: Path) -> None:
    """every shell has a script, and another one is refused"""
    for shell in ("bash", "zsh", "fish", "powershell", "elvish"):
        assert "oomph" in run(oomph, "completions", shell), shell
    refused = subprocess.run([oomph, "completions", "csh"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "possible values: bash, elvish, fish" in refused.stderr, refused.stderr


def render_pages(oomph: Path) -> str:
    """a man page for each command, and no warning of the formatter"""
    generate = oomph.parent / "generate"
    # An older build does not know the option, and would write other files.
    if not generate.is_file() or generate.stat().st_mtime < SHARE.stat().st_mtime:
        raise suite.Skip(f"{generate} is not built from these sources")
    if not shutil.which("groff"):
        raise suite.Skip("groff is not installed")
    with tempfile.TemporaryDirectory() as folder:
        run(generate, "--share", folder)
        pages = sorted(Path(folder).glob("man/man1/*.1"))
        texts = {page.stem: run("groff", "-man", "-Tutf8", "-ww", "-P-cbou", page) for page in pages}
    commands = {f"oomph-{line.split()[0]}" for line in run(oomph, "--help").split("Commands:\n")[1].split("\n\n")[0].splitlines() if not line.startswith("   ")}
    assert set(texts) == {"oomph", *commands} - {"oomph-help"}, (sorted(texts), sorted(commands))
    assert "rtx-4090" in texts["oomph-check"] and "EXAMPLES" in texts["oomph-check"], texts["oomph-check"]
    return f"{len(pages)} pages"


def close_gates(_: Path) -> None:
    """a tag that contradicts the version or the changelog is refused"""
    good = "# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-01-01\n\n### Added\n- A line.\n\n## 1.2.2\n- Another.\n"
    for tag, version, changelog, faults in [
        ("v1.2.3", "1.2.3", good, 0),
        ("1.2.3", "1.2.3", good, 1),
        ("v1.2.4", "1.2.3", good, 1),
        ("v1.2.4", "1.2.4", good, 1),
        ("v1.2.3", "1.2.3", good.replace("Unreleased\n", "Unreleased\n- Forgotten.\n"), 1),
        ("v1.2.3", "1.2.3", "# Changelog\n", 1),
    ]:
        found = gates.find_faults(tag, version, changelog)
        assert len(found) == faults, (tag, version, found)


if __name__ == "__main__":
    sys.exit(main())
