"""Assignments of the agent to what is not its own: modules and classes of PyTorch, Python and other libraries.

`agent/hooks` alone assigns to them (Note [Replacements] there). An object that the program or a library made is another matter: a remedy changes
a module's attribute, and that is what a remedy is for. So a target counts if its first name is imported from outside the agent, is
`sys.modules[…]`, or was set in the same function to an attribute of such a name.
"""

import ast
from collections.abc import Iterator

AGENT, HOOKS = "python/oomph/agent/", "python/oomph/agent/hooks/"


def find_foreign(name: str, text: str) -> Iterator[str]:
    """The problems of a file of the agent."""
    if not name.startswith(AGENT) or name.startswith(HOOKS):
        return
    tree = ast.parse(text)
    imported = set(_list_imported(tree))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)):
            for line, target in _find_in(node, imported):
                yield f"{name}:{line}: {target} is not the agent's: agent/hooks replaces it, with a row in its table"


def _list_imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from (alias.asname or alias.name for alias in node.names)


def _find_in(scope: ast.AST, imported: set[str]) -> Iterator[tuple[int, str]]:
    foreign = set(imported)
    for node in _walk_scope(scope):
        for target, value in _list_bound(node):
            if isinstance(target, ast.Name) and _is_foreign(value, foreign):
                foreign.add(target.id)
        for target in _list_targets(node):
            if isinstance(target, ast.Attribute) and _is_foreign(target.value, foreign):
                yield target.lineno, ast.unparse(target)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr") and _is_foreign(node.args[0], foreign):
            yield node.lineno, ast.unparse(node.args[0])


def _walk_scope(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a module or of a function, in order, without the functions inside."""
    waiting = list(ast.iter_child_nodes(scope))[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting += list(ast.iter_child_nodes(node))[::-1]


def _list_bound(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The names that a statement binds, each with what it is bound to; a loop binds the elements of a tuple."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            is_pair = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            yield from zip(target.elts, node.value.elts) if is_pair else [(target, node.value)]
    elif isinstance(node, ast.For) and isinstance(node.iter, (ast.Tuple, ast.List)):
        yield from ((node.target, element) for element in node.iter.elts)


def _list_targets(node: ast.AST) -> Iterator[ast.AST]:
    found = node.targets if isinstance(node, (ast.Assign, ast.Delete)) else [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else []
    for target in found:
        yield from target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]


def _is_foreign(node: ast.AST, foreign: set[str]) -> bool:
    """True for a name from outside, and for an attribute of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.value) == "sys.modules"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
        return _is_foreign(node.args[0], foreign)
    return isinstance(node, ast.Name) and node.id in foreign
