"""own-options: other values of the program's own options, keys and variables.

The launcher sets them: words of the command line, files (`overlay.py`), the environment. Here the options are only looked for, with
`probe=true`: those of the parsers, of Hydra's configuration, and the variables that the main script reads. Texts are recorded only where they
may name a precision, or where the parser lists the choices: an option may hold a password.

Note [Configurators]
~~~~~~~~~~~~~~~~~~~~
nanoGPT and programs like it have no parser: the script executes a file that reads `--NAME=VALUE` words, and files of assignments, into the
script's variables. Where a script executes a file, the variables set before are options, with their values when training begins.
"""

import ast
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from types import CodeType

from .. import records
from ..failure import guarded
from ..hooks import around
from ..process import frames
from ..source import script
from ..source.names import last_name, name_of_call
from . import Remedy, parsers

_PRECISION = re.compile(r"(torch\.)?(no|none|half|amp|b?f(p|loat)?(16|32)|(16|32)(-mixed|-true)?|float|bf16-mixed)", re.IGNORECASE)
_MOST_HELP = 200
# The files of `os.getenv` and of `Mapping.get`.
_LIBRARY = (os.getenv.__code__.co_filename, Mapping.get.__code__.co_filename)


def prepare(remedy: Remedy) -> None:
    """Watches the parsers; without `probe` there is nothing to do."""
    if not remedy.settings.get("probe"):
        return
    finder = Finder(remedy)
    remedy.at_training.append(finder.list_configured)
    parsers.watch(finder.meet)
    around("hydra._internal.hydra:Hydra.compose_config", finder.around_hydra)
    script.rewrite(finder.list_variables)
    around("os:_Environ.__getitem__", finder.around_variables)


def install(remedy: Remedy) -> None:
    """Looks for batch normalisation, with `probe`: parts of a batch have statistics of their own."""

    # This module is imported before torch.
    from .models import before_training, has_batch_norm

    def look_at(root, _is_compiled: bool) -> None:
        for function in remedy.at_training:
            function()
        if has_batch_norm(root):
            remedy.applied("BatchNorm takes the statistics of a part", at=("", 0), alters=True)

    if remedy.settings.get("probe"):
        remedy.applied("the options were listed", at=("", 0))
        before_training(look_at)


class Finder:
    """Records every option once."""

    def __init__(self, remedy: Remedy) -> None:
        self._remedy = remedy
        self._known: set[str] = set()
        # Variables that an executed file may set. See Note [Configurators].
        self._configured: list[str] = []

    def meet(self, options: Iterable[parsers.Option]) -> None:
        """Records the options of a parser, those without a name of the command line apart."""
        for option in options:
            names = [name for name in option.names if name.startswith("-")]
            if names:
                self._note(names, option.value, on=option.on, choices=option.choices, text=option.help)

    def around_hydra(self, compose, *args, **kwargs):
        """Records the numbers and switches of Hydra's configuration: each is set by `KEY=VALUE`."""
        configuration = compose(*args, **kwargs)
        guarded(self._note_all)(configuration, "")
        return configuration

    def _note_all(self, node, prefix: str) -> None:
        from omegaconf import DictConfig, OmegaConf

        for key in node:
            if not isinstance(key, str) or OmegaConf.is_missing(node, key) or key == "hydra":
                continue
            value = node[key]
            if isinstance(value, DictConfig):
                self._note_all(value, f"{prefix}{key}.")
            else:
                self._note([f"{prefix}{key}"], value, on="true")

    def around_variables(self, get, environ, name):
        """Records a variable that the program's own code reads by a name that its source does not show."""
        found = None
        try:
            found = get(environ, name)
            return found
        finally:
            guarded(self._meet_variable)(name, found)

    def _meet_variable(self, name, found) -> None:
        if isinstance(name, str) and frames.is_users(_reader().co_filename):
            value, on = _value_of(found)
            self._note([f"${name}"], value, on=on)

    def list_variables(self, tree: ast.Module, _file: str) -> bool:
        """Records the variables of the environment that the script reads; the script stays as it is."""
        self._configured = _list_configured(tree)
        for node in ast.walk(tree):
            found = _variable(node)
            if found is not None:
                name, default = found
                value, on = _value_of(os.environ.get(name, default))
                self._note([f"${name}"], value, on=on)
        return False

    def list_configured(self) -> None:
        """Records the variables of the script that an executed file may set. See Note [Configurators]."""
        values = vars(sys.modules["__main__"])
        for name in self._configured:
            self._note([f"--{name}="], values.get(name), on="True")

    def _note(self, names: list[str], value, *, on: str, choices: tuple = (), text: str = "") -> None:
        is_known = names[0] in self._known
        is_text = isinstance(value, str) and not (choices or _PRECISION.fullmatch(value))
        if is_known or is_text or not isinstance(value, (int, float, str, type(None))):
            return
        self._known.add(names[0])
        record = records.own_option(
            names=names, value=json.dumps(value), on=on, choices=[str(one) for one in choices], help=text[:_MOST_HELP]
        )
        self._remedy.write(record)


def _reader() -> CodeType:
    """The code that reads a variable: the first outside this file, the hooks, `os` and its base classes."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (frames.is_agents(frame.f_code.co_filename) or frame.f_code.co_filename in _LIBRARY):
        frame = frame.f_back
    return frame.f_code


def _list_configured(tree: ast.Module) -> list[str]:
    """The variables set before the script executes a file."""
    names: list[str] = []
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(name)]):
                names.append(name)
            case ast.Expr(ast.Call(func=ast.Name("exec"), args=[ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name("open"))))])):
                return names
    return []


def _variable(node: ast.AST) -> tuple[str, object] | None:
    """The name and the default of a variable that an expression reads: `os.environ.get("N", 8)`, `os.getenv("N")`, `os.environ["N"]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and last_name(node.value) == "environ":
        return _named(node.slice, None)
    if not isinstance(node, ast.Call) or not node.args:
        return None
    is_get = name_of_call(node) == "get" and isinstance(node.func, ast.Attribute) and last_name(node.func.value) == "environ"
    if not is_get and name_of_call(node) != "getenv":
        return None
    default = node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], ast.Constant) else None
    return _named(node.args[0], default)


def _named(name: ast.AST, default) -> tuple[str, object] | None:
    return (name.value, default) if isinstance(name, ast.Constant) and isinstance(name.value, str) else None


def _value_of(text) -> tuple[object, str]:
    """A variable's text as the program may read it, and the text of the same style that switches on."""
    switches = {"0": "1", "false": "true", "False": "True", "FALSE": "TRUE", "no": "yes", "off": "on"}
    if text in switches:
        return False, switches[text]
    return (int(text), "") if isinstance(text, str) and text.isdecimal() else (text, "")
