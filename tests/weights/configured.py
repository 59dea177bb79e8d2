"""Models loaded from their configuration alone: the peak while loading and after it equals that of the same program with real files.

    python tests/weights/configured.py --oomph target/debug/oomph [WORD ...]

A case saves a small model on the CPU, runs a program that loads it over a phantom GPU, removes the weights, and runs the program again.
"""

import json
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import documents  # noqa: E402
import suite  # noqa: E402
from ways import LLAMA, SAVE, WAYS, Way  # noqa: E402

# The environment of this process: `make weights` runs one with the frameworks.
PYTHON = sys.executable
PATIENCE = 600
GIB = 1 << 30
# Ways with some files that stay: the base of an adapter, and the first shards.
PARTLY = ("half a download", "peft adapter", "an adapter, by transformers")
MOST_HOST_BYTES = 9 * GIB // 4
LAYERS = {"hidden_act": "silu", "rms_norm_eps": 1e-5, "torch_dtype": "bfloat16", "architectures": ["LlamaForCausalLM"], "model_type": "llama"}
# The sizes of Llama 2, and of a mixture of experts of 235 billion parameters; the device bytes of the weights.
LARGE = {
    "7B": (LAYERS | {"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 32, "vocab_size": 32000}, 2 * 6_738_415_616),
    "70B": (LAYERS | {"hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64,
        "num_key_value_heads": 8, "vocab_size": 32000}, 2 * 68_976_648_192),
}  # fmt: skip
# A configuration, more files by name, and the words of the error.
CONFIG = '{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "num_hidden_layers": 1, "vocab_size": 100}'
WRONG = {
    "an unknown architecture": ({"config.json": '{"model_type": "unheard_of"}'}, ("unheard_of", "`model_type`", "--python")),
    "a damaged configuration": ({"config.json": '{"model_type"'}, ("model/config.json", "not a valid JSON file", "fetch the file again")),
    "a folder without a configuration": ({"notes.txt": ""}, ("Should have a `model_type` key", "config.json")),
    "code that is not there": (
        {"config.json": '{"model_type": "odd", "auto_map": {"AutoConfig": "odd_code.Odd"}}'},
        ("odd_code.py", "`auto_map`"),
    ),
    "weights of another name": ({"config.json": CONFIG, "model.fp16.safetensors": ""}, ("no file named", "model.safetensors", "`variant`")),
    "an index of other tensors": (
        {"config.json": CONFIG, "model.safetensors.index.json": '{"metadata": {}, "weight_map": {"other": "model-1.safetensors"}}'},
        ("model-1.safetensors", "No such file"),
    ),
}
LOAD = """import torch
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("model", device_map="cuda", trust_remote_code=True)
"""

FIGURES = """
import json, pathlib, resource
figures = [torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), torch.cuda.memory_allocated(), torch.cuda.memory_reserved()]
pathlib.Path("figures.json").write_text(json.dumps(figures + [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))
"""


def _environment(work: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin", "HOME": str(work), "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(work / "hub"),
        "TRANSFORMERS_VERBOSITY": "error",
        # The threads that load tensors move the peak of small temporary ones by some blocks.
        "HF_DEACTIVATE_ASYNC_LOAD": "1",
    }  # fmt: skip


def run_python(work: Path, code: str) -> None:
    """Runs code without a GPU."""
    environment = _environment(work) | {"PYTHONPATH": str(suite.ROOT / "python")}
    done = subprocess.run([PYTHON, "-c", code], cwd=work, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr


def check(oomph: Path, work: Path, code: str, *, status: int = 0, gpu: str = "b200") -> tuple[dict, list[int], str]:
    """The report of a program over a phantom GPU, the program's own figures, and standard error."""
    (work / "load.py").write_text(code + (FIGURES if status == 0 else ""))
    # A file that is there already would stay.
    (work / "figures.json").unlink(missing_ok=True)
    command = [oomph.absolute(), "check", "--json", "--keep-files", "--gpu", gpu, "--python", PYTHON, "load.py"]
    done = subprocess.run(command, cwd=work, env=_environment(work), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == status, f"exit status {done.returncode}, expected {status}\n{done.stdout}\n{done.stderr}"
    figures = json.loads((work / "figures.json").read_text()) if status == 0 else []
    return documents.parse(done.stdout), figures, done.stderr


def compare(oomph: Path, way: Way) -> str:
    """Runs a program with real files and without them."""
    with _folder() as work:
        run_python(work, way.save)
        real, figures, _ = check(oomph, work, way.load)
        if way.hollow:
            run_python(work, way.hollow)
        for folder in way.bare.split() if not way.hollow else ():
            _lose(work / folder, way.lost)
        bare, without, output = check(oomph, work, way.load)
        assert "oomph agent" not in output, output
        assert without[:4] == figures[:4], f"{without[:4]} without files, {figures[:4]} with them"
        for key in ("allocated_bytes", "reserved_bytes"):
            assert bare["peak"][key] == real["peak"][key], (key, bare["peak"], real["peak"])
        notes = " ".join(bare["notes"])
        words = "not on this machine"
        assert way.hollow or (words in notes and words not in " ".join(real["notes"])), notes
        assert "weights in checkpoints were not read" not in notes or way.name in PARTLY, notes
        return f"{figures[0] >> 20} MiB"


def _lose(folder: Path, patterns: tuple[str, ...]) -> None:
    lost = [path for pattern in patterns for path in folder.glob(pattern)]
    assert lost, f"no weights in {folder}: {list(folder.iterdir())}"
    for path in lost:
        path.unlink()


def load_large(oomph: Path, size: str) -> str:
    """Loads the shape of a large model from config.json alone."""
    config, device_bytes = LARGE[size]
    with _folder() as work:
        (work / "model").mkdir()
        (work / "model" / "config.json").write_text(json.dumps(config))
        # The dtype of the configuration, which transformers 4 takes only when it is asked to.
        report, figures, _ = check(oomph, work, LOAD.replace('"cuda",', '"cuda", torch_dtype="auto",'))
        assert 0 <= report["peak"]["allocated_bytes"] - device_bytes <= 1024, (report["peak"], device_bytes)
        assert figures[4] <= MOST_HOST_BYTES, f"{figures[4]} bytes of the host"
        return f"{device_bytes / GIB:.1f} GiB, {figures[4] / GIB:.2f} GiB of the host"


def refuse(oomph: Path, name: str) -> None:
    """A folder that cannot be loaded: exit status 2, and a sentence that names both sides."""
    files, words = WRONG[name]
    with _folder() as work:
        (work / "model").mkdir()
        for file, text in files.items():
            (work / "model" / file).write_text(text)
        _, _, output = check(oomph, work, LOAD, status=2)
        _expect_words(output, words)


def contradict(oomph: Path) -> None:
    """Weights whose shapes contradict config.json"""
    with _folder() as work:
        run_python(work, f"{LLAMA}{SAVE}")
        config = json.loads((work / "model" / "config.json").read_text())
        (work / "model" / "config.json").write_text(json.dumps(config | {"intermediate_size": 2048}))
        _, _, output = check(oomph, work, LOAD, status=2)
        _expect_words(output, ("512, 1536", "512, 2048", "config.json and the weights"))


def _expect_words(output: str, words: tuple[str, ...]) -> None:
    missing = [word for word in words if word not in output]
    assert not missing, f"{missing} not in\n{output}"


def _folder():
    return _Work()


class _Work(tempfile.TemporaryDirectory):
    def __enter__(self) -> Path:
        return Path(super().__enter__())


def list_cases(oomph: Path) -> list[suite.Case]:
    """The cases for a binary."""
    cases = [suite.Case(way.name, partial(compare, oomph, way)) for way in WAYS]
    cases += [suite.Case(f"{size} of config.json alone", partial(load_large, oomph, size)) for size in LARGE]
    cases += [suite.Case(name, partial(refuse, oomph, name)) for name in WRONG]
    return [*cases, suite.Case(contradict.__doc__ or "", partial(contradict, oomph))]


def main() -> int:
    """Exit status 1 if a peak differs."""
    arguments = suite.parser(__doc__).parse_args()
    return suite.run("weights", list_cases(arguments.oomph), arguments)


if __name__ == "__main__":
    sys.exit(main())
