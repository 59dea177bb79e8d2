"""Options of the command line, as argparse, click, typer, absl and fire read them."""

import argparse
import functools
import inspect
import sys
from collections.abc import Callable, Iterable

from ...failure import guarded
from ...hooks.importing import after_import
from . import Scaling

# An option of a parser: names, value, and a function that sets another value.
Option = tuple[list[str], object, Callable[[object], None]]


def install(scaling: Scaling) -> None:
    """Inspects the options of every parser, right after parsing."""
    _watch_argparse(scaling)
    for module in ("click.core", "typer._click.core"):
        after_import(module, functools.partial(_watch_click, scaling, module))
    after_import("absl.flags", functools.partial(_watch_absl, scaling))
    after_import("fire.core", functools.partial(_watch_fire, scaling))


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


def _watch_argparse(scaling: Scaling) -> None:
    parse = argparse.ArgumentParser.parse_known_args

    @functools.wraps(parse)
    def wrapper(self, *args, **kwargs):
        namespace, rest = parse(self, *args, **kwargs)
        guarded(_meet)(scaling, _argparse_options(self, namespace))
        return namespace, rest

    argparse.ArgumentParser.parse_known_args = wrapper


def _argparse_options(parser: argparse.ArgumentParser, namespace) -> Iterable[Option]:
    for action in parser._actions:
        if hasattr(namespace, action.dest):
            change = functools.partial(setattr, namespace, action.dest)
            # Of an option of two spellings only `dest` is common, which scripts use.
            yield [*action.option_strings, action.dest], getattr(namespace, action.dest), change


def _watch_click(scaling: Scaling, module: str) -> None:
    command = sys.modules[module].Command
    parse = command.parse_args

    @functools.wraps(parse)
    def wrapper(self, context, args):
        rest = parse(self, context, args)
        guarded(_meet)(scaling, _click_options(self, context))
        return rest

    command.parse_args = wrapper


def _click_options(command, context) -> Iterable[Option]:
    for parameter in command.params:
        if parameter.name in context.params:
            names = [name for name in (*parameter.opts, parameter.name) if name]
            yield names, context.params[parameter.name], functools.partial(context.params.__setitem__, parameter.name)


def _watch_absl(scaling: Scaling) -> None:
    values = sys.modules["absl.flags"].FlagValues
    read = values.__call__

    @functools.wraps(read)
    def wrapper(self, *args, **kwargs):
        rest = read(self, *args, **kwargs)
        guarded(_meet)(scaling, _absl_options(self))
        return rest

    values.__call__ = wrapper


def _absl_options(flags) -> Iterable[Option]:
    for name in flags:
        yield [f"--{name}"], flags[name].value, functools.partial(setattr, flags[name], "value")


def _watch_fire(scaling: Scaling) -> None:
    """Wraps the function that fire calls with the options; options absent from the command line have the function's own defaults."""
    core = sys.modules["fire.core"]
    call = core._CallAndUpdateTrace

    @functools.wraps(call)
    def wrapper(component, args, *rest, **kwargs):
        changed = guarded(_fire_arguments)(scaling, component, args)
        return call(component, args if changed is None else changed, *rest, **kwargs)

    core._CallAndUpdateTrace = wrapper


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
