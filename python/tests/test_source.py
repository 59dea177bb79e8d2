"""The program's source: parsed, searched by line, and evaluated without running the program."""

import ast
import sys
import tempfile
import types
import unittest
from pathlib import Path

from oomph.agent.source import flow, names, spans, trees
from oomph.agent.source.scope import UNKNOWN, Scope

# The source, and the lines with a condition beside the call.
CASES = (
    ("if a:\n    f()\n", []),
    ("if a: f()\n", [1]),
    ("while a: f()\n", [1]),
    ("x = f() if a else g()\n", [1]),
    ("x = a and f()\n", [1]),
    ("f()\nx = (a or\n     f())\n", [2, 3]),
    ("for i in a: f()\n", []),
)
# The expression and its value in `EvaluationTest`; `UNKNOWN` for an expression that would run code of the program.
VALUES = (
    ("rows * 2 + 1", 17),
    ("rows > 4 and not done", True),
    ("done and missing()", False),
    ("missing and rows", UNKNOWN),
    ("config['batch'] // 2", 32),
    ("config.get('batch')", UNKNOWN),
    ("(rows, 3)[0]", 8),
    ("len(config) + len('ab')", 3),
    ("layer.weight", "weights"),
    ("layer.size", 5),
    ("layer.area", UNKNOWN),
    ("max(rows, 9) if done else -rows", -8),
    ("1 << (1 << 40)", UNKNOWN),
    ("'a' * rows", UNKNOWN),
)


class Layer:
    """As a module of PyTorch, which keeps its parameters in a dict."""

    size = 5

    def __init__(self):
        self._parameters = {"weight": "weights"}

    @property
    def area(self):
        """Code of the program."""
        raise AssertionError


class EvaluationTest(unittest.TestCase):
    def test_expressions_are_evaluated_without_code_of_the_program(self):
        rows, done, config, layer = 8, False, {"batch": 64}, Layer()
        scope = Scope.of_frame(sys._getframe())
        for text, expected in VALUES:
            self.assertEqual(scope.read(text), expected, text)
        del rows, done, config, layer, scope

    def test_a_called_function_has_its_arguments_and_closure(self):
        scale = 3
        function = lambda rows, other: rows * scale + other  # noqa: E731
        scope = Scope.of_module({}).of_call(function, {"rows": 8})
        self.assertEqual([scope.read(text) for text in ("rows * scale", "other", "rows + other")], [24, UNKNOWN, UNKNOWN])

    def test_changes_are_those_of_the_walk(self):
        holder, scope = types.SimpleNamespace(size=8), Scope.of_module({"n": 1})
        scope.set("n", 2)
        scope.set_attribute(holder, "size", 4)
        scope.set("holder", holder)
        self.assertEqual((scope.read("n + holder.size"), holder.size), (6, 8))


class SearchTest(unittest.TestCase):
    def test_a_condition_on_the_line_of_a_call_is_seen(self):
        for source, expected in CASES:
            with tempfile.TemporaryDirectory() as folder:
                script = Path(folder) / "script.py"
                script.write_text(source)
                lines = range(1, source.count("\n") + 1)
                self.assertEqual([line for line in lines if flow.has_condition(str(script), line)], expected, source)

    def test_a_definition_is_found_by_its_code(self):
        for number, (source, line) in enumerate((("def f(): pass\n", 1), ("@wrap\n@wrap\ndef f(): pass\n", 3), ("f = lambda: 1\n", 1))):
            with tempfile.TemporaryDirectory() as folder:
                script = Path(folder) / f"script{number}.py"
                script.write_text(source)
                namespace = {"wrap": lambda it: it}
                exec(compile(source, str(script), "exec"), namespace)
                found = trees.find_definition(namespace["f"].__code__, namespace)
                self.assertEqual(found.lineno, line, source)

    def test_the_statements_behind_a_statement_end_with_its_loop(self):
        tree = ast.parse("for i in r:\n    if i:\n        a()\n        b()\n    c()\nd()\n")
        path = spans.find_path(tree, 3)
        self.assertEqual([ast.unparse(it) for it in flow.list_following(path[-1], path[:-1])], ["b()", "c()"])

    def test_the_inside_of_a_function_is_no_part_of_its_surroundings(self):
        tree = ast.parse("x = 1\ndef f():\n    y = 2\n")
        whole = [node for node in flow.walk_own(tree, is_whole=True) if isinstance(node, ast.Name)]
        own = [node for node in flow.walk_own(tree.body[1], is_whole=True) if isinstance(node, ast.Name)]
        self.assertEqual(([it.id for it in whole], [it.id for it in own]), (["x"], ["y"]))

    def test_names_and_items_are_spelled(self):
        for text, expected in (("a", "a"), ("a.b.c", "a.b.c"), ("a['k'].b", "a['k'].b"), ("a[0]", None), ("f().a", None)):
            self.assertEqual(names.spell(ast.parse(text, mode="eval").body), expected, text)


if __name__ == "__main__":
    unittest.main()
