"""Reads the list of files of a source distribution, and builds it in a clean folder.

    python3 tests/packaging/sdist.py dist/oomph-*.tar.gz            the files
    python3 tests/packaging/sdist.py dist/oomph-*.tar.gz --build    and a wheel of them, by pip; needs Rust and PyPI
"""

import argparse
import posixpath
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

sys.dont_write_bytecode = True

MOST_BYTES = 4 * 1024**2
# Patterns of paths below the folder of the archive.
NEEDED = [
    r"Cargo\.lock", r"LICENSE-MIT", r"LICENSE-APACHE", r"PKG-INFO", r"README\.md", r"pyproject\.toml", r"crates/oomph/src/main\.rs", r"crates/phantom/src/lib\.rs",
    r"crates/recorder/src/lib\.rs", r"docs/lint/graph-in-collection\.md", r"docs/rules/fragmentation\.md", r"docs/remedies/gradient-accumulation\.md",
    r"python/oomph/agent/session\.py", r"python/wheel\.data/purelib/oomph\.pth", r"python/wheel\.data/data/share/man/man1/oomph\.1",
]  # fmt: skip
# A file that a source has in it.
INCLUDED = re.compile(r"include_(?:str|bytes)!\(\s*\"([^\"]+)\"")
UNWANTED = [r"tests/", r"target/", r"python/tests/", r"crates/[^/]+/tests/", r"crates/lint/corpus/", r"docs/images/", r".*\.pyc", r"\."]


def main() -> int:
    """Exit status 1 for any problem; each is printed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archive", type=Path)
    parser.add_argument("--build", action="store_true", help="build a wheel, install it and run the command")
    arguments = parser.parse_args()
    problems = list(find_faults(arguments.archive))
    if arguments.build and not problems:
        problems += build(arguments.archive.resolve())
    print("\n".join(problems) or "the source distribution is complete")
    return bool(problems)


def find_faults(archive: Path):
    """Yields each missing file, each file that is not to be published, and a size above the limit."""
    with tarfile.open(archive) as files:
        names = [name.partition("/")[2] for name in files.getnames()]
        dangling = list(find_dangling(files, set(names)))
    print(f"{archive.name}: {len(names)} files, {archive.stat().st_size / 2**20:.2f} MiB")
    for pattern in NEEDED:
        if not any(re.fullmatch(pattern, name) for name in names):
            yield f"no file `{pattern}`"
    yield from dangling
    for pattern in UNWANTED:
        found = [name for name in names if re.match(pattern, name)]
        if found:
            yield f"{len(found)} files of `{pattern}`, such as {found[0]}"
    if archive.stat().st_size > MOST_BYTES:
        yield f"{archive.stat().st_size:,} bytes, at most {MOST_BYTES:,} are allowed"


def find_dangling(files: tarfile.TarFile, names: set[str]):
    """Yields each file that a source includes and the archive lacks; tests are not built."""
    for member in files.getmembers():
        name = member.name.partition("/")[2]
        if not name.endswith(".rs") or "tests" in Path(name).with_suffix("").parts:
            continue
        source = files.extractfile(member).read().decode().partition("#[cfg(test)]")[0]
        for included in INCLUDED.findall(source):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), included))
            if path not in names:
                yield f"{name} includes {path}, which is no file of the archive"


def build(archive: Path) -> list[str]:
    """Builds and installs the archive as pip does where no wheel suits; the problems."""
    with tempfile.TemporaryDirectory(prefix="oomph-sdist-") as folder:
        venv.create(folder, with_pip=True)
        subprocess.run([f"{folder}/bin/pip", "install", "--quiet", "--disable-pip-version-check", archive], check=True, cwd=folder)
        version = subprocess.run([f"{folder}/bin/oomph", "--version"], check=True, cwd=folder, capture_output=True, text=True).stdout
        explained = subprocess.run([f"{folder}/bin/oomph", "rule", "graph-in-collection"], check=False, cwd=folder, capture_output=True, text=True)
    print(version.strip())
    return [] if explained.returncode == 0 else [f"`oomph rule` ends with exit status {explained.returncode}: {explained.stderr}"]


if __name__ == "__main__":
    sys.exit(main())
