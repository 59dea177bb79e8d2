"""Installs a wheel in a clean environment, without Cargo, and runs the command; reads the versions of glibc's symbols in it.

    python3 tests/wheel.py dist/oomph-*.whl --python .venv/bin/python
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import venv

sys.dont_write_bytecode = True
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent / "python_api"))

import outcomes

GLIBC = (2, 28)
COMMAND_BYTES = 24 * 1024**2
PROGRAM = """\
import torch

model = torch.nn.Linear(1024, 1024, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.randn(8, 1024, device="cuda")).sum().backward()
optimizer.step()
"""


def main() -> None:
    """Prints each problem; exit status 1 for any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--python", type=pathlib.Path, required=True, help="a Python with PyTorch, for `oomph check`")
    parser.add_argument("--pytest", type=pathlib.Path, help="a Python with PyTorch, pytest and pytest-xdist, for the tests of a project")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oomph-wheel-") as folder:
        problems = list(check(arguments.wheel.resolve(), arguments.python.absolute(), pathlib.Path(folder)))
        problems += list(check_plugin(arguments.wheel.resolve(), arguments.pytest.absolute(), pathlib.Path(folder))) if arguments.pytest else []
    print("\n".join(problems) or "the wheel installs and runs without Cargo")
    sys.exit(bool(problems))


def check(wheel: pathlib.Path, torch: pathlib.Path, folder: pathlib.Path):
    """Yields what is wrong with the wheel."""
    if f"manylinux_{GLIBC[0]}_{GLIBC[1]}_x86_64" not in wheel.name:
        yield f"{wheel.name}: not for manylinux_{GLIBC[0]}_{GLIBC[1]}"
    venv.create(folder / "venv", with_pip=True)
    scripts = folder / "venv/bin"
    environment = {
        "PATH": f"{scripts}:/usr/bin:/bin",
        "HOME": str(folder),
        "OOMPH_CACHE_DIR": str(folder / "cache"),
    }

    def run(*command: str | pathlib.Path, status: int = 0):
        ended = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
        output = ended.stdout + ended.stderr
        print(f"$ {' '.join(map(str, command))}\n{output[:400].rstrip()}")
        return (None if ended.returncode == status else f"{command}: exit status {ended.returncode}, expected {status}"), ended.stdout

    (folder / "tiny.py").write_text(PROGRAM, encoding="utf-8")
    if any(os.access(pathlib.Path(place) / "cargo", os.X_OK) for place in environment["PATH"].split(":")):
        yield "cargo is on the PATH of the clean environment"
    command = scripts / "oomph"
    for line, expected in [
        ((scripts / "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel), ""),
        ((command, "--version"), r"^oomph \d+\.\d+\.\d+$"),
        ((scripts / "python", "-m", "oomph", "--version"), r"^oomph \d+\.\d+\.\d+$"),
        (("ls", folder / "venv/share/man/man1/oomph-check.1", folder / "venv/share/bash-completion/completions/oomph"), r"oomph-check\.1$"),
        (("env", "OOMPH_RUN=recorded", scripts / "python", "-c", "import sys; print(*sys.meta_path)"), r"_oomph_finder\.Finder"),
        ((command, "check", "--gpu", "rtx-4090", "--python", torch, "tiny.py"), r"^fits RTX 4090"),
    ]:
        problem, output = run(*line)
        if problem or not re.search(expected, output, re.MULTILINE):
            yield problem or f"{line[1:]}: `{output[:80]}`, expected `{expected}`"
    libraries = list((folder / "cache").rglob("liboomph_phantom.so"))
    if not libraries:
        yield "no phantom was unpacked"
    if command.stat().st_size > COMMAND_BYTES:
        yield f"the command has {command.stat().st_size:,} bytes, at most {COMMAND_BYTES:,} are allowed"
    for binary in [command, *libraries]:
        newest = max(versions(binary), default=(0, 0))
        print(f"{binary.name}: {binary.stat().st_size:,} bytes, glibc {'.'.join(map(str, newest))}")
        if newest > GLIBC:
            yield f"{binary.name} needs glibc {newest}, at most {GLIBC} is allowed"


def check_plugin(wheel: pathlib.Path, python: pathlib.Path, folder: pathlib.Path):
    """Yields what is wrong with the pytest plugin of the installed wheel, in an environment on top of that of `python`."""
    own = folder / "plugin"
    venv.create(own, with_pip=True)
    (packages,) = own.glob("lib/python3*/site-packages")
    listing = subprocess.run([python, "-c", "import sys; print(*(it for it in sys.path if it.endswith('-packages')), sep='\\n')"], capture_output=True, text=True, check=True)
    (packages / "below.pth").write_text(listing.stdout, encoding="utf-8")
    subprocess.run([own / "bin/pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", wheel], check=True)
    try:
        print(f"the installed plugin: {outcomes.check_outcomes(own / 'bin/python', folder, env=outcomes.environment())}")
    except AssertionError as problem:
        yield str(problem)


def versions(binary: pathlib.Path) -> set[tuple[int, ...]]:
    """The versions of glibc that the dynamic symbols of a binary need."""
    listing = subprocess.run(["objdump", "-T", binary], capture_output=True, text=True, check=True).stdout
    return {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)", listing)}


if __name__ == "__main__":
    main()
