"""`oomph lint --lsp` with the client of pygls, with nonsense, and with Neovim where it is installed.

    target/services/bin/python tests/lsp/check.py --oomph target/release/oomph [WORD ...]

The expected fixes and pages are those of the command line: `lint --fix`, `oomph rule`.
"""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent)]

import nonsense
import sessions

import suite


def in_folder(body: Callable[[Path, Path], object], oomph: Path) -> None:
    """Runs a case in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="oomph-lsp-") as name:
        folder = Path(name).resolve() / "my work"
        folder.mkdir()
        result = body(oomph, folder)
        if isinstance(result, Awaitable):
            asyncio.run(result)


def neovim(oomph: Path, folder: Path) -> None:
    """Neovim shows the diagnostics, and makes the fix."""
    try:
        subprocess.run(["nvim", "--version"], capture_output=True, check=True)
    except OSError as error:
        raise suite.Skip("there is no nvim") from error
    (folder / "train.py").write_text(sessions.MISTAKE)
    words = ["nvim", "--headless", "--clean", "-c", f"luafile {HERE / 'neovim.lua'}", "train.py"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "OOMPH": str(oomph)})
    printed = done.stdout + done.stderr
    assert done.returncode == 0, printed
    for line in ("diagnostic 10 accumulated-graph", "fixed 1", "left 0"):
        assert line in printed, f"expected `{line}` in\n{printed}"
    assert (folder / "train.py").read_text() == sessions.MENDED, (folder / "train.py").read_text()


def main() -> int:
    """Exit status 1 if a case fails."""
    arguments = suite.parser(__doc__).parse_args()
    bodies = sessions.CASES | nonsense.CASES | {"neovim": neovim}
    oomph = arguments.oomph.absolute()
    cases = [suite.Case(name, partial(in_folder, body, oomph), memory=0.5) for name, body in bodies.items()]
    return suite.run("lsp", cases, arguments)


if __name__ == "__main__":
    sys.exit(main())
