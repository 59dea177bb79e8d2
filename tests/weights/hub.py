"""Models of a hub whose weights are never fetched: large models from configurations and headers, no network, and bad hubs.

    python tests/weights/hub.py --oomph target/debug/oomph [WORD ...]

The real `huggingface_hub` talks to a server of the hub's protocol (`hub_server.py`) on this machine. Needs the environment of
`make frameworks`.
"""

import contextlib
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
LARGE = HERE.parent / "programs" / "large"
sys.path[1:1] = [str(HERE), str(HERE.parent), str(LARGE)]

import documents  # noqa: E402
import hub_server  # noqa: E402
import llama  # noqa: E402
import suite  # noqa: E402
from hub_models import MAKE_PIPELINE, write_experts, write_llama  # noqa: E402

# The environment of this process: `make weights` runs one with the frameworks.
PYTHON = sys.executable
PATIENCE = 600
GIB = 1 << 30
# The limit of host memory of a program that loads a large model.
MOST_HOST_BYTES = 2 * GIB
# The most connections that a program's call begins until its error, without a network: its two requests, and neither again.
MOST_ATTEMPTS = 2
SMALL = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 4096}
EXPERTS = {
    "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 94, "num_attention_heads": 64, "num_key_value_heads": 4,
    "head_dim": 128, "vocab_size": 151936, "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 1536,
}  # fmt: skip

# Loads a model, and prints the connections begun, also of a failure, the host's peak, and the sum of the GPUs' peaks.
LOAD = """
import json, sys
from huggingface_hub import snapshot_download
import torch
from transformers import AutoModelForCausalLM

begun = []
sys.addaudithook(lambda event, arguments: begun.append(event) if event == "socket.connect" else None)
try:
    model = AutoModelForCausalLM.from_pretrained(sys.argv[1], torch_dtype=torch.bfloat16, device_map=sys.argv[2])
finally:
    facts = {"attempts": len(begun)}
    with open("/proc/self/status") as file:
        facts["host_bytes"] = int(next(line for line in file if line.startswith("VmHWM")).split()[1]) * 1024
    facts["peak_bytes"] = sum(torch.cuda.max_memory_allocated(number) for number in range(torch.cuda.device_count()))
    print("facts", json.dumps(facts), flush=True)
"""
DIFFUSE = LOAD.replace("from transformers import AutoModelForCausalLM", "from diffusers import DiffusionPipeline").replace(
    "AutoModelForCausalLM.from_pretrained(sys.argv[1], torch_dtype=torch.bfloat16, device_map=sys.argv[2])",
    "DiffusionPipeline.from_pretrained(sys.argv[1], torch_dtype=torch.float16).to(sys.argv[2])",
)
DOWNLOAD = "import sys, torch\nfrom huggingface_hub import snapshot_download\nprint(snapshot_download(sys.argv[1], local_dir=sys.argv[2]))\ntorch.zeros(1).cuda()\n"


def main() -> int:
    """Exit status 1 if a weight is fetched, or an answer is wrong."""
    arguments = suite.parser(__doc__).parse_args()
    return suite.run("hub", list_cases(arguments.oomph.absolute()), arguments)


@dataclass
class Place:
    """The folder of a case: models to serve, a cache of the user's, programs."""

    oomph: Path
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def models(self) -> Path:
        """The models that a server serves."""
        return self.folder / "models"

    def check(self, program: str, *words: str, options: tuple[str, ...] = (), command: str = "check", hub: str | None = None) -> "Result":
        """Runs a program on a phantom GPU."""
        script = self.folder / "train.py"
        script.write_text(program)
        line = [self.oomph, command, "--json", "--verbose", "--python", PYTHON, *options, script, *words]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        environment |= {"HF_HOME": str(self.folder / "home"), "XDG_CACHE_HOME": str(self.folder / "cache"), "HF_ENDPOINT": hub or "http://127.0.0.1:9", **self.environment}
        done = subprocess.run(list(map(str, line)), capture_output=True, text=True, timeout=PATIENCE, cwd=self.folder, env=environment)
        return Result(done.returncode, done.stdout, done.stderr)

    def assert_no_hollow_file(self) -> None:
        """The user's cache has no file of holes, and oomph's cache has no bytes in such files."""
        files = [path for path in (self.folder / "home").rglob("*") if path.is_file()]
        # Smaller files are fetched whole (`LEAST_BYTES` in formats.py): those here are zeros, and the phantom writes zeros as holes.
        hollow = [path for path in files if path.stat().st_size > 1 << 20 and path.stat().st_blocks * 512 < path.stat().st_size // 2]
        assert not hollow, f"in the user's cache: {hollow}"
        on_disk = sum(path.lstat().st_blocks * 512 for path in (self.folder / "cache" / "oomph" / "hub").rglob("*"))
        assert on_disk < 64 << 20, f"oomph's cache takes {on_disk} bytes"


@dataclass(frozen=True)
class Result:
    """The output of a command."""

    status: int
    stdout: str
    stderr: str

    @property
    def report(self) -> dict:
        """Standard output."""
        report = documents.parse(self.stdout)
        assert report, self
        return report

    @property
    def facts(self) -> dict:
        """The program's own figures."""
        found = re.search(r"^facts (.*)$", self.stderr, re.MULTILINE)
        assert found, self
        return json.loads(found[1])

    @property
    def error(self) -> str:
        """The error of oomph's and its hint."""
        error = documents.parse_error(self.stdout)
        return " ".join(f"{error['message']} {error['hint']}".split())

    def __str__(self) -> str:
        return f"status {self.status}\n{self.stdout[-3000:]}\n{self.stderr[-6000:]}"


@contextlib.contextmanager
def place(oomph: Path) -> Iterator[Place]:
    """A folder that is removed."""
    with tempfile.TemporaryDirectory(prefix="oomph-hub-") as folder:
        yield Place(oomph, Path(folder))


def load_large(oomph: Path, write: Callable[[Path], int], program: str, options: tuple[str, ...], target: str, most_share: float, least_share: float = 1) -> str:
    """Loads a model by its name: the peak has its weights, and only headers were sent."""
    with place(oomph) as it:
        total = write(it.models / "org" / "model")
        with hub_server.serve(it.models) as hub:
            result = it.check(program, "org/model", target, options=options, hub=hub.endpoint)
        assert result.status == 0, result
        peak = result.facts["peak_bytes"]
        assert least_share * total <= peak <= most_share * total, f"the peak is {peak}, expected the {total} bytes of the weights\n{result}"
        sent = sum(hub.sent.values())
        shards = [name for name in hub.sent if name.endswith(".safetensors")]
        assert shards and sent < total // 1000, f"{sent} bytes were sent of {shards}"
        assert not hub.leaks, hub.leaks
        notes = " ".join(result.report["notes"])
        assert "the weights of org/model" in notes and "headers were fetched" in notes, notes
        assert result.facts["host_bytes"] <= MOST_HOST_BYTES, f"{result.facts}\n{result}"
        it.assert_no_hollow_file()
        return f"{total / 1e9:.0f} GB, fetched {sent / 1024:.0f} KiB by {result.facts['attempts']} connections, {result.facts['host_bytes'] / GIB:.1f} GiB of host memory"


def load_7b(oomph: Path) -> str:
    """7B by its name, on one GPU"""
    return load_large(oomph, partial(write_llama, size=llama.SIZES["7b"], shards=2), LOAD, ("--gpu", "rtx-4090"), "cuda", 1.01)


def load_70b(oomph: Path) -> str:
    """70B by its name, on one GPU"""
    return load_large(oomph, partial(write_llama, size=llama.SIZES["70b"], shards=30), LOAD, ("--gpu", "b200"), "cuda", 1.01)


def load_experts(oomph: Path) -> str:
    """A mixture of experts of 235B by its name, on 8 GPUs"""
    return load_large(oomph, partial(write_experts, size=EXPERTS, shards=40), LOAD, ("--gpu", "h100-sxm", "--gpus", "8"), "auto", 1.2)


def load_pipeline(oomph: Path) -> str:
    """A diffusion pipeline by its name"""

    def write(folder: Path) -> int:
        subprocess.run([PYTHON, "-c", MAKE_PIPELINE, folder, HERE, LARGE], check=True, capture_output=True, timeout=PATIENCE)
        return sum(path.stat().st_size for path in folder.rglob("*.safetensors")) // 2

    # Weights of fp32 in the files, fp16 on the GPU.
    return load_large(oomph, write, DIFFUSE, ("--gpu", "rtx-4090"), "cuda", 1.1, 0.95)


def check_without_network(oomph: Path) -> str:
    """A check without a network uses the headers of an earlier one"""
    with place(oomph) as it:
        write_llama(it.models / "org" / "model", SMALL, 2)
        with hub_server.serve(it.models) as hub:
            first = it.check(LOAD, "org/model", "cuda", options=("--gpu", "rtx-4090"), hub=hub.endpoint)
            assert first.status == 0, first
            sent = sum(hub.sent.values())
        second = it.check(LOAD, "org/model", "cuda", options=("--gpu", "rtx-4090", "--offline"))
        assert second.status == 0, second
        assert second.report["peak"] == first.report["peak"], (second.report["peak"], first.report["peak"])
        assert "headers were fetched" in " ".join(second.report["notes"]), second.report["notes"]
        it.assert_no_hollow_file()
        return f"{sent} bytes were sent once"


def prefer_existing(oomph: Path) -> str:
    """Files of the user's cache are preferred, and stay as they are"""
    with place(oomph) as it:
        write_llama(it.models / "org" / "model", SMALL, 2)
        with hub_server.serve(it.models) as hub:
            home = {"HF_HOME": str(it.folder / "home"), "HF_ENDPOINT": hub.endpoint}
            fetch = "from huggingface_hub import hf_hub_download as get; [get('org/model', name) for name in ('config.json', 'model-00001-of-00002.safetensors')]"
            subprocess.run([PYTHON, "-c", fetch], check=True, capture_output=True, env={**os.environ, **home}, timeout=PATIENCE)
            hub.forget()
            result = it.check(LOAD, "org/model", "cuda", options=("--gpu", "rtx-4090"), hub=hub.endpoint)
            assert result.status == 0, result
            sent = [name.rsplit("/", 1)[1] for name in hub.sent]
        assert "model-00001-of-00002.safetensors" not in sent and "model-00002-of-00002.safetensors" in sent, sent
        names = sorted(path.name for path in (it.folder / "home").rglob("snapshots/*/*.safetensors") if path.exists())
        assert names == ["model-00001-of-00002.safetensors"], names
    return ""


def download_to_folder(oomph: Path) -> str:
    """`local_dir` has hollow files during a run only, with `--keep-files` too"""
    with place(oomph) as it:
        write_llama(it.models / "org" / "model", SMALL, 1)
        with hub_server.serve(it.models) as hub:
            result = it.check(DOWNLOAD, "org/model", str(it.folder / "weights"), hub=hub.endpoint)
            assert result.status == 0 and not (it.folder / "weights").exists(), result
            kept = it.check(DOWNLOAD, "org/model", str(it.folder / "weights"), options=("--keep-files",), hub=hub.endpoint)
        names = sorted(path.name for path in (it.folder / "weights").iterdir())
        assert kept.status == 0 and "config.json" in names and not list((it.folder / "weights").glob("*.safetensors")), (names, kept)
    return ""


def answer_without_network(oomph: Path) -> str:
    """Without a network, the answer comes at once"""
    # The closed port of `Place.check`, a network that oomph closes, and the library's own variable.
    ways = {"no network": ((), {}), "--offline": (("--offline",), {}), "HF_HUB_OFFLINE": ((), {"HF_HUB_OFFLINE": "1"})}
    attempts = {}
    for reason, (options, environment) in ways.items():
        with place(oomph) as it:
            it.environment = environment
            result = it.check(LOAD, "org/model", "cuda", options=options)
            assert result.status == 2, result
            words = ("config.json of `org/model` is not on this machine", reason, "hf download org/model config.json")
            assert all(word in result.error for word in words), result.error
            assert result.facts["attempts"] <= MOST_ATTEMPTS, result.facts
            attempts[reason] = result.facts["attempts"]
    return ", ".join(f"{reason}: {count} connections" for reason, count in attempts.items())


# The fault, its file, and words of the sentence and of the hint.
FAULTS = (
    ("html", "config.json", ("sent `<!DOCTYPE html>", "config.json of `org/model`, expected JSON", "HF_ENDPOINT")),
    ("no_headers", "config.json", ("config.json of `org/model` without the headers of a hub", "X-Repo-Commit", "HF_ENDPOINT")),
    ("loop", "config.json", ("redirects config.json of `org/model` in a loop", "HF_ENDPOINT")),
    ("gated_401", "*", ("`org/model` is gated", "answered 401", "accept the terms on the page of org/model", "HF_TOKEN")),
    ("gated_403", "*", ("`org/model` is gated", "answered 403", "accept the terms on the page of org/model", "HF_TOKEN")),
    ("html", "model.safetensors", ("`org/model`: ", "begins with `<!DOCTYP`", "expected the length of a safetensors header", "HF_ENDPOINT")),
    ("cut", "model.safetensors", ("`org/model`: the connection ended after", "bytes of model.safetensors, expected", "HF_ENDPOINT")),
    ("lfs_loop", "model.safetensors", ("redirects", "in a loop", "HF_ENDPOINT")),
)


def refuse_bad_hubs(oomph: Path) -> str:
    """Each bad hub gets a sentence with both sides"""
    for fault, name, words in FAULTS:
        with place(oomph) as it:
            write_llama(it.models / "org" / "model", SMALL, 1)
            with hub_server.serve(it.models) as hub:
                hub.faults[name] = fault
                result = it.check(LOAD, "org/model", "cuda", hub=hub.endpoint)
            assert result.status == 2 and all(word in result.error for word in words), f"{fault} of {name}:\n{result.error}\n{result}"
            assert sum(hub.sent.values()) < hub_server.LARGE_BYTES, hub.sent
    return f"{len(FAULTS)} hubs"


def refuse_unknown_models(oomph: Path) -> str:
    """A name that the hub does not have"""
    with place(oomph) as it:
        it.models.mkdir()
        with hub_server.serve(it.models) as hub:
            result = it.check(LOAD, "org/nothing", "cuda", hub=hub.endpoint)
        words = ("has no `org/nothing` for this account (status 401)", "check the name", "HF_TOKEN")
        assert result.status == 2 and all(word in result.error for word in words), result
    return ""


def break_length(path: Path) -> None:
    """A header longer than the file."""
    with path.open("r+b") as file:
        file.write(struct.pack("<Q", path.stat().st_size))


def break_offsets(path: Path) -> None:
    """Tensors past the end of the file."""
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 4096)


def break_json(path: Path) -> None:
    """A header that is no JSON."""
    with path.open("r+b") as file:
        file.seek(8)
        file.write(b"nonsense")


def refuse_bad_headers(oomph: Path) -> str:
    """Each bad header gets a sentence with both sides"""
    rows = (
        (break_length, ("model.safetensors has", "bytes, expected at least the", "of its safetensors header")),
        (break_offsets, ("the header of model.safetensors places tensors up to byte", "and the file has")),
        (break_json, ("the header of model.safetensors begins with `nonsense", "expected the tensors of a safetensors file")),
    )
    for damage, words in rows:
        with place(oomph) as it:
            write_llama(it.models / "org" / "model", SMALL, 1)
            damage(it.models / "org" / "model" / "model.safetensors")
            with hub_server.serve(it.models) as hub:
                result = it.check(LOAD, "org/model", "cuda", hub=hub.endpoint)
            assert result.status == 2 and all(word in result.error for word in words), f"{damage.__doc__}\n{result.error}\n{result}"
    return f"{len(rows)} headers"


def stop_reading(oomph: Path) -> str:
    """Of a server that ignores ranges, the beginning is read alone"""
    with place(oomph) as it:
        total = write_llama(it.models / "org" / "model", llama.SIZES["7b"], 2)
        with hub_server.serve(it.models, all_files="no_ranges") as hub:
            result = it.check(LOAD, "org/model", "cuda", options=("--gpu", "rtx-4090"), hub=hub.endpoint)
            assert result.status == 0, result
        # The sockets' buffers are part of the bytes sent.
        sent = sum(hub.sent.values())
        assert sent < 64 << 20, f"{sent} bytes were sent"
    return f"{sent >> 10} KiB of {total >> 30} GiB"


def use_damaged_caches(oomph: Path) -> str:
    """A cache that is half there is completed, or named without a network"""
    with place(oomph) as it:
        write_llama(it.models / "org" / "model", SMALL, 1)
        with hub_server.serve(it.models) as hub:
            folder, commit = it.folder / "home" / "hub" / "models--org--model", hub.commit("org/model")
            for name in ("refs", "blobs", f"snapshots/{commit}"):
                (folder / name).mkdir(parents=True)
            (folder / "refs" / "main").write_text(commit)
            (folder / "blobs" / "0123.incomplete").write_bytes(b"{")
            for name in ("config.json", "model.safetensors"):
                (folder / "snapshots" / commit / name).symlink_to("../../blobs/0123")
            closed = it.check(LOAD, "org/model", "cuda", options=("--offline",))
            assert closed.status == 2 and "config.json of `org/model` is not on this machine" in closed.error, closed
            result = it.check(LOAD, "org/model", "cuda", hub=hub.endpoint)
            assert result.status == 0, result
        it.assert_no_hollow_file()
    return ""


CASES: list[Callable[[Path], str]] = [
    load_7b, load_70b, load_experts, load_pipeline, check_without_network, prefer_existing, download_to_folder, answer_without_network,
    refuse_bad_hubs, refuse_unknown_models, refuse_bad_headers, stop_reading, use_damaged_caches,
]  # fmt: skip

def list_cases(oomph: Path) -> list[suite.Case]:
    """The cases for a binary."""
    return [suite.Case(body.__name__, partial(body, oomph), memory=3) for body in CASES]


if __name__ == "__main__":
    sys.exit(main())
