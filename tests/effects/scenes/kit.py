"""What every scene has: a room with a home, the second process, the commands, and the end.

    python scenes/work/NAME.py OOMPH PYTHON [GUARD ...]

A scene is a script: a real dry run or recording beside real processes, in a folder of its own. GUARD are words before the command, such as
`without_namespaces.py`. The last line is `held`, `BROKEN WHAT` (status 1) or `skipped WHY` (status 77). With CONTROL=1 the same program runs without
the guard, and the scene must say BROKEN.
"""

import ctypes, errno, hashlib, json, os, pathlib, re, shutil, signal, socket, stat, subprocess, sys, tempfile, threading, time

OOMPH, PYTHON, GUARD = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
CONTROL = bool(os.environ.pop("CONTROL", ""))  # CONTROL=1: the same program without oomph's guard; the scene must then say BROKEN
PATIENCE, BEGAN, MARK = 180, time.monotonic(), f"scene-{os.getpid()}-{time.time_ns()}"
ROOM = pathlib.Path(os.path.realpath(tempfile.mkdtemp(prefix="a room ")))
HOME, CACHE, WORK, TMP, OUT = ROOM / "home", ROOM / "home/.cache", ROOM / "work", ROOM / "tmp", ROOM / "out"
for folder in (CACHE / "oomph", WORK, TMP / "torchinductor_root", OUT):  # PyTorch makes the last but one by itself
    folder.mkdir(parents=True)
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("OOMPH", "LD_PRELOAD", "PYTHON"))}
ENV |= dict(HOME=str(HOME), XDG_CACHE_HOME=str(CACHE), TMPDIR=str(TMP), SCENE_MARK=MARK, PYTHONDONTWRITEBYTECODE="1")
UNDO = []
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):  # as on a terminal, also under nohup or in a shell's background
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
STEPS = """
import os, sys, time, signal, socket, ctypes, subprocess, threading
def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\\n"); sys.stdout.flush()
def attempt(name, call):
    try: say("ACTED", name, call())
    except BaseException as error: say("ACTED", name, "refused", type(error).__name__, error)
import torch
model = torch.nn.Linear(64, 64).cuda(); optimizer = torch.optim.SGD(model.parameters(), lr=.1)
def step():
    optimizer.zero_grad(); model(torch.ones(8, 64, device="cuda")).sum().backward(); optimizer.step()
"""
LINE = """
def print(*words, flush=True): os.write(1, (" ".join(map(str, words)) + "\\n").encode())
"""


class End(Exception):
    pass


def held(what=""):
    raise End(0, f"held {what}".strip())


def broken(what):
    raise End(1, "BROKEN " + " ".join(str(what).split()))


def skipped(why):
    raise End(77, f"skipped {why}")


def expect(is_so, what):
    if not is_so:
        broken(what)


def left():
    return max(1, PATIENCE - (time.monotonic() - BEGAN))


def until(condition, what):
    while not condition():
        if left() <= 1:
            broken(f"hang: waited for {what}")
        time.sleep(0.05)


def program(text, name="train.py", steps=STEPS):
    (WORK / name).write_text(steps + text)
    return name


class Started:
    """A process whose lines are collected while it runs."""

    def __init__(self, command, **options):
        options = dict(cwd=WORK, env=ENV, stdin=subprocess.DEVNULL, start_new_session=True) | options
        self.lines, self.ended = [], False
        self.process = subprocess.Popen([str(w) for w in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.pid = self.process.pid
        self.readers = [threading.Thread(target=self._read, args=(f, n), daemon=True) for n, f in ((1, self.process.stdout), (2, self.process.stderr))]
        for reader in self.readers:
            reader.start()

    def _read(self, file, number):
        for line in file:
            self.lines.append((number, line.decode(errors="replace").rstrip("\n")))

    def text(self, number=None):
        return "\n".join(line for n, line in list(self.lines) if number in (None, n))

    def wait_for(self, word):
        until(lambda: word in self.text() or self.process.poll() is not None, f"{word!r}; so far: {self.text()[-300:]}")
        for reader in self.readers:
            self.process.poll() is None or reader.join(2)
        return word in self.text()

    def end(self):
        try:
            self.process.wait(left())
        except subprocess.TimeoutExpired:
            self.process.kill()
            broken(f"hang: {PATIENCE} s; last words: {self.text()[-300:]}")
        for reader in self.readers:
            reader.join(3)
        self.ended = True
        return self.process.returncode


class Check(Started):
    """`oomph check -v` of a program; in a control the program itself, on the phantom without a guard."""

    def __init__(self, script="train.py", options=(), command="check", **more):
        bare = [OOMPH, "phantom", "--gpu", "rtx-4090", "--", PYTHON, script]
        words = [*GUARD, OOMPH, command, *([] if command == "fit" else ["-v", "--json-file", OUT / "report.json"]), "--gpu", "rtx-4090", "--python", PYTHON, *options, script]
        super().__init__(bare if CONTROL else words, **more)

    def report(self):
        try:
            report = json.loads((OUT / "report.json").read_text())
        except (OSError, ValueError):
            return {}
        return {} if "error" in report else report

    def said(self, *words):
        """A word of the report's notes or of its effects; the bare list of changed paths (undone, as far as it says) is none."""
        effects = dict(self.report().get("effects") or {})
        effects["paths"] = [p for p in effects.get("paths", []) if set(p) - {"path", "change"}]
        text = json.dumps([self.report().get("notes"), effects]).lower()
        return any(word.lower() in text for word in words) and not CONTROL

    def acted(self, *names):
        """The dry run ended and its program came to its acts: else nothing was tried."""
        status = self.end()
        for name in names or [""]:
            expect(f"ACTED {name}" in self.text(), f"void: the program did not come to its act {name!r}: exit status {status}: {self.text()[-700:]}")
        expect(status == 0, f"void: exit status {status}: {self.text()[-700:]}")
        return self


class Run(Started):
    """The program on a phantom, under `oomph run` or bare; in a control under `control`, words that do the harm the scene looks for."""

    def __init__(self, script="train.py", bare=False, control=(), options=(), before=(), command=None, **more):
        recorder = [] if bare else list(control) if CONTROL else [OOMPH, "run", *options, "--"]
        super().__init__([OOMPH, "phantom", "--gpu", "rtx-4090", "--", *before, *recorder, *(command or [PYTHON, script])], **more)


def other(text, *args, **options):
    """A second real process, of this Python, without anything of oomph; it says `ready` when it is."""
    (OUT / "other.py").write_text("import os, sys, time, signal, socket, ctypes, threading\n" + LINE + text)
    it = Started([sys.executable, OUT / "other.py", *args], **options)
    until(lambda: "ready" in it.text() or it.process.poll() is not None, "the other process")
    expect("ready" in it.text(), f"void: the other process: {it.text()}")
    return it


def own_processes():
    """Processes of this scene that live, by the mark in their environment or the room in their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            traces = pathlib.Path("/proc", pid, "environ").read_bytes() + pathlib.Path("/proc", pid, "cmdline").read_bytes()
            state = pathlib.Path("/proc", pid, "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if int(pid) != os.getpid() and state not in "ZX" and (MARK.encode() in traces or str(ROOM).encode() in traces):
            found.append(int(pid))
    return found


def snapshot(*folders):
    """Everything of these folders that a user could miss: kind, mode, owner, links, bytes, time, target, extended attributes."""
    seen = {}
    for folder in folders:
        for top, names, files in os.walk(os.fsencode(folder)):
            if top.startswith(os.fsencode(CACHE / "oomph")):
                continue
            for path in [top, *(os.path.join(top, n) for n in files), *(os.path.join(top, n) for n in names if os.path.islink(os.path.join(top, n)))]:
                s = os.lstat(path)
                body = os.readlink(path) if stat.S_ISLNK(s.st_mode) else hashlib.sha1(open(path, "rb").read()).hexdigest()[:8] if stat.S_ISREG(s.st_mode) else ""
                kept = [] if stat.S_ISLNK(s.st_mode) else [(x, os.getxattr(path, x)) for x in os.listxattr(path)]
                size, moment = (0, 0) if stat.S_ISDIR(s.st_mode) else (s.st_size, s.st_mtime_ns)
                seen[path] = (stat.filemode(s.st_mode), s.st_uid, s.st_gid, s.st_nlink, size, body, moment, kept)
    return seen


def differences(before, after):
    names = ("mode", "owner", "group", "links", "size", "bytes", "mtime", "xattr")
    called = lambda path: repr(os.fsdecode(path).replace(str(ROOM) + "/", ""))
    lost = [f"gone {called(p)}" for p in before if p not in after]
    new = [f"new {called(p)}" for p in after if p not in before]
    changed = [f"{n} of {called(p)}: {a!r} -> {b!r}" for p in before if p in after for n, a, b in zip(names, before[p], after[p]) if a != b]
    return lost + new + changed


def unchanged(before, *folders):
    found = differences(before, snapshot(*folders))
    expect(not found, f"{len(found)} differences: {'; '.join(found)[:700]}")


def main(scene):
    status, line = 1, "BROKEN the scene itself"
    try:
        scene()
        status, line = 0, "held"
    except End as end:
        status, line = end.args
    except BaseException as error:
        import traceback
        traceback.print_exc()
        line = f"BROKEN the scene itself: {type(error).__name__} {error}"
    for undo in reversed(UNDO):
        try:
            undo()
        except Exception as error:
            print("could not undo:", error, file=sys.stderr)
    for _ in range(3):
        for pid in own_processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.1)
    mounts = [m.split()[4].encode().decode("unicode_escape") for m in open("/proc/self/mountinfo")]
    for mount in reversed([m for m in mounts if m.startswith(str(ROOM))]):
        subprocess.run(["umount", "-l", mount], stderr=subprocess.DEVNULL)
    shutil.rmtree(os.fsencode(ROOM), ignore_errors=True)
    if ROOM.exists():
        subprocess.run(["chattr", "-R", "-ia", str(ROOM)], stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", str(ROOM)])
    print(line, flush=True)
    os._exit(status)
