"""Writes `src/generated/absent_*.rs`: for each of NVIDIA's libraries, the functions that the phantom lacks.

`make generate` calls it with the wheels of `.venv`. A program that calls one of them must hear its name; without these lists the call would reach the real library. A list
is what the library exports (or, for the driver, what cuda.h declares), less what the sources under `src/api` define.

    python3 crates/phantom/generate.py <site-packages>/nvidia            writes the files
    python3 crates/phantom/generate.py <site-packages>/nvidia --check    exit status 1 if a file differs from its list

The folder is the `nvidia` namespace package that the wheels of torch 2.11.0 bring. What the libraries of other versions of
PyTorch export besides is kept in `symbols/other_exports.txt`; `--other <site-packages>/nvidia` adds those of one more.
`nm` (binutils) must be installed. The output depends on the wheels, that file and the sources alone: names are sorted,
and no time, path or version of a tool is written.
"""

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CRATE = Path(__file__).parent
GENERATED = CRATE / "src" / "generated"
OTHERS = CRATE / "symbols" / "other_exports.txt"
OTHERS_HEADER = """\
# What NVIDIA's libraries of other versions export that those of torch 2.11.0 do not; made by generate.py --other.
"""


@dataclass(frozen=True)
class Library:
    """One list: where its names come from, which of them are C functions, and what they return."""

    name: str
    title: str
    status: str
    sources: tuple[str, ...]
    pattern: str


LIBRARIES = (
    Library("cublas", "cuBLAS", "CublasStatus", ("libcublas.so",), r"cublas\w+"),
    Library("cublaslt", "cublasLt", "CublasStatus", ("libcublasLt.so",), r"cublasLt\w+"),
    Library("cudart", "the CUDA runtime", "CudaStatus", ("libcudart.so",), r"(__)?cuda[A-Z]\w+"),
    Library(
        "cudnn",
        "cuDNN",
        "CudnnStatus",
        tuple(f"libcudnn{part}.so" for part in ("", "_adv", "_cnn", "_graph", "_ops")),
        r"cudnn[A-Z]\w+",
    ),
    Library("cufft", "cuFFT", "CufftResult", ("libcufft.so",), r"cufft[A-Z]\w+"),
    Library("cufile", "cuFile", "CufileError", ("libcufile.so",), r"cuFile\w+"),
    Library("curand", "cuRAND", "CurandStatus", ("libcurand.so",), r"curand[A-Z]\w+"),
    Library(
        "cusolver", "cuSOLVER", "CusolverStatus", ("libcusolver.so",), r"cusolver[A-Z]\w+"
    ),
    Library(
        "cusparse", "cuSPARSE", "CusparseStatus", ("libcusparse.so",), r"cusparse[A-Z]\w+"
    ),
    Library(
        "cusparselt",
        "cuSPARSELt",
        "CusparseStatus",
        ("libcusparseLt.so",),
        r"cusparseLt[A-Z]\w+",
    ),
    Library("driver", "the CUDA driver", "DriverStatus", ("cuda.h",), r"cu[A-Z]\w+"),
    Library("nccl", "NCCL", "NcclResult", ("libnccl.so",), r"p?nccl[A-Z]\w+"),
)


def main() -> int:
    """Writes or checks every list; the number of lists that differ decides the exit status of a check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nvidia", type=Path, help="the `nvidia` folder of PyTorch's site-packages")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--other", type=Path, help="the `nvidia` folder of another version, to add its exports to the file")
    arguments = parser.parse_args()
    if arguments.other:
        add_others(arguments.nvidia, arguments.other)
    ours = defined_names(CRATE / "src" / "api")
    files = {f"absent_{library.name}.rs": listing(library, arguments.nvidia, ours) for library in LIBRARIES}
    files["mod.rs"] = modules()
    stale = [name for name, text in files.items() if read(GENERATED / name) != text]
    for name in stale:
        if arguments.check:
            print(f"crates/phantom/src/generated/{name} is stale: run `make generate`", file=sys.stderr)
        else:
            (GENERATED / name).write_text(files[name])
    return 1 if arguments.check and stale else 0


def listing(library: Library, nvidia: Path, ours: set[str]) -> str:
    """The text of one file."""
    names = names_of(library, nvidia) | others().get(library.name, set())
    absent = sorted(names - ours)
    lines = [
        f"//! Functions of {library.title} that the phantom lacks: each fails by name.",
        "//!",
        f"//! Written by `make generate` from {origin(library)}; not to be edited.",
        "",
        "use crate::boundary::absent;",
        f"use crate::status::{library.status};",
        "",
        f"absent! {{ {library.status};",
        *(f"    {name}" for name in absent),
        "}",
    ]
    return "\n".join(lines) + "\n"


def names_of(library: Library, nvidia: Path) -> set[str]:
    """The functions of one library, in the version that lies in a folder."""
    names: set[str] = set()
    for source in library.sources:
        for path in nvidia.glob(f"*/include/{source}" if source.endswith(".h") else f"*/lib/{source}.*"):
            names |= declared_names(path) if path.suffix == ".h" else exported_names(path)
    return {name for name in names if re.fullmatch(library.pattern, name)}


def others() -> dict[str, set[str]]:
    """The file of other versions' exports, by library."""
    found: dict[str, set[str]] = {}
    for line in (read(OTHERS) or "").splitlines():
        if not line.startswith("#"):
            library, *names = line.split()
            found.setdefault(library.rstrip(":"), set()).update(names)
    return found


def add_others(nvidia: Path, other: Path) -> None:
    """Adds to the file what the libraries in `other` export and those in `nvidia` do not."""
    known = others()
    lines = []
    for library in LIBRARIES:
        names = known.get(library.name, set()) | (names_of(library, other) - names_of(library, nvidia))
        lines += [f"{library.name}: {name}\n" for name in sorted(names)]
    OTHERS.write_text(OTHERS_HEADER + "".join(lines))


def origin(library: Library) -> str:
    """Where the names of a list come from, in words."""
    files = ", ".join(Path(source).name for source in library.sources)
    if files.endswith(".h"):
        return f"the declarations of {files}"
    return f"the exports of {files}"


def modules() -> str:
    """The text of `mod.rs`."""
    lines = ["//! Lists that `make generate` writes; see `crates/phantom/generate.py`.", ""]
    lines += [f"pub mod absent_{name};" for name in sorted(library.name for library in LIBRARIES)]
    return "\n".join(lines) + "\n"


def exported_names(path: Path) -> set[str]:
    """The functions that a shared library exports, without their versions."""
    table = subprocess.run(
        ["nm", "-D", "--defined-only", path], check=True, capture_output=True, text=True
    ).stdout
    rows = (line.split() for line in table.splitlines())
    return {row[2].split("@")[0] for row in rows if len(row) == 3 and row[1] in "TWi"}


def declared_names(path: Path) -> set[str]:
    """The functions that cuda.h declares, under every name that its macros give them."""
    text = path.read_text()
    declared = set(re.findall(r"CUDAAPI\s+(\w+)\s*\(", text))
    renamed = re.findall(r"^\s*#\s*define\s+(cu\w+)\s+(?:__CUDA_API_\w+\()?(cu\w+)", text, re.MULTILINE)
    aliases = {new for old, new in renamed if old in declared or new in declared}
    return declared | aliases


def defined_names(folder: Path) -> set[str]:
    """Every name that the sources use outside of comments: whatever we define is among them."""
    names: set[str] = set()
    for path in sorted(folder.rglob("*.rs")):
        code = "\n".join(line.split("//")[0] for line in path.read_text().splitlines())
        names |= set(re.findall(r"\b[A-Za-z_]\w+", code))
    return names


def read(path: Path) -> str | None:
    """The text of a file, or nothing where there is none."""
    return path.read_text() if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
