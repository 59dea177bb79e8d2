"""`%oomph` and `%%oomph check`."""

import difflib
import json
import shlex

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from . import command, dry_run, survey
from .errors import Errors
from .free import free
from .page import Display
from .shell import Shell

_USAGE = """\
%oomph                     what is on the GPU of this kernel, by name
%oomph --json              the same as one JSON object
%oomph free NAME [NAME …]  frees a variable, Out[3], Out, _, traceback, cycles, cache
%oomph free                frees tracebacks, cycles, outputs and the cache
%oomph explain             explains the last out-of-memory error
%oomph keep-frames [off]   keeps the variables of tracebacks for %debug
%%oomph check [--gpu G]    dry-runs the cell after the cells so far, on no GPU"""
_WORDS = ("free", "explain", "keep-frames", "check", "help", "--json", "--help")


@magics_class
class OomphMagics(Magics):
    """The commands of the extension."""

    def __init__(self, shell) -> None:
        super().__init__(shell)
        self.errors = Errors(shell)

    def install(self) -> None:
        """Registers the magics and the handler of errors."""
        self.shell.register_magics(self)
        self.errors.install()

    def remove(self) -> None:
        """Removes the handler and the magics."""
        self.errors.remove()
        for kind in self.shell.magics_manager.magics.values():
            kind.pop("oomph", None)
        self.shell.magics_manager.registry.pop(type(self).__name__, None)

    @line_cell_magic
    def oomph(self, line: str, cell: str | None = None) -> None:
        """Shows the memory on the GPU of this kernel, by name; `%oomph help` lists the commands."""
        try:
            word, *rest = shlex.split(line) or [""]
        except ValueError as error:
            raise UsageError(f"`{line}` cannot be read: {error}") from None
        if cell is not None:
            return self._run_cell(word, rest, cell)
        actions = {"": self._show, "--json": self._print, "free": self._free, "explain": self._explain, "keep-frames": self._keep, "help": self._help, "--help": self._help}
        if word == "check":
            raise UsageError("`check` needs a cell: write `%%oomph check` in its first line")
        if word not in actions:
            raise UsageError(f"no command `{word}`{_nearest(word)}; `%oomph help` lists them")
        actions[word](rest)

    def _run_cell(self, word: str, rest: list[str], cell: str) -> None:
        if word != "check":
            raise UsageError(f"`%%oomph {word}` is no command for a cell: expected `%%oomph check`")
        self._run(lambda: dry_run.check(self.shell, self.errors, rest, cell))

    def _show(self, rest: list[str]) -> None:
        _expect_nothing("%oomph", rest)
        display(Display(survey.take(Shell(self.shell))))

    def _print(self, rest: list[str]) -> None:
        _expect_nothing("%oomph --json", rest)
        print(json.dumps(survey.take(Shell(self.shell)).to_json()))

    def _free(self, rest: list[str]) -> None:
        print(free(Shell(self.shell), [it.strip(",") for it in rest]))

    def _explain(self, rest: list[str]) -> None:
        files = self.errors.list_files()
        if not files:
            raise UsageError("no out-of-memory error since `%load_ext oomph`")
        self._run(lambda: command.run(["explain", *rest, *files]))

    def _keep(self, rest: list[str]) -> None:
        if rest not in ([], ["on"], ["off"]):
            raise UsageError(f"`keep-frames {' '.join(rest)}`: expected `on` or `off`")
        self.errors.keeps_frames = rest != ["off"]
        print("the frames of out-of-memory errors " + ("keep their variables, and their memory, for `%debug`" if self.errors.keeps_frames else "are emptied"))

    def _help(self, _rest: list[str]) -> None:
        print(_USAGE)

    def _run(self, action) -> None:
        try:
            print(action().rstrip())
        except command.Missing as error:
            raise UsageError(str(error)) from None


def _expect_nothing(name: str, rest: list[str]) -> None:
    if rest:
        raise UsageError(f"`{name}` takes no `{' '.join(rest)}`")


def _nearest(word: str) -> str:
    near = difflib.get_close_matches(word, _WORDS, 1)
    return f"; did you mean `{near[0]}`?" if near else ""
