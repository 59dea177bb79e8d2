"""The folders that a program changes, the test server, and snapshots of the folders."""

import hashlib
import http.server
import io
import json
import os
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

import documents
import suite

HERE = Path(__file__).resolve().parents[1]
# As in `effects.guard` of a report.
GUARD = os.environ.get("EFFECTS_GUARD") or "namespace"
USER = os.environ.get("EFFECTS_USER", "")
NOBODY = 65534
PATIENCE = 900
# Files from this size on are compared by size and time alone.
LARGE = 256 << 20
# Folders of the machine. A program's files there have the token in their names.
SHARED = [Path(tempfile.gettempdir()), Path("/dev/shm"), Path("/var/tmp")]


class Server:
    """A server on the loop-back that counts requests."""

    def __init__(self) -> None:
        self.connections, self.gets, self.posts = 0, 0, 0
        # Paths of the requests, in order.
        self.paths: list[str] = []
        owner = self

        class Listener(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def get_request(self):
                owner.connections += 1
                return super().get_request()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                owner.gets += 1
                owner.paths.append(self.path)
                is_archive = self.path.endswith(".zip")
                self.answer("application/zip" if is_archive else "application/json", archive() if is_archive else b'{"answer": 42}')

            def do_POST(self):
                owner.posts += 1
                owner.paths.append(self.path)
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.answer("application/json", json.dumps({"id": owner.posts}).encode())

            do_PUT = do_POST

            def answer(self, kind: str, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *words) -> None:
                pass

        self.listener = Listener(("127.0.0.1", 0), Handler)
        self.port = self.listener.server_address[1]
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    def wait_for(self, path: str, seconds: float = 120) -> bool:
        """True once `path` was requested."""
        end = time.monotonic() + seconds
        while path not in self.paths and time.monotonic() < end:
            time.sleep(0.02)
        return path in self.paths


def archive() -> bytes:
    """A zip of two files, 64 KiB and 13 bytes, in the folder `weights`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as it:
        it.writestr("weights/layer.bin", bytes(range(256)) * 256)
        it.writestr("weights/config.json", '{"width": 16}')
    return buffer.getvalue()


class World:
    """The folders `a run` (with the program), `home` and `out`, the test server, and the environment with their names."""

    def __init__(self, program: Path, own_temporary: bool = False) -> None:
        self.program = program
        self.own_temporary = own_temporary

    def __enter__(self) -> "World":
        if USER and os.getuid() != 0:
            raise suite.Skip("EFFECTS_USER needs root")
        self.root = Path(tempfile.mkdtemp(prefix="effects-"))
        self.folders = {name: self.root / folder for name, folder in (("work", "a run"), ("home", "home"), ("out", "out"), ("tmp", "tmp"))}
        for folder in self.folders.values():
            folder.mkdir()
        self.token = secrets.token_hex(8)
        self.server = Server()
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("OOMPH_", "EFFECTS_", "XDG_"))}
        cache = self.root / "cache" if USER else suite.ROOT / "target" / "tests" / "effects-cache"
        cache.mkdir(parents=True, exist_ok=True)
        self.environment = kept | {
            "HOME": str(self.folders["home"]),
            "OOMPH_CACHE_DIR": str(cache),
            "PYTHONDONTWRITEBYTECODE": "1",
            "CUDA_VISIBLE_DEVICES": "",
            "EFFECTS_PORT": str(self.server.port),
            "EFFECTS_OUT": str(self.folders["out"]),
            "EFFECTS_TOKEN": self.token,
        }
        if self.own_temporary:
            self.environment["TMPDIR"] = str(self.folders["tmp"])
        shutil.copy(self.program, self.folders["work"])
        setup = self.program.with_name(f"{self.program.stem}.setup.py")
        if setup.exists():
            done = subprocess.run([sys.executable, str(setup)], cwd=self.folders["work"], env=self.environment, capture_output=True, text=True)
            assert done.returncode == 0, f"{setup.name}: {done.stderr}"
        if USER:
            self._own()
        # A change within the same tick of the clock would keep the time.
        time.sleep(0.02)
        return self

    def _own(self) -> None:
        for folder, _, names in os.walk(self.root):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        for path in self._marked():
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        self.root.chmod(0o755)
        # Two commands: the first one still has the privileges that open the folders of root.
        done = subprocess.run([*as_user(), "sh", "-c", '"$0" -c "import torch"', sys.executable], capture_output=True, text=True, cwd="/", env=self.environment)
        if done.returncode != 0:
            self.__exit__()
            raise suite.Skip(f"{USER} cannot run {sys.executable}")

    def __exit__(self, *_) -> None:
        self.end_programs()
        self.server.listener.shutdown()
        shutil.rmtree(self.root, ignore_errors=True)
        for path in self._marked():
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)

    def run_oomph(self, oomph: Path, *words: str, **options) -> subprocess.CompletedProcess:
        """Runs oomph in the work folder to its end; `options` are those of `subprocess.Popen`."""
        return self.run(self.command(oomph, *words), **options)

    def command(self, oomph: Path, *words: str) -> list[str]:
        """The command line of oomph, with the guard and the user of the environment."""
        hindered = [sys.executable, str(HERE / "without_namespaces.py")] if GUARD == "functions" else []
        return [*as_user(), *hindered, str(oomph), *words]

    def run(self, command: list[str], **options) -> subprocess.CompletedProcess:
        """Runs a command in the work folder to its end."""
        process = self.start(command, **options)
        try:
            output, errors = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise AssertionError(f"no end after {PATIENCE} s") from None
        return subprocess.CompletedProcess(command, process.returncode, output.decode(errors="replace"), errors.decode(errors="replace"))

    def start(self, command: list[str], **options) -> subprocess.Popen:
        """Starts a command in the work folder, in a new process group. Its output goes to files: a pipe would wait for daemons."""
        output, errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        process = subprocess.Popen(command, cwd=self.folders["work"], env=self.environment, stdout=output, stderr=errors, start_new_session=True, **options)

        def communicate(timeout: float | None = None) -> tuple[bytes, bytes]:
            process.wait(timeout)
            # The position of the file belongs to its writers.
            return tuple(os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) for file in (output, errors))

        process.communicate = communicate
        return process

    def snapshot(self) -> dict[str, dict]:
        """Every entry of the folders, by name."""
        entries: dict[str, dict] = {}
        for name in ("work", "home", "out"):
            record(entries, self.folders[name], name)
        for path in self._marked():
            record(entries, path, str(path))
        groups: dict[tuple, list[str]] = {}
        for name, entry in entries.items():
            groups.setdefault(entry.pop("inode"), []).append(name)
        for names in groups.values():
            for name in names:
                entries[name]["links"] = sorted(names)
        return entries

    def _marked(self) -> list[Path]:
        return [path for base in SHARED if base.is_dir() for path in base.iterdir() if self.token in path.name]

    def differences(self, before: dict[str, dict], when: str = "") -> list[str]:
        """The changes since `before`, a line each."""
        return list(compare(before, self.snapshot(), when))

    def late_differences(self, before: dict[str, dict], seconds: float) -> list[str]:
        """The changes after so many seconds."""
        if seconds == 0:
            return []
        wait(seconds)
        return self.differences(before, f", {seconds:g} s later")

    def programs(self) -> list[int]:
        """The processes with the token of this world in their environment."""
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal() and int(folder.name) != os.getpid():
                try:
                    if f"EFFECTS_TOKEN={self.token}".encode() in (folder / "environ").read_bytes():
                        found.append(int(folder.name))
                except OSError:
                    continue
        return found

    def end_programs(self) -> None:
        """Ends the remaining processes."""
        for pid in self.programs():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def find_refusal(oomph: Path) -> str:
    """The reason why this machine cannot run the guard of this suite; empty if it can."""
    with World(HERE / "parts" / "nothing.py") as world:
        done = world.run_oomph(oomph, "check", "--json", "--gpu", "rtx-4090", "--python", sys.executable, "nothing.py")
    effects = (documents.parse(done.stdout) or {}).get("effects") or {}
    if effects.get("guard") == GUARD:
        return ""
    return effects.get("refusal") or f"the guard was {effects.get('guard')}, status {done.returncode} {done.stderr[-500:]}"


def as_user() -> list[str]:
    """The words before a command of another user."""
    return ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"] if USER else []


def wait(seconds: float) -> None:
    """Sleeps."""
    time.sleep(seconds)


def record(entries: dict[str, dict], path: Path, name: str) -> None:
    """Adds `path` and its contents."""
    try:
        about = path.lstat()
    except FileNotFoundError:
        return
    kind = stat.S_IFMT(about.st_mode)
    entry = {"kind": kind, "mode": oct(about.st_mode), "owner": (about.st_uid, about.st_gid), "inode": (about.st_dev, about.st_ino), "xattrs": xattrs(path)}
    entries[name] = entry
    if kind == stat.S_IFLNK:
        entry["target"] = os.readlink(path)
    elif kind == stat.S_IFREG:
        entry |= {"size": about.st_size, "mtime_ns": about.st_mtime_ns, "sha256": digest(path) if about.st_size < LARGE else "large"}
    elif kind == stat.S_IFDIR:
        for child in sorted(path.iterdir()):
            record(entries, child, f"{name}/{child.name}")


def xattrs(path: Path) -> dict[str, str]:
    """Extended attributes, by name."""
    try:
        return {name: os.getxattr(path, name, follow_symlinks=False).hex() for name in os.listxattr(path, follow_symlinks=False)}
    except OSError:
        return {}


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if sys.version_info >= (3, 11) else hashlib.sha256(file.read()).hexdigest()


def compare(before: dict[str, dict], after: dict[str, dict], when: str = ""):
    """A line for each difference between two snapshots."""
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None:
            yield f"new{when}: {name}"
        elif new is None:
            yield f"gone{when}: {name}"
        elif old != new:
            keys = [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]
            yield f"changed{when}: {name}: " + ", ".join(f"{key} {old.get(key)} to {new.get(key)}" for key in keys)


def counts(before: dict[str, dict], after: dict[str, dict]) -> dict[str, int]:
    """The numbers of a report, from the worlds before and after a program."""

    def names(entries: dict[str, dict], kind: int) -> set[str]:
        return {name for name, entry in entries.items() if entry["kind"] == kind}

    files, later_files = names(before, stat.S_IFREG), names(after, stat.S_IFREG)
    folders, later_folders = names(before, stat.S_IFDIR), names(after, stat.S_IFDIR)
    content = ("size", "sha256", "mtime_ns")
    changed = {name for name in files & later_files if any(before[name][key] != after[name][key] for key in content)}
    return {
        "written": len(changed | (later_files - files)),
        "removed": len(files - later_files),
        "folders_made": len(later_folders - folders),
        "folders_removed": len(folders - later_folders),
    }
