"""The handler that takes an error, read from the program's source while it runs."""

import linecache
import sys
import textwrap
import unittest
import weakref

from oomph.agent.memory import handlers
from oomph.agent.source.scope import Scope


class Full(RuntimeError):
    """Stands for PyTorch's error."""


def found(source: str):
    """The result of `handlers.find` at the program's call of `ask()`: the text of the handler's line and the lowered name."""
    source = textwrap.dedent(source)
    name = f"/home/ann/program{hash(source)}.py"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    seen = []

    def ask():
        seen.append(handlers.find(sys._getframe(1), Full))
        raise Full

    try:
        exec(compile(source, name, "exec"), {"ask": ask, "Full": Full, "library": type("library", (), {"Full": Full})})
    except Full:
        pass
    handler = seen[0]
    # The handler a few lines above is the next one outwards.
    if handler is None or handler.file != name:
        return None
    return (source.splitlines()[handler.line - 1].strip(), handler.lowers)


class HandlersTest(unittest.TestCase):
    def check(self, source: str, expected) -> None:
        self.assertEqual(found(source), expected, source)

    def test_a_handler_is_found_by_its_type(self):
        for kind in ("", " Full", " RuntimeError as error", " Exception", " (ValueError, Full)", " library.Full", " BaseException"):
            line = f"except{kind}:"
            self.check(f"try:\n    ask()\n{line}\n    pass\n", (line, None))
        for kind in ("ValueError", "(KeyError, OSError)", "MemoryError"):
            self.check(f"try:\n    ask()\nexcept {kind}:\n    pass\n", None)

    def test_the_innermost_handler_that_takes_it_counts(self):
        self.check(
            """
            def step():
                try:
                    ask()
                except ValueError:
                    pass
            try:
                step()
            except Full:  # this one
                pass
            """,
            ("except Full:  # this one", None),
        )

    def test_a_handler_that_raises_again_passes_it_on(self):
        self.check("try:\n    try:\n        ask()\n    except Full:\n        raise\nexcept RuntimeError:\n    pass\n", ("except RuntimeError:", None))
        self.check("try:\n    ask()\nexcept Full:\n    raise\n", None)

    def test_a_handler_that_may_raise_again_takes_it(self):
        self.check("try:\n    ask()\nexcept RuntimeError as e:\n    if 'other' in str(e):\n        raise\n", ("except RuntimeError as e:", None))
        self.check(
            "for i in (1,):\n    try:\n        ask()\n    except Full as e:\n        if 'memory' in str(e):\n            continue\n        raise e\n",
            ("except Full as e:", None),
        )

        # As `Module._call_impl` does.
        self.check("try:\n    ask()\nexcept Full:\n    for i in (1,):\n        continue\n    raise\n", None)

    def test_what_runs_outside_the_body_is_not_taken(self):
        self.check("try:\n    pass\nexcept Full:\n    pass\nelse:\n    ask()\n", None)
        self.check("try:\n    raise Full\nexcept Full:\n    ask()\n", None)

    def test_other_ways_to_swallow(self):
        self.check("import contextlib\nwith contextlib.suppress(Full):\n    ask()\n", ("with contextlib.suppress(Full):", None))
        self.check("import contextlib\nwith contextlib.suppress(OSError):\n    ask()\n", None)
        loop = "import contextlib\nfor halvings in range(1):\n    rows = 64 // 2**halvings\n    with contextlib.suppress(Full):\n        ask()\n"
        self.check(loop, ("with contextlib.suppress(Full):", "rows"))
        self.check("def f():\n    try:\n        ask()\n    finally:\n        return 1\nf()\n", ("return 1", None))

    def test_a_context_manager_of_the_program_may_swallow(self):
        manager = "class Manager:\n    def __enter__(self): return self\n    def __exit__(self, *what):\n        return %s\n"
        self.check(manager % "True" + "with Manager():\n    ask()\n", ("with Manager():", None))
        self.check(manager % "True" + "one = Manager()\nwith one as same:\n    ask()\n", ("with one as same:", None))
        self.check(manager % "None" + "with Manager():\n    ask()\n", None)

    def test_a_number_that_is_made_smaller_is_named(self):
        for change in ("size //= 2", "size = size // 2", "size = max(1, size // 2)", "size -= 8"):
            self.check(f"size = 64\ntry:\n    ask()\nexcept Full:\n    {change}\n", ("except Full:", "size"))
        self.check("start, last = 9, 4\ntry:\n    ask()\nexcept Full:\n    last = start - 1\n", ("except Full:", None))
        self.check("a, b = 9, 8\ntry:\n    ask()\nexcept Full:\n    b = a = a // 2\n", ("except Full:", "a"))
        self.check("rate = 0.5\ntry:\n    ask()\nexcept Full:\n    rate = rate / 2\n", ("except Full:", None))
        self.check("skipped = 0\ntry:\n    ask()\nexcept Full:\n    skipped += 1\n", ("except Full:", None))

    def test_a_number_that_the_loop_makes_smaller_after_a_flag_is_named(self):
        self.check(
            """
            size, full = 64, False
            while not full:
                try:
                    ask()
                except Full:
                    full = True
                if full:
                    size //= 2
            """,
            ("except Full:", "size"),
        )

    def test_no_variable_is_kept_alive(self):
        class Value:
            pass

        def look(frame, text):
            Scope.of_frame(frame).read(text)

        def run(text):
            value, other = Value(), Full
            alive = weakref.ref(value)
            look(sys._getframe(), text)
            del value
            return alive(), other

        for text in ("other", "value", "Full", "nobody", "other.args"):
            self.assertEqual(run(text), (None, Full), text)

    def test_what_the_program_holds_of_its_variables_stays(self):
        def run():
            value = 7
            held = locals()
            Scope.of_frame(sys._getframe()).read("value")
            return held["value"], value

        self.assertEqual(run(), (7, 7))

    def test_a_source_that_is_gone_tells_nothing(self):
        self.check("exec(compile('try:\\n    ask()\\nexcept Full:\\n    pass', '<gone>', 'exec'))", None)


if __name__ == "__main__":
    unittest.main()
