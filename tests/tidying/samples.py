"""Sources that the rules must refuse, and sources that they must pass: a rule that finds nothing is no rule."""

from collections.abc import Iterator

from . import clocks, imports, lengths, names

SHORT, LONG = "    pass\n" * 59, "    pass\n" * 60
RUST = "impl One {{\n    fn run(\n        &self,\n    ) {{\n{}    }}\n}}\n"
STATEMENT = "        step();\n"
# A source of the module `package.near`, and its imports among MODULES.
MODULES = {"package", "package.near", "package.far", "package.deep.far"}
IMPORTED = {
    "import package.far": {"package.far"},
    "from . import far": {"package.far"},
    "importlib.import_module('package.far')": {"package.far"},
    "importlib.import_module('.far', __package__)": {"package.far"},
    "__import__('package.deep.far')": {"package.deep.far"},
    "importlib.import_module(f'.{name}', __package__)": {"package.far", "package.near"},
    "sys.modules.get(f'{__package__}.far')": {"package.far"},
    "sys.modules['package.far'].run()": {"package.far"},
    "importlib.import_module('torch')": set(),
    "print('package.far')": set(),
}


# Assertions, and their refusal.
ASSERTIONS = {
    "assert seconds < 2": True,
    "assert time.monotonic() - began <= 15, 'slow'": True,
    "assert result.report['seconds'] < 40": True,
    "assert time.monotonic() < deadline": False,
    "assert calls <= 30": False,
    "assert report['seconds'] == 3": False,
}


def find_faults() -> Iterator[str]:
    """The rules that judge a sample wrongly."""
    for name, text, is_refused in (
        ("one.py", f"def run():\n{SHORT}", False),
        ("one.py", f"def run():\n{LONG}", True),
        ("one.rs", RUST.format(STATEMENT * 56), False),
        ("one.rs", RUST.format(STATEMENT * 57), True),
        ("one.py", "\n" * 400, False),
        ("one.rs", "\n" * 401, True),
    ):
        if bool(list(lengths.find_long(name, text))) != is_refused:
            yield f"tests/tidying/lengths.py: a sample {name} of {len(text.splitlines())} lines is {'passed' if is_refused else 'refused'}"
    for source, is_refused in ASSERTIONS.items():
        if bool(list(clocks.find_clocks("one.py", source))) != is_refused:
            yield f"tests/tidying/clocks.py: the sample `{source}` is {'passed' if is_refused else 'refused'}"
    found = names.repeated(["struct One;\npub enum Two {}\n", "pub(crate) struct One {}\nstruct Three;\n"])
    if found != ["One"]:
        yield f"tests/tidying/names.py: the repeated names of a sample are {found}, expected `One`"
    for source, expected in IMPORTED.items():
        found = imports.find_imports(source, "package.near", "package", MODULES)
        if found != expected:
            yield f"tests/tidying/imports.py: `{source}` imports {sorted(found)}, expected {sorted(expected)}"
