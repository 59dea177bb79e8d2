"""The statement that catches an error, and the ways out of it."""

import ast
import textwrap
import unittest

from oomph.agent.memory import guards
from oomph.agent.source import spans


def described(source: str) -> dict:
    """The record of the innermost `try` or `with` around the line with `ask`."""
    tree = ast.parse(textwrap.dedent(source))
    line = next(number for number, text in enumerate(textwrap.dedent(source).splitlines(), 1) if "ask" in text)
    path = spans.find_path(tree, line)
    at = max(index for index, node in enumerate(path) if isinstance(node, (ast.Try, ast.With)))
    handler = path[at].handlers[0].body if isinstance(path[at], ast.Try) else []
    return guards.describe(path[at], path[at].body, handler, path[:at])


class GuardsTest(unittest.TestCase):
    def ways(self, source: str) -> tuple[str, str]:
        found = described(source)
        return found["success"], found["failure"]

    def test_the_lines_of_body_handler_and_loop(self):
        found = described(
            """
            def pick(sizes):
                for size in sizes:
                    try:
                        ask(size)
                        return size
                    except MemoryError:
                        print(size)
                raise SystemExit
            """
        )
        lines = {"body_first": 5, "body_last": 6, "handler_last": 8, "loop_first": 3, "loop_last": 8}
        self.assertEqual(found, {**lines, "success": "leave", "failure": "again"})

    def test_a_loop_that_ends_with_a_success(self):
        for end in ("    try:\n        ask()\n        break\n    except E:\n        pass\n", "    try:\n        ask()\n    except E:\n        continue\n    break\n"):
            self.assertEqual(self.ways("while True:\n" + end), ("break", "again"))
        self.assertEqual(self.ways("while True:\n    try:\n        ask()\n    except E:\n        pass\n    else:\n        break\n"), ("break", "again"))

    def test_a_loop_over_data(self):
        skip = "for b in data:\n    try:\n        ask(b)\n    except E as e:\n        if 'x' in str(e):\n            continue\n        raise\n"
        self.assertEqual(self.ways(skip), ("again", "again"))
        self.assertEqual(self.ways("for b in data:\n    try:\n        ask(b)\n        if b:\n            break\n    except E:\n        break\n"), ("again", "break"))

    def test_code_behind_a_guard_that_returns(self):
        self.assertEqual(self.ways("def f():\n    try:\n        return ask()\n    except E:\n        pass\n    return slow()\n"), ("leave", "leave"))
        self.assertEqual(self.ways("def f():\n    try:\n        ask()\n    except E:\n        bad = True\n    if bad:\n        f()\n"), ("next", "next"))
        self.assertEqual(self.ways("for x in y:\n    def f():\n        with suppress(E):\n            return ask()\n"), ("leave", "next"))


if __name__ == "__main__":
    unittest.main()
