"""`explain --slurm-job`: the logs, the recording and the facts of a job in one report.

`scontrol` and `sacct` are small scripts that print recordings of a real Slurm (22.05.8 of Debian 12, with slurmdbd; `slurm/`, made by hand with
`tests/engines/slurm.sh` and accounting added): the folders of that machine are replaced, nothing else. `OUT_OF_MEMORY` is the one state that is not a
recording, since that machine had no memory controller: `host.sacct` with the words of Slurm's source (`src/common/slurm_protocol_defs.c`).
"""

import json
import re
import shutil
from functools import partial
from pathlib import Path

import documents
from harness import Box, Case, Result, contains

RECORDINGS = Path(__file__).resolve().parent / "slurm"
# Prints the recording of a job; a job without one is unknown, in Slurm's words.
SCONTROL = """#!/bin/sh
cat "{folder}/$3.scontrol" 2>/dev/null && exit
cat "{folder}/unknown.scontrol.err" >&2
exit 1
"""
SACCT = """#!/bin/sh
cat "{folder}/$2.sacct" 2>/dev/null
exit 0
"""


def install(box: Box, jobs: dict[str, str]) -> dict[str, str]:
    """Puts the commands on the search path, with the recordings of these jobs, by id; returns the environment."""
    folder = box.work / "slurm"
    folder.mkdir()
    for kind in ("scontrol", "sacct"):
        for id_, name in jobs.items():
            recording = RECORDINGS / f"{name}.{kind}"
            if recording.exists():
                (folder / f"{id_}.{kind}").write_text(recording.read_text().replace("@FOLDER@", str(box.work)))
        (folder / kind).write_text({"scontrol": SCONTROL, "sacct": SACCT}[kind].format(folder=folder))
        (folder / kind).chmod(0o755)
    shutil.copy(RECORDINGS / "unknown.scontrol.err", folder)
    return {"PATH": f"{folder}:{box.environment['PATH']}"}


def explain(box: Box, env: dict[str, str], id_: str, *words: object) -> Result:
    """Explains a job."""
    return box.run(box.oomph, "explain", "--slurm-job", id_, *words, env=env)


def log(box: Box, name: str, recording: str) -> None:
    """Puts the log of a job into its folder."""
    box.write(name, (RECORDINGS / recording).read_text().replace("@FOLDER@", str(box.work)))


def joins_the_log_and_the_state(box: Box) -> None:
    """The error of the log, and the job's memory and nodes."""
    env = install(box, {"2": "device"})
    log(box, "slurm-2.out", "device.log")
    text = explain(box, env, "2")
    said = " ".join(text.stdout.split())
    assert text.status == 1 and said.startswith("3.00 GiB allocated and 1.00 GiB requested are more than"), text
    job = "Slurm job 2 (finetune): FAILED, exit status 1, 593.64 MiB resident in the largest process, 2.93 GiB of host memory requested, on node1"
    assert f"job {job}" in said, text
    report = explain(box, env, "2", "--json").report
    assert report["job"] == job and report["ooms"][0]["requested_bytes"] == 1 << 30, report


def tells_a_kill_by_its_log(box: Box) -> None:
    """Slurm's own line about the memory limit of the host."""
    env = install(box, {"1": "host"})
    log(box, "slurm-1.out", "host.log")
    found = explain(box, env, "1")
    contains(found, found.stdout, "the kernel killed a process because the host's memory was full")
    contains(found, " ".join(found.stdout.split()), "322.40 MiB resident in the largest process, 300.00 MiB of host memory requested")
    assert found.status == 1, found


def tells_a_kill_by_the_accounts(box: Box) -> None:
    """A silent log, a controller that has forgotten the job, and a state."""
    env = install(box, {"1": "host"})
    (box.work / "slurm/1.scontrol").unlink()
    accounts = box.work / "slurm/1.sacct"
    accounts.write_text(accounts.read_text().replace("CANCELLED by 0|0:9", "OUT_OF_MEMORY|0:125"))
    for text in ("start\n", ""):
        box.write("slurm-1.out", text)
        found = explain(box, env, "1")
        assert found.status == 1 and found.stdout.startswith("the kernel killed a process because the host's memory was full"), found


def takes_the_recording(box: Box) -> None:
    """The recording of `oomph run` in the job is found by the job's number, and explains more than the log."""
    env = install(box, {"2": "device"})
    log(box, "slurm-2.out", "device.log")
    box.write("full.py", 'import torch\nkept = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(9)]\n')
    for id_, folder in (("1", "earlier"), ("2", "recorded")):
        words = ["--gpu", "rtx-3060", "--vram", "4GiB", "--", box.oomph, "run", "--save", box.work / folder, "--", box.python, "full.py"]
        ran = box.run(box.oomph, "phantom", *words, env={"SLURM_JOB_ID": id_})
        assert ran.status == 1, ran
    found = explain(box, env, "2")
    said = " ".join(found.stdout.split())
    assert found.status == 1 and "3 x other, full.py:2" in said, found
    assert re.search(r"Slurm job 2 \(finetune\): FAILED, .*; recorded in \S*/recorded$", said), found
    report = json.loads(explain(box, env, "2", "--json").stdout)
    documents.hold("run", report)
    assert report["out_of_memory"] and len(report["notes"]) == 1, report


def knows_each_form(box: Box, id_: str, recording: str, name: str) -> None:
    """A task of an array, and a part of a heterogeneous job."""
    env = install(box, {id_: recording})
    log(box, name, "device.log")
    if "+" in id_:
        # The batch script runs in the first part.
        leader = (RECORDINGS / f"{recording}.scontrol").read_text().replace("@FOLDER@", str(box.work))
        (box.work / "slurm/6+0.scontrol").write_text(leader.replace("JobId=7 ", "JobId=6 ").replace("slurm-7.out", "slurm-6.out"))
    found = explain(box, env, id_)
    assert found.status == 1 and f"Slurm job {id_} (train)" in " ".join(found.stdout.split()), found


def says_what_is_missing(box: Box) -> None:
    """One sentence and the next step, exit status 2."""
    env = install(box, {"2": "device", "3_4": "task"})
    (box.work / "slurm/3_4.sacct").unlink()
    log(box, "slurm-3_4.out", "unknown.scontrol.err")
    cases = [
        ("999", env, "Slurm knows no job 999: scontrol: slurm_load_jobs error: Invalid job id specified"),
        ("2", env, f"the log of job 2 cannot be read: `{box.work}/slurm-2.out`: No such file or directory"),
        ("2", {"PATH": str(box.work)}, "`scontrol` and `sacct` are not on the search path: this machine has no commands of Slurm"),
        ("all", env, "`all` is not a job; expected 123, 123_4 for a task of an array, or 123+0 for a part of a heterogeneous job"),
    ]
    for id_, environment, sentence in cases:
        found = explain(box, environment, id_)
        contains(found, found.stderr, sentence)
        assert found.status == 2 and not found.stdout, found
    nothing = explain(box, env, "3_4")
    assert nothing.status == 2 and "Slurm job 3_4 (train): FAILED, exit status 3" in " ".join(nothing.stdout.split()), nothing


def epilog_is_safe(box: Box) -> None:
    """The epilog appends the report to the job's log, and ends well whatever happens."""
    env = install(box, {"2": "device"})
    log(box, "slurm-2.out", "device.log")
    (box.work / "slurm/oomph").symlink_to(box.oomph)
    script = RECORDINGS.parents[2] / "examples/slurm-epilog.sh"
    for id_, grows in (("2", True), ("999", False), (None, False)):
        before = (box.work / "slurm-2.out").read_text()
        ended = box.run("bash", script, env=env | {"SLURM_JOB_ID": id_, "SLURM_JOB_USER": None})
        after = (box.work / "slurm-2.out").read_text()
        assert ended.status == 0 and not ended.stdout, ended
        assert after.startswith(before) and (len(after) > len(before)) == grows, after
    assert "3.00 GiB allocated and 1.00 GiB requested" in after, after


CASES = [
    Case("a Slurm job is explained by its log and its state", joins_the_log_and_the_state),
    Case("a kill for want of host memory is told by the log of a Slurm job", tells_a_kill_by_its_log),
    Case("a kill for want of host memory is told by the accounts of a Slurm job", tells_a_kill_by_the_accounts),
    Case("a Slurm job is explained by its recording", takes_the_recording),
    Case("a task of a Slurm array is a job", partial(knows_each_form, id_="3_4", recording="task", name="slurm-3_4.out")),
    Case("a part of a heterogeneous Slurm job is a job", partial(knows_each_form, id_="6+1", recording="part", name="slurm-6.out")),
    Case("a Slurm job that cannot be explained is a sentence", says_what_is_missing),
    Case("the epilog of Slurm appends the report, and never fails", epilog_is_safe),
]
