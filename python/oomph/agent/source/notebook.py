"""Running a notebook as the main script: `python train.ipynb`.

Note [Notebooks]
~~~~~~~~~~~~~~~~
A cell that Python can parse runs unchanged. In all others, lines for IPython only are blanked, so that line numbers stay: magics
(`%matplotlib inline`), shell lines (`!pip install`), `name?`. A measuring cell magic (`%%time`) loses its first line, any other magic
(`%%bash`) the whole cell. Each cell is a code object of its own with the file `train.ipynb:cell 3`, as shown in reports and tracebacks;
cells are counted as editors count them, from 1, without text cells. `display` and `get_ipython` do nothing.
"""

import ast
import json
import linecache
import re
from collections.abc import Callable, Iterator

ENDING = ".ipynb"
# Cell magics above Python code.
_AROUND = {"time", "timeit", "capture", "prun"}
_ONLY_IPYTHON = re.compile(r"^(\s*)([%!].*|[\w.]+\?{1,2})\s*$")
_ASSIGNED = re.compile(r"^(\s*[\w., ]+=\s*)[%!].*$")

_codes: list = []


class _Nothing:
    """Has every attribute, and does nothing when called."""

    def __getattr__(self, _name: str):
        return self

    def __call__(self, *_arguments, **_options):
        return self


def compile_cells(path: str, transform: Callable[[ast.Module, str], bool]):
    """The code of the main module; `transform` may change the tree of each cell."""
    _codes.clear()
    for number, source in read_cells(path):
        name = f"{path}:cell {number}"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        tree = ast.parse(source, name)
        transform(tree, name)
        _codes.append(compile(tree, name, "exec", dont_inherit=True))
    return compile(f"import {__package__}.notebook as _notebook; _notebook.run(globals())", path, "exec")


def run(namespace: dict) -> None:
    """Runs the cells in order."""
    del namespace["_notebook"]
    namespace.update(display=_Nothing(), get_ipython=_Nothing())
    for code in _codes:
        exec(code, namespace)


def read_cells(path: str) -> Iterator[tuple[int, str]]:
    """The number and the source of each cell of code, without what only IPython reads."""
    try:
        with open(path, encoding="utf-8") as file:
            cells = json.load(file)["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, LookupError, TypeError) as error:
        raise SystemExit(f"{path} is no notebook of format 4, expected JSON with a list of `cells`: {error!r}") from None
    for number, source in enumerate(sources, 1):
        yield number, source if _is_python(source) else clean(source)


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def clean(source: str) -> str:
    """The source without lines for IPython only."""
    lines = source.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        if lines[first][2:].split()[:1][0] not in _AROUND:
            return ""
        lines[first] = ""
    return "\n".join(_ASSIGNED.sub(r"\1None", _ONLY_IPYTHON.sub(r"\1pass", line)) for line in lines)
