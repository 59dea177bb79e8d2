"""The parameters of functions, and whether the agent knows them."""

import inspect
import types

# What stands for a name that a library does not have.
ABSENT = "absent"


def describe(function: object) -> str:
    """The names of the parameters, in order; of all that is no function of Python, the type."""
    function = inspect.unwrap(function) if callable(function) else function
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        return f"a {type(function).__name__}"
    count = code.co_argcount
    names = [*code.co_varnames[:count], *(["*"] if code.co_kwonlyargcount else []), *code.co_varnames[count : count + code.co_kwonlyargcount]]
    return ", ".join(names)


def extends(found: str, known: str) -> bool:
    """True if the parameters `found` are the known ones, perhaps with more behind them or by keyword only."""
    there, (positional, _, named) = found.split(", "), known.partition("*, ")
    wanted = [name for name in positional.split(", ") if name]
    return there[: len(wanted)] == wanted and set(named.split(", ")) - {""} <= set(there)
