"""A wheel of the binary under test: the layout of `make wheel`'s, without the Python package."""

import base64
import hashlib
import re
import stat
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TAG = "py3-none-linux_x86_64"


def read_version() -> str:
    """The version of the workspace."""
    return re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]


def build_wheel(oomph: Path, folder: Path) -> Path:
    """Writes the wheel into a folder."""
    version = read_version()
    inner = f"oomph-{version}.dist-info"
    # A debug build has hundreds of megabytes of symbols: the installed command starts the binary where it is.
    command = f'#!/bin/sh\nexec "{oomph}" "$@"\n'.encode()
    files = {
        f"oomph-{version}.data/scripts/oomph": command,
        f"{inner}/METADATA": f"Metadata-Version: 2.1\nName: oomph\nVersion: {version}\n".encode(),
        f"{inner}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode(),
    }
    record = "".join(f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{inner}/RECORD"] = f"{record}{inner}/RECORD,,\n".encode()
    path = folder / f"oomph-{version}-{TAG}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFREG | (0o755 if "/scripts/" in name else 0o644)) << 16
            wheel.writestr(info, data)
    return path


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
