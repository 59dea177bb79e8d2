"""Names with more than one meaning: types defined by several crates, functions that share a name with their surroundings."""

import collections
import pathlib
import re

TYPE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|union|type)\s+([A-Z]\w*)", re.M)
STRUCTURE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum)\s+([A-Z]\w*)", re.M)
FUNCTION = re.compile(r"\bfn\s+(\w+)")
FIELD = re.compile(r"^\s+(?:pub(?:\([^)]*\))?\s+)?(\w+): [^=]*,\s*$", re.M)
LOCAL = re.compile(r"\blet\s+(?:mut\s+)?(\w+)\b")
SHADOW = re.compile(r"\blet\s+(?:mut\s+)?(\w+) = (?:self\.|\w+::)?\1\(")
# Associated types of the standard library's traits are named by them.
STANDARD = {"Err", "Error", "Item", "Output", "Target", "IntoIter", "Owned"}


def sources(root: pathlib.Path):
    """The crate, the path and the text of every source file, without generated ones and unit tests."""
    for path in sorted(root.glob("crates/*/src/**/*.rs")):
        if "generated" not in path.parts:
            text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
            yield path.relative_to(root).parts[1], path, re.split(r"^#\[cfg\(test\)\]\s*mod ", text, maxsplit=1, flags=re.M)[0]


def types(root: pathlib.Path) -> dict[str, list[pathlib.Path]]:
    """The files that define each type name; an associated type does not count."""
    found = collections.defaultdict(list)
    for _, path, text in sources(root):
        for match in TYPE.finditer(text):
            associated = match[0].lstrip().startswith("type ") and match[0][0] == " "
            if not (associated and match[1] in STANDARD):
                found[match[1]].append(path.relative_to(root))
    return found


def repeated(texts: list[str]) -> list[str]:
    """The names of structures and enumerations with more than one definition in all texts."""
    counts = collections.Counter(name for text in texts for name in STRUCTURE.findall(text))
    return sorted(name for name, count in counts.items() if count > 1)


def crates_of(paths: list[pathlib.Path]) -> set[str]:
    """The crates that some files belong to."""
    return {path.parts[1] for path in paths}


def one_name_for_all(root: pathlib.Path):
    """Names that are a module, a function, a field and a local of one crate at once."""
    kinds = collections.defaultdict(lambda: [set(), set(), set(), set()])
    for crate, path, text in sources(root):
        kinds[crate][0].add(path.stem)
        for found, pattern in zip(kinds[crate][1:], (FUNCTION, FIELD, LOCAL)):
            found.update(pattern.findall(text))
    for crate, sets in sorted(kinds.items()):
        for name in sorted(set.intersection(*sets)):
            yield crate, name


def shadows(root: pathlib.Path):
    """Locals with the name of the function that computes them."""
    for _, path, text in sources(root):
        for match in SHADOW.finditer(text):
            yield path.relative_to(root), match[1]
