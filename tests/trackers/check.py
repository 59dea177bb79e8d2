"""`oomph run --log-to` with the real library of each tracker, off line, read back; and the callbacks of trainers.

    target/services/bin/python tests/trackers/check.py --oomph target/debug/oomph [WORD ...]

A phantom GPU stands for the real one. The figures are held to the counters that the program itself prints.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))
sys.path.insert(1, str(HERE))

import readers
import suite

PATIENCE = 240
STEP = 8 << 20
# The wait that the case asks for, the second for the helper's own end, and the rest of `oomph run` on a busy machine.
WAIT = 3 + 1 + 16
OFFLINE = {
    "WANDB_MODE": "offline", "WANDB_ERROR_REPORTING": "false", "MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_TRACKING_URI": "sqlite:///store.db",
    "TRACKIO_DIR": "trackio", "TRACKIO_LOGO_LIGHT_URL": "", "HF_HUB_OFFLINE": "1",
}  # fmt: skip


def main() -> int:
    """Exit status 1 if a figure is wrong, or the program is disturbed."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.absolute()
    bodies = [
        log_to_tensorboard, log_to_mlflow, log_to_the_programs_mlflow_run, log_to_wandb, log_beside_the_programs_wandb_run, log_to_trackio,
        log_to_all, log_ranks, miss_a_library, refuse, end_early, end_with_a_signal, outlast_silence, run_out,
    ]  # fmt: skip
    cases = [suite.Case(body.__doc__.splitlines()[0], partial(in_folder, body, oomph)) for body in bodies]
    cases += [suite.Case(f"callback of {name}", partial(in_folder, partial(call_back, name), oomph)) for name in ("transformers", "lightning")]
    cases.append(suite.Case("callbacks without a GPU", partial(in_folder, call_back_without, oomph)))
    return suite.run("trackers", cases, arguments)


def in_folder(body, oomph: Path) -> str:
    """Runs a case in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="oomph-trackers-", ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        return body(oomph, Path(folder))


def run(oomph: Path, options: list[str], program: list[str], status: int = 0, **env: str) -> subprocess.CompletedProcess:
    """Runs a program of `work` under `oomph run`, on a phantom GPU, to its end."""
    words = [oomph, "phantom", "--gpu", "rtx-3060", "--vram", "4GiB", "--", oomph, "run", *options, "--", sys.executable, *program]
    words[-len(program)] = HERE / "work" / program[0]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=PATIENCE, env=os.environ | OFFLINE | env)
    assert done.returncode == status, f"status {done.returncode}: {done.stdout}{done.stderr}"
    return done


def hold(figures: readers.Figures, done: subprocess.CompletedProcess, prefix: str = "oomph/", single: bool = False) -> None:
    """Holds the last figures to the counters that the program printed. `single`: the tracker keeps single-precision numbers."""
    counters = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    expected = {name: counters[name] for name in ("allocated_bytes", "reserved_bytes", "peak_bytes")}
    expected |= {
        "cache_bytes": counters["reserved_bytes"] - counters["allocated_bytes"],
        "spare_bytes": counters["free_bytes"] + counters["reserved_bytes"] - counters["reserved_peak_bytes"],
        "growth_bytes_per_step": STEP,
        "steps": 12,
    }
    expected["need_bytes"] = (4 << 30) - expected["spare_bytes"]
    for name, value in expected.items():
        found = figures[prefix + name]
        assert found == value or (single and abs(found - value) <= value / (1 << 23)), f"{name}: {found}, expected {value}"
    assert figures[prefix + "phase"] in ("data", "forward", "backward", "optimizer"), figures[prefix + "phase"]


def log_to_tensorboard(oomph: Path, folder: Path) -> str:
    """tensorboard: an event file in a folder of its own, another for the next run"""
    first = run(oomph, ["--log-wait", "100", "--log-to", "tensorboard"], ["steps.py"])
    hold(readers.tensorboard(folder / "runs/oomph"), first, single=True)
    assert "oomph: the figures are in runs/oomph\n" in first.stderr, first.stderr
    second = run(oomph, ["--log-wait", "100", "--log-to", "tensorboard=runs"], ["steps.py"])
    hold(readers.tensorboard(folder / "runs/oomph-2"), second, single=True)
    return second.stderr.splitlines()[0]


def log_to_mlflow(oomph: Path, folder: Path) -> str:
    """mlflow: a run of its own in a named experiment"""
    from mlflow import MlflowClient

    done = run(oomph, ["--log-wait", "100", "--log-to", "mlflow=memory"], ["steps.py"])
    store = f"sqlite:///{folder}/store.db"
    experiment = MlflowClient(store).get_experiment_by_name("memory").experiment_id
    ((name, status, figures),) = readers.mlflow(store, experiment)
    assert (name, status) == ("oomph", "FINISHED"), (name, status)
    hold(figures, done)
    return said(done)


def log_to_the_programs_mlflow_run(oomph: Path, folder: Path) -> str:
    """mlflow: the program's own run gets the figures, and ends by the program"""
    done = run(oomph, ["--log-wait", "100", "--log-to", "mlflow"], ["steps.py", "mlflow"])
    ((name, status, figures),) = readers.mlflow(f"sqlite:///{folder}/store.db")
    assert name != "oomph" and status == "FINISHED", (name, status)
    hold(figures, done)
    return said(done)


def log_to_wandb(oomph: Path, folder: Path) -> str:
    """wandb: an offline run of its own"""
    done = run(oomph, ["--log-wait", "100", "--log-to", "wandb=memory"], ["steps.py"])
    ((record, figures),) = readers.wandb(folder / "wandb")
    assert (record.project, record.job_type) == ("memory", "oomph"), record
    hold(figures, done)
    return said(done)


def log_beside_the_programs_wandb_run(oomph: Path, folder: Path) -> str:
    """wandb: a second run in the program's project and group, which leaves the program's own as it is"""
    done = run(oomph, ["--log-wait", "100", "--log-to", "wandb"], ["steps.py", "wandb"])
    runs = {record.display_name: (record, figures) for record, figures in readers.wandb(folder / "wandb")}
    (program, none), (own, figures) = runs["the-program"], runs["the-program-oomph"]
    assert (own.project, own.run_group) == ("own", program.run_id), own
    assert not [name for name in none if name.startswith("oomph/")], none
    hold(figures, done)
    return said(done)


def log_to_trackio(oomph: Path, folder: Path) -> str:
    """trackio: a run of its own, in the program's project where one is known"""
    done = run(oomph, ["--log-wait", "100", "--log-to", "trackio"], ["steps.py", "trackio"])
    runs = dict(readers.trackio(folder / "trackio", "own"))
    hold(runs["the-program-oomph"], done)
    return said(done)


def log_to_all(oomph: Path, folder: Path) -> str:
    """Several trackers at once, and --metrics"""
    done = run(oomph, ["--log-wait", "100", "--log-to", "tensorboard,mlflow", "--log-to", "trackio=memory", "--metrics", "figures.jsonl"], ["steps.py"])
    hold(readers.tensorboard(folder / "runs/oomph"), done, single=True)
    ((_, _, figures),) = readers.mlflow(f"sqlite:///{folder}/store.db")
    hold(figures, done)
    ((_, figures),) = readers.trackio(folder / "trackio", "memory")
    hold(figures, done)
    assert json.loads((folder / "figures.jsonl").read_text().splitlines()[-1])["ended"]
    return said(done)


def log_ranks(oomph: Path, folder: Path) -> str:
    """A rank has its number in the names, but for the first"""
    done = run(oomph, ["--log-wait", "100", "--log-to", "tensorboard"], ["steps.py", "none", "2"])
    figures = readers.tensorboard(folder / "runs/oomph")
    assert figures["oomph/allocated_bytes"] == figures["oomph/rank1/allocated_bytes"], figures
    assert figures["oomph/rank1/steps"] == 12 and not [name for name in figures if "pid" in name], figures
    return said(done)


def miss_a_library(oomph: Path, folder: Path) -> str:
    """A missing library is a sentence before the program starts, and the program runs"""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "bare"], check=True)
    python = folder / "bare/bin/python"
    words = [oomph, "run", "--log-to", "wandb", "--", python, "-c", "import sys; print('started', file=sys.stderr)"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=PATIENCE)
    sentence = f"oomph: nothing is logged to wandb: {python} has no package `wandb`; `{python} -m pip install wandb` installs it"
    assert done.returncode == 0 and done.stderr.splitlines()[:2] == [sentence, "started"], done.stderr
    return sentence.split(": ", 2)[1]


def refuse(oomph: Path, _folder: Path) -> str:
    """An unknown tracker is an error before the program starts"""
    done = run(oomph, ["--log-wait", "100", "--log-to", "comet"], ["steps.py"], status=2)
    assert "`comet` is not a tracker; expected tensorboard, wandb, mlflow or trackio" in done.stderr and not done.stdout, done.stderr
    return done.stderr.splitlines()[0]


def end_early(oomph: Path, folder: Path) -> str:
    """A program that uses no GPU leaves no empty run"""
    (folder / "nothing.py").write_text("print('nothing')\n")
    done = run(oomph, ["--log-wait", "100", "--log-to", "tensorboard,mlflow,wandb,trackio"], [str(folder / "nothing.py")])
    assert done.stderr.count("no figures of a GPU came") == 4, done.stderr
    left = sorted(path.name for path in folder.iterdir())
    assert left == ["nothing.py"], left
    return f"{done.stderr.count('oomph:')} lines"


def end_with_a_signal(oomph: Path, folder: Path) -> str:
    """Ctrl-C ends the program alone, and its figures are kept"""
    words = [oomph, "phantom", "--gpu", "rtx-3060", "--vram", "4GiB", "--", oomph, "run", "--log-wait", "100", "--log-to", "tensorboard,mlflow"]
    words += ["--metrics", "figures.jsonl", "--", sys.executable, HERE / "work/steps.py"]
    # A group of its own, as of a job in a terminal: the signal reaches every process of the group.
    process = subprocess.Popen(
        list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | OFFLINE, process_group=0,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    figures = folder / "figures.jsonl"
    while not (figures.exists() and any(json.loads(line)["devices"] for line in figures.read_text().splitlines())):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode in (128 + signal.SIGINT, -signal.SIGINT), (process.returncode, errors)
    last = json.loads(figures.read_text().splitlines()[-1])["devices"][0]
    ((_, status, logged),) = readers.mlflow(f"sqlite:///{folder}/store.db")
    assert (status, logged["oomph/allocated_bytes"]) == ("FINISHED", last["allocated_bytes"]), (status, logged, last)
    assert readers.tensorboard(folder / "runs/oomph")["oomph/steps"] == logged["oomph/steps"]
    return errors.splitlines()[-1]


def outlast_silence(oomph: Path, folder: Path) -> str:
    """A server that never answers delays the end by a few seconds, and the lost figures are counted"""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = {"MLFLOW_TRACKING_URI": url, "WANDB_BASE_URL": url, "WANDB_MODE": "online", "WANDB_API_KEY": "0" * 40}
        done = run(oomph, ["--log-wait", "3", "--log-to", "mlflow,wandb"], ["steps.py"], **began)
        took = time.time() - json.loads(done.stdout)["time"]
    lost = re.findall(r"oomph: nothing was logged to (\w+), which did not answer: (\d+) lines? of figures", done.stderr)
    assert [name for name, _ in lost] == ["mlflow", "wandb"] and all(int(count) > 0 for _, count in lost), done.stderr
    assert took < WAIT, f"{took:.1f} s from the program's last line to the end of oomph run"
    return f"{took:.1f} s after the program"


def run_out(oomph: Path, folder: Path) -> str:
    """After an out-of-memory error the report is as without trackers, and the last figures are logged"""
    (folder / "full.py").write_text(FULL)
    done = run(oomph, ["--log-wait", "100", "--log-to", "tensorboard"], [str(folder / "full.py")], status=1)
    figures = readers.tensorboard(folder / "runs/oomph")
    assert figures["oomph/allocated_bytes"] >= 2 << 30 and "full.py:3" in done.stderr, done.stderr
    return done.stderr.splitlines()[0]


FULL = """import torch
kept = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(3)]
kept += [torch.empty(1 << 30, dtype=torch.uint8, device="cuda")]
"""


def call_back(trainer: str, oomph: Path, folder: Path) -> str:
    """The callback logs PyTorch's counters at each step of the log, under `oomph run` and without."""
    for under in ([], [str(oomph), "run", "--"]):
        words = [str(oomph), "phantom", "--gpu", "rtx-3060", "--", *under, sys.executable, str(HERE / f"work/train_{trainer}.py")]
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, env=os.environ | OFFLINE | {"PYTHONPATH": str(suite.ROOT / "python")})
        assert done.returncode == 0, done.stdout + done.stderr
        assert "compared 6 rows of 6 figures" in done.stdout, done.stdout
    return done.stdout.strip().splitlines()[-1]


def call_back_without(_oomph: Path, _folder: Path) -> str:
    """Without a GPU a callback warns once, and training goes on."""
    for trainer in ("transformers", "lightning"):
        words = [sys.executable, str(HERE / f"work/train_{trainer}.py")]
        env = os.environ | OFFLINE | {"PYTHONPATH": str(suite.ROOT / "python"), "CUDA_VISIBLE_DEVICES": ""}
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, env=env)
        assert done.returncode == 0 and "compared 0 rows" in done.stdout, done.stdout + done.stderr
        assert done.stderr.count("oomph: no GPU is in use, so no memory is logged") == 1, done.stderr
    return "one warning each"


def said(done: subprocess.CompletedProcess) -> str:
    """The sentence that names the place of the figures."""
    return next(line for line in done.stderr.splitlines() if line.startswith("oomph: the figures are in"))


if __name__ == "__main__":
    sys.exit(main())
