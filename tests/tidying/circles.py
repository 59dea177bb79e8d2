"""Cycles of `use` between the modules of a crate, and of imports between the agent's modules (`imports.py`).

A module may name its own submodules: that edge does not count. A cycle between siblings, or through a distant ancestor, does.
Files are compared by themselves first. Then the modules of each folder are compared, each with all that lies below it: files
of `a/` and `b/` that use each other make a cycle of folders even where no file reaches itself.
"""

import collections
import os
import pathlib
import re

USE = re.compile(r"^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.M)
PATH = re.compile(r"(?<![\w:])(\w+)((?:::\w+)+)")


def rust_edges(crate: pathlib.Path) -> dict[tuple, set[tuple]]:
    """The modules below `crate/src`, and those that each reaches through paths."""
    root = crate / "src"
    modules = {module_of(path, root): path for path in sorted(root.rglob("*.rs")) if path.name != "main.rs"}
    texts = {module: without_tests(path.read_text(encoding="utf-8")) for module, path in modules.items()}
    exports = {module: reexports(module, text) for module, text in texts.items()}
    edges = {module: set() for module in modules}
    for module, text in texts.items():
        for path, is_reexport in used(module, text):
            target = resolve(path, modules, exports)
            if target is not None and target[:len(module)] != module and not is_reexport:
                edges[module].add(target)
    return edges


def module_of(path: pathlib.Path, root: pathlib.Path) -> tuple[str, ...]:
    """`a/b.rs` and `a/b/mod.rs` are the module `a::b`; `lib.rs` is the crate."""
    parts = list(path.relative_to(root).with_suffix("").parts)
    return tuple(parts[:-1] if parts[-1] in ("lib", "mod") else parts)


def without_tests(text: str) -> str:
    """The source without comments and without its test module at the end."""
    text = re.split(r"^#\[cfg\(test\)\]\s*(?:#\[[^\n]*\]\s*)*mod ", text, maxsplit=1, flags=re.M)[0]
    return re.sub(r"//[^\n]*", "", text)


def expanded(prefix: list[str], tree: str):
    """The paths of a `use` tree: `a::b` and `a::c::d` of `a::{b, c::d}`."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        yield prefix + [part.strip() for part in re.sub(r"\s+as\s+\w+$", "", tree).split("::")], tree.rsplit(" as ", 1)[-1].split("::")[-1].strip()
        return
    head = [part.strip() for part in tree[:brace].split("::") if part.strip()]
    depth, start = 0, brace + 1
    for place, letter in enumerate(tree[brace:], brace):
        depth += (letter == "{") - (letter == "}")
        if (letter == "," and depth == 1) or depth == 0:
            if tree[start:place].strip():
                yield from expanded(prefix + head, tree[start:place])
            start = place + 1
            if depth == 0:
                return


def absolute(module: tuple[str, ...], path: list[str]) -> tuple[str, ...] | None:
    """A path from the crate's root; None for a path into another crate."""
    if path[0] == "crate":
        return tuple(path[1:])
    if path[0] not in ("self", "super"):
        return None
    base = module
    while path and path[0] in ("self", "super"):
        base = base[:-1] if path[0] == "super" else base
        path = path[1:]
    return base + tuple(path)


def used(module: tuple[str, ...], text: str):
    """Every path into the own crate, and whether a `pub use` of a child names it."""
    children = re.findall(r"\bmod (\w+);", text)
    for found in USE.finditer(text):
        for path, _ in expanded([], found[2]):
            goal = module + tuple(path) if path[0] in children else absolute(module, path)
            if goal is not None:
                yield goal, bool(found[1])
    for found in PATH.finditer(USE.sub("", text)):
        path = [found[1], *found[2].strip(":").split("::")]
        goal = module + tuple(path) if path[0] in children else absolute(module, path)
        if goal is not None:
            yield goal, False


def reexports(module: tuple[str, ...], text: str) -> dict[str, tuple[str, ...]]:
    """The names that a module re-exports, with their paths."""
    found = {}
    for use in USE.finditer(text):
        if use[1]:
            for path, name in expanded([], use[2]):
                children = re.findall(r"\bmod (\w+);", text)
                goal = module + tuple(path) if path[0] in children else absolute(module, path)
                if goal is not None:
                    found[name if name != "self" else path[-2]] = goal
    return found


def resolve(path: tuple[str, ...], modules: dict, exports: dict, depth: int = 0) -> tuple[str, ...] | None:
    """The file that defines the target of a path."""
    module: tuple[str, ...] = ()
    for place, segment in enumerate(path):
        if module + (segment,) in modules:
            module += (segment,)
            continue
        goal = exports.get(module, {}).get(segment)
        if goal is not None and depth < 8:
            return resolve(goal + path[place + 1:], modules, exports, depth + 1)
        break
    return module if module in modules else None


def between_folders(edges: dict[tuple, set[tuple]]) -> dict[tuple, set[tuple]]:
    """The edges between siblings: an edge between files below two of them counts as one between the two."""
    lifted = collections.defaultdict(set)
    for module, goals in edges.items():
        for goal in goals:
            shared = len(os.path.commonprefix([module, goal]))
            if shared < min(len(module), len(goal)):
                lifted[module[:shared + 1]].add(goal[:shared + 1])
                lifted[goal[:shared + 1]] |= set()
    return lifted


def groups(edges: dict) -> list[list]:
    """The strongly connected components of more than one node (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for goal in sorted(edges[node]):
            if goal not in index:
                visit(goal)
                low[node] = min(low[node], low[goal])
            elif goal in stack:
                low[node] = min(low[node], index[goal])
        if low[node] == index[node]:
            group = [stack.pop()]
            while group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found
