"""Options of the command line, as argparse, click, typer, absl, fire, jsonargparse and tyro read them."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable

from ..failure import guarded
from ..hooks import around
from ..hooks.replacing import Layer


@dataclasses.dataclass(frozen=True)
class Option:
    """An option of a parser, after it has parsed."""

    # All spellings, and the name of the variable.
    names: list[str]
    value: object
    # Sets another value.
    change: Callable[[object], None]
    help: str = ""
    choices: tuple = ()
    # The word that switches it on; empty for a flag without a value.
    on: str = "True"


def watch(meet: Callable[[Iterable[Option]], None]) -> None:
    """Has `meet` called with the options of every parser, right after parsing."""
    around("argparse:ArgumentParser.parse_known_args", _inspect(meet, _argparse_options))
    for module in ("click.core", "typer._click.core"):
        around(f"{module}:Command.parse_args", _inspect(meet, _click_options))
    around("absl.flags:FlagValues.__call__", _inspect(meet, _absl_options))
    around("fire.core:_CallAndUpdateTrace", _change_fire(meet))
    around("jsonargparse._core:ArgumentParser.parse_args", _inspect(meet, _jsonargparse_options))
    around("tyro._cli:cli", _change_tyro(meet))


def _inspect(meet: Callable, list_options: Callable[..., Iterable[Option]]) -> Layer:
    """A layer that inspects the options of a parser, after it has parsed."""

    @guarded
    def show(*known) -> None:
        meet(list_options(*known))

    def layer(parse, parser, *args, **kwargs):
        parsed = parse(parser, *args, **kwargs)
        show(parser, parsed, *args)
        return parsed

    return layer


def _argparse_options(parser, parsed, *_args) -> Iterable[Option]:
    namespace, _rest = parsed
    # The parsers built on argparse fill in their defaults later.
    is_inner = type(parser).__module__.partition(".")[0] in ("jsonargparse", "tyro")
    for action in () if is_inner else parser._actions:
        if hasattr(namespace, action.dest):
            change = functools.partial(setattr, namespace, action.dest)
            # Of an option of two spellings only `dest` is common, which scripts use.
            names = [*action.option_strings, action.dest]
            value, choices = getattr(namespace, action.dest), tuple(action.choices or ())
            yield Option(names, value, change, str(action.help or ""), choices, on="" if action.nargs in (0, "?") else "True")


def _click_options(command, _rest, context, _args) -> Iterable[Option]:
    for parameter in command.params:
        if parameter.name in context.params:
            names = [name for name in (*parameter.opts, parameter.name) if name]
            change = functools.partial(context.params.__setitem__, parameter.name)
            value = context.params[parameter.name]
            choices = tuple(map(str, getattr(getattr(parameter, "type", None), "choices", None) or ()))
            is_flag = bool(getattr(parameter, "is_flag", isinstance(value, bool)))
            text = getattr(parameter, "help", None) or ""
            yield Option(names, value, change, text, choices, on="" if is_flag else "True")


def _absl_options(flags, *_rest) -> Iterable[Option]:
    for name in flags:
        flag = flags[name]
        choices = tuple(getattr(flag.parser, "enum_values", None) or ())
        change = functools.partial(setattr, flag, "value")
        yield Option([f"--{name}"], flag.value, change, str(flag.help or ""), choices, on="" if flag.boolean else "True")


def _jsonargparse_options(_parser, parsed, *_args) -> Iterable[Option]:
    for name, value in parsed.items():
        yield Option([f"--{name}"], value, functools.partial(parsed.__setitem__, name), on="true")


def _change_tyro(meet: Callable) -> Layer:
    """A layer of `tyro.cli`, which makes a dataclass of the options, or calls a function with them."""

    def layer(cli, target, *args, **kwargs):
        made = cli(_watch_call(meet, target) if inspect.isfunction(target) else target, *args, **kwargs)
        if dataclasses.is_dataclass(made) and not inspect.isfunction(target):
            guarded(meet)(_tyro_fields(made, ""))
        return made

    return layer


def _watch_call(meet: Callable, function: Callable) -> Callable:
    """The same function, whose arguments are options."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def watched(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        guarded(meet)(_tyro_options(bound.arguments, bound.arguments.__setitem__, ""))
        return function(*bound.args, **bound.kwargs)

    return watched


def _tyro_fields(made, prefix: str) -> Iterable[Option]:
    fields = {field.name: getattr(made, field.name, None) for field in dataclasses.fields(made)}
    # A dataclass may be frozen.
    return _tyro_options(fields, functools.partial(object.__setattr__, made), prefix)


def _tyro_options(values: dict, change: Callable[[str, object], None], prefix: str) -> Iterable[Option]:
    for name, value in values.items():
        if dataclasses.is_dataclass(value):
            yield from _tyro_fields(value, f"{prefix}{name}.")
        else:
            spelled = f"--{prefix}{name}"
            on = "" if isinstance(value, bool) else "True"
            yield Option([spelled.replace("_", "-"), spelled], value, functools.partial(change, name), on=on)


def _change_fire(meet: Callable) -> Layer:
    """A layer of the function that fire calls with the options; options absent from the command line have the function's own defaults."""

    def layer(call, component, args, *rest, **kwargs):
        changed = guarded(_fire_arguments)(meet, component, args)
        return call(component, args if changed is None else changed, *rest, **kwargs)

    return layer


def _fire_arguments(meet: Callable, component, args: list[str]) -> list[str]:
    """The words of the command line, with another size for the function's parameter."""
    if not inspect.isroutine(component):
        return args
    words = list(args)
    defaults = {name: parameter.default for name, parameter in inspect.signature(component).parameters.items()}
    meet([_fire_option(name, default, words) for name, default in defaults.items()])
    return words


def _fire_option(name: str, default, words: list[str]) -> Option:
    spellings = [f"--{name}", f"--{name.replace('_', '-')}"]
    place, value = _fire_place(words, spellings) or (None, default)

    def change(new) -> None:
        if place is not None:
            del words[place[0] : place[1]]
        words.append(f"--{name}={new}")

    return Option(spellings, value, change)


def _fire_place(words: list[str], spellings: list[str]) -> tuple[tuple[int, int], str] | None:
    """The span of the words that set the option, and the value: `--name=8` or `--name 8`."""
    for at, word in enumerate(words):
        key, equals, value = word.partition("=")
        if key in spellings:
            if equals:
                return (at, at + 1), value
            if at + 1 < len(words):
                return (at, at + 2), words[at + 1]
    return None
