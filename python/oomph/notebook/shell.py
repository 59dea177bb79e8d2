"""The names, outputs and exceptions that IPython and Python keep for a session."""

import inspect
import re
import sys
import types

# IPython's names of outputs: `_`, `__`, `___` and `_3`.
_OUTPUT = re.compile(r"_{1,3}|_\d+")
_LATEST = ("_", "__", "___")
_LAST = ("last_traceback", "last_value", "last_exc", "last_type")


class Shell:
    """IPython's shell: the names, outputs and exceptions by its attributes."""

    def __init__(self, shell) -> None:
        self.shell = shell
        self.names: dict = shell.user_ns
        self.outputs: dict = shell.user_ns.get("_oh") if type(shell.user_ns.get("_oh")) is dict else {}

    def list_variables(self) -> dict[str, object]:
        """The user's variables, without outputs and without IPython's own names."""
        hidden = self.shell.user_ns_hidden
        outputs = self.name_outputs()
        own = {"In", "Out", "_oh", "_ih", "_dh", "_i", "_ii", "_iii"}
        return {
            name: value
            for name, value in list(self.names.items())
            if type(name) is str and name not in own and not (name in hidden and hidden[name] is value) and name not in outputs
        }

    def name_outputs(self) -> dict[str, object]:
        """The values of `_`, `__`, `___` and `_3`, if set by IPython, by name."""
        found = {name: value for name, value in list(self.names.items()) if type(name) is str and _OUTPUT.fullmatch(name)}
        kept = {id(it) for it in self.outputs.values()} | {id(self._latest(name)) for name in _LATEST}
        return {name: value for name, value in found.items() if id(value) in kept}

    def list_outputs(self) -> dict[str, tuple[object, list[str]]]:
        """Each kept output by its first name (`Out[3]`), with its other names."""
        rows: dict[int, tuple[str, object, list[str]]] = {}
        named = [(f"Out[{number}]", value) for number, value in list(self.outputs.items())]
        named += [*self.name_outputs().items(), *((name, self._latest(name)) for name in _LATEST)]
        result = self._last_result()
        named += [("_", getattr(result, "result", None))]
        for name, value in named:
            others = rows.setdefault(id(value), (name, value, []))[2]
            if name not in (rows[id(value)][0], *others):
                others.append(name)
        return {name: (value, others) for name, value, others in rows.values() if value is not None}

    def _latest(self, name: str) -> object:
        return getattr(self.shell.displayhook, name, None)

    def _last_result(self) -> object:
        return getattr(self.shell, "last_execution_result", None)

    def list_exceptions(self) -> list[object]:
        """The exceptions and tracebacks kept by Python and IPython."""
        result = self._last_result()
        kept = [getattr(sys, name, None) for name in _LAST[:3]]
        kept += [getattr(result, "error_in_exec", None), getattr(result, "error_before_exec", None)]
        kept += [vars(self.shell.InteractiveTB).get(name) for name in ("tb", "evalue")]
        kept += [getattr(self.shell.SyntaxTB, "last_syntax_error", None)]
        return [it for it in kept if issubclass(type(it), (BaseException, types.TracebackType))]

    def list_parts(self) -> list[object]:
        """The objects of IPython that keep the user's values."""
        shell = self.shell
        parts = [shell, shell.displayhook, shell.history_manager, shell.InteractiveTB, shell.SyntaxTB, self._last_result()]
        return [self.names, self.outputs, shell.user_ns_hidden, shell.user_global_ns, *(it for it in parts if it is not None)]

    def remove_value(self, value: object) -> None:
        """Removes a value from the outputs, by identity."""
        names = [name for name, it in self.name_outputs().items() if it is value]
        for number in [number for number, it in list(self.outputs.items()) if it is value]:
            del self.outputs[number]
        for name in names:
            self._remove_output(name)
        for name in _LATEST:
            if self._latest(name) is value:
                self._remove_output(name)
        result = self._last_result()
        if result is not None and result.result is value:
            result.result = None

    def _remove_output(self, name: str) -> None:
        """Empties the name of an output: `_` returns to the value at the start of a session."""
        if name not in _LATEST:
            self.names.pop(name, None)
            self.shell.user_ns_hidden.pop(name, None)
            return
        if self.names.get(name) is self._latest(name):
            self.names[name] = ""
        self.shell.user_ns_hidden[name] = self.names.get(name)
        setattr(self.shell.displayhook, name, "")

    def remove_variable(self, name: str) -> None:
        """Removes a variable, and the same object as an output."""
        value = self.names.pop(name, None)
        self.shell.user_ns_hidden.pop(name, None)
        self.remove_value(value)

    def remove_outputs(self) -> None:
        """Removes all outputs."""
        for value, _ in list(self.list_outputs().values()):
            self.remove_value(value)

    def remove_exceptions(self) -> None:
        """Removes the kept exceptions, and the local variables in their tracebacks."""
        clear_frames(self.list_exceptions())
        for name in _LAST:
            if hasattr(sys, name):
                delattr(sys, name)
        for name in ("tb", "etype", "evalue"):
            if vars(self.shell.InteractiveTB).get(name) is not None:
                setattr(self.shell.InteractiveTB, name, None)
        result = self._last_result()
        if result is not None:
            result.error_in_exec = result.error_before_exec = None


def clear_frames(errors: list[object]) -> int:
    """Removes the local variables of the functions in tracebacks, and returns their number; running functions keep theirs."""
    cleared: set[int] = set()
    for trace in list_traces(errors):
        frame = trace.tb_frame
        if id(frame) not in cleared and _clear(frame):
            cleared.add(id(frame))
    return len(cleared)


def _clear(frame: types.FrameType) -> bool:
    """Removes the variables of a frame; False if its function is running, or if it is the frame of a module."""
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return False
    try:
        frame.clear()
    except RuntimeError:
        return False
    # Before Python 3.13 the dict of a question for `f_locals`, such as IPython's, stays with the frame.
    frame.f_locals.clear()
    return True


def list_traces(errors: list[object]) -> list[types.TracebackType]:
    """Every entry of the tracebacks of exceptions, of their causes and contexts, and of the members of groups."""
    traces, waiting, seen = [], list(errors), set()
    while waiting:
        error = waiting.pop()
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        if type(error) is types.TracebackType:
            traces.append(error)
            waiting.append(error.tb_next)
        else:
            waiting += _list_of_error(error)
    return traces


_READ = {name: BaseException.__dict__[name].__get__ for name in ("__traceback__", "__cause__", "__context__")}


def _list_of_error(error: BaseException) -> list[object]:
    members = BaseExceptionGroup.exceptions.__get__(error) if sys.version_info >= (3, 11) and issubclass(type(error), BaseExceptionGroup) else ()
    return [read(error) for read in _READ.values()] + list(members)
