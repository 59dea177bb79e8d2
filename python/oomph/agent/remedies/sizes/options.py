"""Options of the command line, as argparse, click, typer, absl and fire read them."""

import functools
import inspect
from collections.abc import Callable, Iterable

from ...failure import guarded
from ...hooks import around
from ...hooks.replacing import Layer
from . import Scaling

# An option of a parser: names, value, and a function that sets another value.
Option = tuple[list[str], object, Callable[[object], None]]


def install(scaling: Scaling) -> None:
    """Inspects the options of every parser, right after parsing."""
    around("argparse:ArgumentParser.parse_known_args", _inspect(scaling, _argparse_options))
    for module in ("click.core", "typer._click.core"):
        around(f"{module}:Command.parse_args", _inspect(scaling, _click_options))
    around("absl.flags:FlagValues.__call__", _inspect(scaling, _absl_options))
    around("fire.core:_CallAndUpdateTrace", _change_fire(scaling))


def _inspect(scaling: Scaling, list_options: Callable[..., Iterable[Option]]) -> Layer:
    """A layer that inspects the options of a parser, after it has parsed."""

    @guarded
    def meet(*known) -> None:
        _meet(scaling, list_options(*known))

    def layer(parse, parser, *args, **kwargs):
        parsed = parse(parser, *args, **kwargs)
        meet(parser, parsed, *args)
        return parsed

    return layer


def _meet(scaling: Scaling, options: Iterable[Option]) -> None:
    """Tells of the options that are named like the size; of several, the likeliest is meant."""
    likely = []
    for names, value, change in options:
        size = _number(value)
        named = next((name for name in names if scaling.is_named(name)), None)
        ranks = [(rank, name) for name in names if (rank := scaling.rank(name)) is not None]
        if size is not None and named is not None:
            likely.append((-1, named, size, value, change))
        elif size is not None and ranks:
            rank = min(rank for rank, _ in ranks)
            # The long spelling says more.
            likely.append((rank, max((name for _, name in ranks), key=len), size, value, change))
    least = min((one[0] for one in likely), default=None)
    for rank, name, size, value, change in likely:
        new = scaling.meet("option", name, size, is_training=rank == least)
        if new != size:
            change(type(value)(new))


def _number(value) -> int | None:
    """The option's size; some programs keep the text and make it a number later."""
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _argparse_options(parser, parsed, *_args) -> Iterable[Option]:
    namespace, _rest = parsed
    for action in parser._actions:
        if hasattr(namespace, action.dest):
            change = functools.partial(setattr, namespace, action.dest)
            # Of an option of two spellings only `dest` is common, which scripts use.
            yield [*action.option_strings, action.dest], getattr(namespace, action.dest), change


def _click_options(command, _rest, context, _args) -> Iterable[Option]:
    for parameter in command.params:
        if parameter.name in context.params:
            names = [name for name in (*parameter.opts, parameter.name) if name]
            yield names, context.params[parameter.name], functools.partial(context.params.__setitem__, parameter.name)


def _absl_options(flags, *_rest) -> Iterable[Option]:
    for name in flags:
        yield [f"--{name}"], flags[name].value, functools.partial(setattr, flags[name], "value")


def _change_fire(scaling: Scaling) -> Layer:
    """A layer of the function that fire calls with the options; options absent from the command line have the function's own defaults."""

    def layer(call, component, args, *rest, **kwargs):
        changed = guarded(_fire_arguments)(scaling, component, args)
        return call(component, args if changed is None else changed, *rest, **kwargs)

    return layer


def _fire_arguments(scaling: Scaling, component, args: list[str]) -> list[str]:
    """The words of the command line, with another size for the function's parameter."""
    if not inspect.isroutine(component):
        return args
    words = list(args)
    defaults = {name: parameter.default for name, parameter in inspect.signature(component).parameters.items()}
    _meet(scaling, [_fire_option(name, default, words) for name, default in defaults.items()])
    return words


def _fire_option(name: str, default, words: list[str]) -> Option:
    spellings = [f"--{name}", f"--{name.replace('_', '-')}"]
    place, value = _fire_place(words, spellings) or (None, default)

    def change(new) -> None:
        if place is not None:
            del words[place[0] : place[1]]
        words.append(f"--{name}={new}")

    return spellings, value, change


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
