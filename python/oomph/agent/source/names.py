"""The names in expressions."""

import ast


def last_name(node: ast.AST | None) -> str:
    """The last name of a name or an attribute: `evaluate` of `self.evaluate`; empty for any other node."""
    return getattr(node, "attr", None) or getattr(node, "id", "")


def name_of_call(node: ast.AST | None) -> str:
    """The last name of the called function; empty for a node that is no call."""
    return last_name(node.func) if isinstance(node, ast.Call) else ""


def spell(node: ast.AST | None) -> str | None:
    """`size`, `self.args.batch` or `config['batch']`; `None` for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = spell(node.value)
        return f"{owner}.{node.attr}" if owner else None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is str:
        owner = spell(node.value)
        return f"{owner}[{node.slice.value!r}]" if owner else None
    return None
