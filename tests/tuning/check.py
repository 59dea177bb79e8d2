"""The needs of configurations, as Optuna, Ray Tune and Hydra programs use them.

    python tests/tuning/check.py --oomph target/debug/oomph [WORD ...]

The package is copied beside the binary, as `pip install --target` lays them out. The Python needs PyTorch, optuna, ray[tune] and hydra-core; a
case without its library is skipped.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(1, str(HERE.parent))

import studies
import suite
import trials
from sizes import TOO_LARGE_MIB, check_need, find_context_bytes, make_needs

PATIENCE_SECONDS = 600


def main() -> int:
    """Exit status 1 if a need, a state or a share is wrong."""
    arguments = suite.parser(__doc__).parse_args()
    bodies = [find, sign, import_lazily, studies.prune, studies.constrain, studies.read_points, trials.skip, trials.share, run_hydra, run_example]
    with tempfile.TemporaryDirectory(prefix="oomph-tuning-") as folder:
        site = Path(folder) / "site"
        shutil.copytree(ROOT / "python" / "oomph", site / "oomph", ignore=shutil.ignore_patterns("__pycache__"))
        (site / "bin").mkdir()
        (site / "bin" / "oomph").symlink_to(arguments.oomph.resolve())
        cases = [suite.Case(body.__doc__.splitlines()[0], partial(run_in_folder, body, site)) for body in bodies]
        cases.append(suite.Case(trials.tune.__doc__, partial(run_in_folder, trials.tune, site), memory=4, is_alone=True))
        return suite.run("tuning", cases, arguments)


def run_in_folder(body, site: Path) -> str | None:
    """Runs a case in a folder of its own, with the package on the path, also of its processes."""
    sys.path.insert(0, str(site))
    os.environ["PYTHONPATH"] = os.pathsep.join((str(site), str(HERE)))
    with tempfile.TemporaryDirectory(prefix="oomph tuning ") as folder:
        os.chdir(folder)
        return body()


def run_python(*words: object) -> subprocess.CompletedProcess:
    """Runs a Python program with the package on its path."""
    command = [sys.executable, *(str(word) for word in words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)


def find() -> str:
    """a need is the block and the context, by one dry run for each command"""
    needs, context = make_needs(), find_context_bytes()
    for mib in (512, TOO_LARGE_MIB, 512):
        check_need(needs.find({"mib": mib}), mib, context)
    assert len(needs) == 2, len(needs)
    assert needs.find({"mib": 512}) is needs.find({"mib": "512"})
    words = make_needs(["train.py", "model={width:{model.width}}", "--lr={lr}", "{model.kind}"]).make_words({"model": {"width": 8, "kind": "a b"}, "lr": 0.1})
    assert words == ["train.py", "model={width:8}", "--lr=0.1", "a b"], words
    assert make_needs(lambda params: ["python", "-m", params["module"], 3]).make_words({"module": "it"}) == ["python", "-m", "it", "3"]
    try:
        make_needs().find({"size": 3})
        raise AssertionError("a missing parameter was passed over")
    except KeyError as error:
        assert "the command has `{mib}`" in str(error), error
    return f"{len(needs)} dry runs"


def sign() -> str:
    """the excess is positive exactly if the program runs out, whatever its spare memory"""
    from oomph.tuning import Need

    # Spare bytes, verdict, and the sign of the excess.
    rows = [(5, "fits", -1), (0, "fits", 0), (-5, "fits", 0), (5, "fits_so_far", -1), (-5, "oom", 1), (5, "oom", 1), (0, "oom", 1)]
    for spare_bytes, verdict, expected in rows:
        excess = Need(10, spare_bytes, verdict, "").excess_bytes
        assert (excess > 0) - (excess < 0) == expected, (spare_bytes, verdict, excess)
    return f"{len(rows)} verdicts"


def import_lazily() -> str:
    """the package imports neither library, and a missing one is named with its command"""
    done = run_python("-c", "import sys, oomph.tuning; print(sorted({'optuna', 'ray', 'torch'} & set(sys.modules)))")
    assert done.stdout == "[]\n", done.stdout + done.stderr
    for module, library, hint in (("optuna", "optuna", "pip install optuna"), ("ray_tune", "ray", "pip install 'ray[tune]'")):
        done = run_python("-c", f"import sys\nsys.modules['{library}'] = None\nimport oomph.tuning.{module}")
        last = done.stderr.strip().splitlines()[-1]
        assert done.returncode == 1 and hint in last, done.stderr
    return "2 libraries"


def run_hydra() -> str:
    """a Hydra program takes its overrides in a dry run, and leaves no folder"""
    import importlib.util

    if importlib.util.find_spec("hydra") is None:
        raise suite.Skip("needs hydra-core")
    from oomph.tuning import Needs

    shutil.copytree(ROOT / "examples/hydra", "hydra")
    before = sorted(Path("hydra").rglob("*"))
    needs = Needs([sys.executable, "train.py", "batch={batch}", "width={model.width}"], gpu="l4", cwd="hydra")
    small, large = (needs.find({"batch": 64, "model": {"width": width}}) for width in (1024, 4096))
    # The parameters of the largest layer, their gradients, and two moments of AdamW, in four bytes each.
    assert large.need_bytes - small.need_bytes >= 4 * 4 * (4096**2 - 1024**2), (small, large)
    assert sorted(Path("hydra").rglob("*")) == before
    return f"{small.need_bytes >> 20} and {large.need_bytes >> 20} MiB"


def run_example() -> str:
    """the example of a study runs without a GPU"""
    studies.import_optuna()
    done = run_python(ROOT / "examples/optuna_study.py", "--gpu", "rtx-3060", "--trials", 3)
    assert done.returncode == 0 and " trials ran, " in done.stdout, done.stdout + done.stderr
    return done.stdout.split(";")[0]


if __name__ == "__main__":
    sys.exit(main())
