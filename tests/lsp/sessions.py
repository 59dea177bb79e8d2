"""Sessions of an editor: diagnostics, actions, hover and settings."""

import asyncio
import json
import subprocess
from pathlib import Path

import mistake
from client import apply, connect
from lsprotocol import types
from mistake import BOTH, CLEAN, MENDED, MISTAKE, RULE

# The protocol counts from 0.
LINE, COLUMN, END = mistake.LINE - 1, mistake.COLUMN - 1, mistake.END - 1
SILENCED = MISTAKE.replace("total += loss", f"total += loss  # oomph: ignore[{RULE}]")
QUICK_FIX, SOURCE, FIX_ALL = "quickfix", "source", "source.fixAll.oomph"


def place(line: int = LINE, start: int = COLUMN, end: int = END) -> types.Range:
    """A range in a line."""
    return types.Range(start=types.Position(line=line, character=start), end=types.Position(line=line, character=end))


def equal(found: object, expected: object, what: str) -> None:
    """Fails with both values."""
    assert found == expected, f"{what}: expected {expected!r}, found {found!r}"


def fixed_by_command(oomph: Path, text: str, *words: str) -> str:
    """The text after `lint --fix`."""
    done = subprocess.run([oomph, "lint", "--isolated", "--fix", *words, "-"], input=text, capture_output=True, text=True)
    return done.stdout


async def diagnostics(oomph: Path, folder: Path) -> None:
    """Diagnostics are published at an opening and a change, of the client's version, and withdrawn at the end."""
    async with connect(oomph, folder) as client:
        [found] = await client.open("train.py", MISTAKE)
        equal((found.range, found.code, found.source), (place(), RULE, "oomph"), "the diagnostic")
        equal(found.severity, types.DiagnosticSeverity.Error, "the severity")
        assert found.message.endswith("; add `loss.item()` or `loss.detach()`"), found.message
        equal(found.code_description, None, "the link of a rule that has no address")
        client.change("train.py", 2, (place(LINE, END, END), ".item()"))
        equal(await client.diagnostics("train.py", 2), [], "the diagnostics after an edit")
        client.change("train.py", 3, (place(LINE, END, END + 7), ""), (place(0, 0, 0), "# é\n"))
        [found] = await client.diagnostics("train.py", 3)
        equal(found.range, place(LINE + 1), "the place after two edits")
        equal(await client.replace("train.py", 4, "import torch\nloss ="), [], "the diagnostics of a text that is no Python")
        equal(len(await client.replace("train.py", 5, MISTAKE)), 1, "the diagnostics of the whole text")
        client.text_document_did_close(types.DidCloseTextDocumentParams(text_document=types.TextDocumentIdentifier(uri=client.uri("train.py"))))
        equal(await client.diagnostics("train.py", None), [], "the diagnostics of a closed document")


async def encodings(oomph: Path, folder: Path) -> None:
    """Columns count the units of the encoding that was agreed on."""
    text = MISTAKE.replace("total += loss", "'é🔥'; total += loss")
    widths = {types.PositionEncodingKind.Utf8: 6, types.PositionEncodingKind.Utf16: 3, types.PositionEncodingKind.Utf32: 2}
    for encoding, width in widths.items():
        async with connect(oomph, folder, encoding=encoding) as client:
            start = COLUMN + width + len("''; ")
            for mark in ("", "\ufeff"):
                [found] = await client.open("train.py", mark + text)
                equal(found.range, place(LINE, start, start + END - COLUMN), f"the range in {encoding}")
                [fix, *_] = await client.actions("train.py", found.range, QUICK_FIX)
                equal(apply(fix, mark + text, encoding), mark + text.replace("total += loss", "total += loss.detach()"), f"the fix in {encoding}")
            client.change("train.py", 2, (place(LINE, start + END - COLUMN, start + END - COLUMN), ".item()"))
            equal(await client.diagnostics("train.py", 2), [], f"the diagnostics after an edit in {encoding}")


async def fixes(oomph: Path, folder: Path) -> None:
    """A safe fix is preferred, an unsafe one is named so, and each is the fix of the command line."""
    everywhere = types.Range(start=types.Position(line=0, character=0), end=types.Position(line=99, character=0))
    for takes_versions in (True, False):
        async with connect(oomph, folder, takes_versions=takes_versions) as client:
            found = await client.open("train.py", BOTH)
            equal(sorted(one.code for one in found), [RULE, "retain-graph-in-loop"], "the rules")
            actions = {action.diagnostics[0].code: action for action in await client.actions("train.py", everywhere, QUICK_FIX) if "ignore" not in action.title}
            safe, unsafe = actions[RULE], actions["retain-graph-in-loop"]
            equal((safe.is_preferred, unsafe.is_preferred), (True, None), "the preferred action")
            assert "unsafe" in unsafe.title and "unsafe" not in safe.title, (safe.title, unsafe.title)
            equal(apply(safe, BOTH, client.encoding), fixed_by_command(oomph, BOTH), "the safe fix")
            equal(apply(unsafe, BOTH, client.encoding), BOTH.replace("retain_graph=True", "retain_graph=False"), "the unsafe fix")
            equal(bool(safe.edit.document_changes), takes_versions, "edits with a version")
            equal(await client.actions("train.py", place(0, 0, 1), QUICK_FIX), [], "the actions elsewhere")


async def fix_all(oomph: Path, folder: Path) -> None:
    """The action `source.fixAll.oomph` makes all safe fixes, or with the setting the unsafe ones, as `--fix` does."""
    text = BOTH + MISTAKE.replace("def train", "def again").removeprefix("import torch\n")
    async with connect(oomph, folder) as client:
        await client.open("train.py", text)
        for only in (FIX_ALL, "source.fixAll", SOURCE):
            [action] = await client.actions("train.py", place(0, 0, 0), only)
            equal((action.kind, apply(action, text, client.encoding)), (FIX_ALL, fixed_by_command(oomph, text)), f"the action for {only}")
        equal(await client.actions("train.py", place(0, 0, 0), "source.fix"), [], "the actions of another kind")
        (folder / "oomph.toml").write_text("[lint]\nunsafe-fixes = true\n")
        [action] = await client.actions("train.py", place(0, 0, 0), FIX_ALL)
        equal(apply(action, text, client.encoding), fixed_by_command(oomph, text, "--unsafe-fixes"), "the unsafe fixes")
        await client.replace("train.py", 2, CLEAN)
        equal(await client.actions("train.py", place(0, 0, 0), FIX_ALL), [], "the action without a fix")


async def silence(oomph: Path, folder: Path) -> None:
    """A finding can be ignored at its line, and is gone then."""
    async with connect(oomph, folder) as client:
        [found] = await client.open("train.py", MISTAKE)
        [action] = [action for action in await client.actions("train.py", found.range) if "ignore" in action.title]
        equal((action.title, action.is_preferred), (f"oomph: ignore {RULE} here", None), "the action")
        equal(apply(action, MISTAKE, client.encoding), SILENCED, "the text")
        equal(await client.replace("train.py", 2, SILENCED), [], "the diagnostics after it")


async def hover(oomph: Path, folder: Path) -> None:
    """The page of the rule hovers over a finding."""
    page = subprocess.run([oomph, "rule", RULE], capture_output=True, text=True, check=True).stdout
    async with connect(oomph, folder) as client:
        await client.open("train.py", MISTAKE)
        equal(await client.page("train.py", types.Position(line=LINE, character=COLUMN + 2)), page, "the page")
        equal(await client.page("train.py", types.Position(line=0, character=0)), None, "the page elsewhere")


async def settings(oomph: Path, folder: Path) -> None:
    """Settings are those of the command line in the folder of the workspace; a wrong file is an error that is shown once."""
    async with connect(oomph, folder) as client:
        equal(len(await client.open("src/train.py", MISTAKE)), 1, "the diagnostics without settings")
        version = 1
        cases = (
            (f'[lint]\nignore = ["{RULE}"]\n', 0, ""), ('[lint]\nexclude = ["src/"]\n', 0, ""), ('[lint]\nexclude = ["other/"]\n', 1, ""),
            ('[lint]\nnonsense = 1\n', 0, "nonsense"), ('[lint]\nignore = []\n', 1, ""),
        )  # fmt: skip
        for text, expected, shown in cases:
            (folder / "oomph.toml").write_text(text)
            client.messages.clear()
            for _ in range(2):
                version += 1
                equal(len(await client.replace("src/train.py", version, MISTAKE)), expected, f"the diagnostics with {text!r}")
            equal([shown in message for message in client.messages], [True] if shown else [], f"the messages with {text!r}: {client.messages}")
        (folder / "oomph.toml").write_text(f'[lint]\nignore = ["{RULE}"]\n')
        client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes=[]))
        equal(await client.diagnostics("src/train.py", version), [], "the diagnostics after a change of the settings")
        equal(client.registered, ["workspace/didChangeWatchedFiles"], "the registered notifications")
    async with connect(oomph, folder, "--isolated", "--select", RULE) as client:
        equal(len(await client.open("src/train.py", MISTAKE)), 1, "the diagnostics with options")


async def baseline(oomph: Path, folder: Path) -> None:
    """Findings of the baseline are not shown, and not fixed."""
    (folder / "train.py").write_text(MISTAKE)
    subprocess.run([oomph, "lint", "--write-baseline", "known.json"], cwd=folder, check=True, capture_output=True)
    (folder / "pyproject.toml").write_text('[tool.oomph.lint]\nbaseline = "known.json"\n')
    async with connect(oomph, folder) as client:
        equal(await client.open("train.py", MISTAKE), [], "the diagnostics")
        [found] = await client.replace("train.py", 2, BOTH)
        equal(found.code, "retain-graph-in-loop", "the new finding")
        equal([action.title for action in await client.actions("train.py", place(), FIX_ALL)], [], "the fixes")


async def projects(oomph: Path, folder: Path) -> None:
    """A name is followed into the unsaved text of another document, and a save lints all open documents again."""
    helper = "def keep(total, loss):\n    return total + loss\n"
    main = MISTAKE.replace("import torch\n", "import torch\nfrom helper import keep\n").replace("total += loss", "total = keep(total, loss)")
    (folder / "helper.py").write_text(helper)
    (folder / "train.py").write_text(main)
    async with connect(oomph, folder) as client:
        [found] = await client.open("train.py", main)
        equal(found.code, RULE, "the finding through the helper")
        client.open_only("helper.py", helper.replace("+ loss", "+ loss.item()"))
        await client.diagnostics("helper.py", 1)
        equal(await client.replace("train.py", 2, main), [], "the diagnostics with the unsaved helper")
        client.change("helper.py", 2, (None, helper))
        client.save("helper.py")
        equal(len(await client.diagnostics("train.py", 2)), 1, "the diagnostics after the save")


async def others(oomph: Path, folder: Path) -> None:
    """Notebooks, other languages and files of environments get no diagnostics."""
    (folder / "env/lib").mkdir(parents=True)
    (folder / "env/pyvenv.cfg").touch()
    notebook = json.dumps({"cells": [{"cell_type": "code", "source": MISTAKE}]})
    async with connect(oomph, folder) as client:
        client.open_only("notes.ipynb", notebook, "json")
        client.open_only("notes.ipynb", MISTAKE)
        client.open_only("notes.md", MISTAKE, "markdown")
        equal(await client.open("env/lib/train.py", MISTAKE), [], "the diagnostics of an environment")
        equal(len(await client.open("train.py", MISTAKE)), 1, "the diagnostics of a program")
        equal(client.published.qsize(), 0, "the number of other diagnostics")


async def typing(oomph: Path, folder: Path) -> None:
    """Edits that come together are linted in their order, and the last version is always published."""
    text = MISTAKE * 40
    async with connect(oomph, folder) as client:
        await client.open("train.py", text)
        for version in range(2, 200):
            client.change("train.py", version, (place(0, 0, 0), "#"))
        client.change("train.py", 200, (None, CLEAN))
        equal(await client.diagnostics("train.py", 200), [], "the diagnostics of the last version")
        await asyncio.gather(*(client.page("train.py", types.Position(line=line, character=0)) for line in range(20)))


CASES = {
    "diagnostics": diagnostics,
    "encodings": encodings,
    "fixes": fixes,
    "fix all": fix_all,
    "silence": silence,
    "hover": hover,
    "settings": settings,
    "baseline": baseline,
    "projects": projects,
    "others": others,
    "typing": typing,
}
