"""Caches, disks, outputs and paths with a defect: a clear sentence, a hint, and no remains.

`box.assert_clean` runs after every case and checks that no process and no temporary file is left.
"""

import os
import subprocess
from pathlib import Path

from harness import PROGRAMS, Box, Case, Result, Skip, collect, contains, expect, like_others
from refusals import MLP, MODEL, STEPS, refused, refuses


def unshared(box: Box, options: str, folder: Path, *command) -> Result:
    """Runs a command where a file system of its own lies on `folder`, which ends with the command."""
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    if subprocess.run(["unshare", *user, "--mount", "true"], capture_output=True).returncode != 0:
        raise Skip("this machine lets us mount nothing")
    folder.mkdir(exist_ok=True)
    script = 'mount -t tmpfs -o "$1" tmpfs "$2" && shift 2 && exec "$@"'
    return box.run("unshare", *user, "--mount", "sh", "-c", script, "sh", options, folder, *command)


def check_unshared(box: Box, options: str, folder: Path, *words, **environment) -> Result:
    """A check under `unshared`."""
    command = ("env", *(f"{name}={value}" for name, value in environment.items()), box.oomph, "check", "--python", box.python)
    return unshared(box, options, folder, *command, *words)


def cache_is(box: Box, options: str, *says: str) -> None:
    """A cache folder on a file system with some defect."""
    folder = box.folder / "cache"
    refused(check_unshared(box, options, folder, MLP, OOMPH_CACHE_DIR=folder), str(folder), "OOMPH_CACHE_DIR=", *says)


def cache_without_permission(box: Box) -> None:
    """A cache folder of another user."""
    folder = box.folder / "cache"
    folder.mkdir(mode=0o500)
    command = (*like_others(), box.oomph, "check", "--python", box.python, MLP)
    refused(box.run(*command, env={"OOMPH_CACHE_DIR": folder}), str(folder), "ermission denied", "OOMPH_CACHE_DIR=")
    assert not list(folder.iterdir()), f"left behind: {list(folder.iterdir())}"


def cache_below_a_file(box: Box) -> None:
    """A cache folder in an impossible place."""
    file = box.write("file", "")
    refuses(box, ("cannot unpack the phantom GPU", "OOMPH_CACHE_DIR="), MLP, env={"OOMPH_CACHE_DIR": file / "cache"})
    none = dict.fromkeys(("OOMPH_CACHE_DIR", "XDG_CACHE_HOME", "HOME"))
    refuses(box, ("neither HOME nor XDG_CACHE_HOME",), MLP, env=none)


def full_disk(box: Box, options: str) -> None:
    """No room for the record: no verdict based on half of the record."""
    full = box.folder / "full"
    result = check_unshared(box, options, full, MLP, TMPDIR=full)
    expect(result, result.status, 2, "the exit status")
    assert "fits" not in result.stdout, result
    contains(result, result.stderr, "o space left", "hint: ")
    assert "panicked" not in result.stderr and "Traceback" not in result.stderr, result


def full_standard_output(box: Box) -> None:
    """A report that cannot be written is no success."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = box.check(MLP, stdout=full)
    expect(result, result.status, 2, "the exit status")
    contains(result, result.stderr, "cannot write the report")


def closed_standard_output(box: Box) -> None:
    """A reader that went away, as `| head -c 0` does, changes nothing."""
    reader, writer = os.pipe()
    os.close(reader)
    result = box.check(MLP, stdout=writer)
    os.close(writer)
    expect(result, (result.status, result.stderr), (0, ""), "status and standard error")


def blanks_in_paths(box: Box) -> None:
    """The cache, the folder for temporary files, the script and its arguments may hold blanks."""
    words = (PROGRAMS / "path with spaces" / "my train.py", "an argument", "")
    result = box.check("--verbose", "--steps", "0", *words, env={"OOMPH_CACHE_DIR": box.folder / "a cache"})
    expect(result, result.status, 0, "the exit status")
    contains(result, result.stderr, "['an argument', '']")
    contains(result, result.stdout, "my train.py:")


def odd_bytes_in_paths(box: Box) -> None:
    """A script whose name is no UTF-8, in a folder with a colon."""
    folder = os.fsencode(box.work) + b"/a:b"
    os.mkdir(folder)
    script = folder + b"/\xfftrain.py"
    with open(script, "w", encoding="utf-8") as file:
        file.write(MODEL + STEPS)
    # PyTorch itself makes no snapshot of a program with such a name.
    refuses(box, ("is not UTF-8", "rename"), os.fsdecode(script))
    result = box.check("--", box.python, os.fsdecode(script))
    expect(result, (result.status, result.stdout), (2, ""), "status and standard output")
    contains(result, result.stderr, "left no snapshot", "is not UTF-8", "rename")


def relative_cache(box: Box) -> None:
    """A cache named relative to the user's folder, which the program leaves."""
    box.write("script.py", "import os, subprocess, sys\nos.chdir('/')\n" + MODEL + STEPS)
    result = box.check("script.py", env={"OOMPH_CACHE_DIR": "here"})
    expect(result, result.status, 0, "the exit status")
    words = (box.oomph, "phantom", "--", "sh", "-c", f"cd / && exec '{box.python}' -c 'import torch; torch.zeros(1).cuda()'")
    ran = box.run(*words, env={"OOMPH_CACHE_DIR": "here"})
    expect(ran, ran.status, 0, "the exit status")


def two_at_once(box: Box) -> None:
    """Two commands that start with an empty cache unpack one."""
    cache = box.folder / "cache"
    words = (box.oomph, "check", "--python", box.python, MLP)
    pair = [box.start(*words, env={"OOMPH_CACHE_DIR": cache}) for _ in range(2)]
    for result in map(collect, pair):
        expect(result, result.status, 0, "the exit status")
    left = list_unpacked(cache)
    assert len(left) == 1, f"the cache holds {left}"


def list_unpacked(cache: Path) -> list[Path]:
    """The unpacked folders of a cache, beside its records."""
    return [path for path in cache.iterdir() if (path / "python").is_dir()]


def damaged_cache(box: Box) -> None:
    """A cache that an interrupted `rm -r` left half empty is filled again."""
    cache = box.folder / "cache"
    expect(first := box.check(MLP, env={"OOMPH_CACHE_DIR": cache}), first.status, 0, "the exit status")
    [folder] = list_unpacked(cache)
    for path in folder.rglob("*.py"):
        path.unlink()
    again = box.check(MLP, env={"OOMPH_CACHE_DIR": cache})
    expect(again, again.status, 0, "the exit status")


CASES = [
    Case("a cache mounted read-only", lambda box: cache_is(box, "ro", "Read-only file system")),
    Case("a cache mounted noexec", lambda box: cache_is(box, "noexec", "mounted noexec")),
    Case("a cache on a full disk", lambda box: cache_is(box, "size=64k", "o space left")),
    Case("a cache without permission", cache_without_permission),
    Case("a cache below a file, or nowhere", cache_below_a_file),
    Case("a disk that is full at once", lambda box: full_disk(box, "nr_inodes=1")),
    Case("a disk that fills up", lambda box: full_disk(box, "size=16k")),
    Case("a disk too small for the snapshot", lambda box: full_disk(box, "size=24k")),
    Case("a full standard output", full_standard_output),
    Case("a closed standard output", closed_standard_output),
    Case("blanks in paths", blanks_in_paths),
    Case("odd bytes in paths", odd_bytes_in_paths),
    Case("a relative cache", relative_cache),
    Case("a cache with a colon", lambda box: refuses(box, ("are split at `:`", "OOMPH_CACHE_DIR="), MLP, env={"OOMPH_CACHE_DIR": box.folder / "a:b"})),
    Case("two at once", two_at_once),
    Case("a damaged cache", damaged_cache),
]
