"""Weights of an address: torch.hub, torchvision, timm and open_clip, with a server on this machine, without a network, with bad servers.

    python tests/weights/addresses.py --oomph target/debug/oomph [WORD ...]

A way is a program that loads a checkpoint. It runs with a real file of zeros in the library's cache, then without the file: with a
server, and off line. The figures of all runs are equal, and the server sends the header alone.
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import documents
import suite
from address_server import serve

PATIENCE = 600
# The environment of this process: `make weights` runs one with the frameworks.
PYTHON = sys.executable
MIB = 1 << 20
# Of a file that is not cached: 10 % is far below the smallest file here, and far above its header.
FETCHED_SHARE = 0.1
# The peaks of host memory of two equal runs differ by the allocator's mood.
HOST_BYTES = 32 * MIB
NO_SERVER = "http://127.0.0.1:9"

BEGIN = """
import os, resource, sys
import torch
address = sys.argv[1]
"""
END = """
model = model.cuda()
print("loaded", torch.cuda.memory_allocated(), file=sys.stderr)
model.train()
for parameter in model.parameters():
    parameter.grad = torch.zeros_like(parameter)
print("peak", torch.cuda.max_memory_allocated(), file=sys.stderr)
print("host", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10, file=sys.stderr)
"""
VISION = """
import torchvision
def at(weights):
    weights.value.url = address
    return weights
"""
CLIP = """
import open_clip, open_clip.factory, open_clip.pretrained
tower = {"embed_dim": 64, "vision_cfg": {"image_size": 224, "layers": 4, "width": 256, "patch_size": 32}, "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 64, "heads": 2, "layers": 2}}
open_clip.factory._MODEL_CONFIGS["tiny"] = tower
open_clip.pretrained._PRETRAINED["tiny"] = {"zeros": {"url": address}}
"""


@dataclass(frozen=True)
class Way:
    """A program that loads a checkpoint by its address."""

    name: str
    # Binds `model`.
    load: str
    # An expression of the model or state dict in the file.
    state: str
    imports: str = ""
    file: str = "zeros-0123abcd.pth"
    # The folder of the library's cache, in the home.
    cache: str = "torch/hub/checkpoints"
    options: str = ""
    # False if nothing describes the checkpoint without a network.
    is_known_offline: bool = True

    @property
    def program(self) -> str:
        """The text of the program."""
        return f"{BEGIN}{self.imports}{self.load}\n{END}"


LOAD_STATE = "state = torch.hub.load_state_dict_from_url(address, progress=False, check_hash=True{})\nmodel = torchvision.models.resnet18()\nmodel.load_state_dict(state)\ndel state"
# By the name of the way: the model, the class of weights, the arguments of the model in the file.
ENUMS = {
    "resnet18": ("resnet18", "ResNet18_Weights", ""),
    "densenet121": ("densenet121", "DenseNet121_Weights", ""),
    "inception_v3": ("inception_v3", "Inception_V3_Weights", ""),
    "swin_t": ("swin_t", "Swin_T_Weights", ""),
    "fcn_resnet50": ("segmentation.fcn_resnet50", "segmentation.FCN_ResNet50_Weights", "weights_backbone=None, aux_loss=True"),
    "r3d_18": ("video.r3d_18", "video.R3D_18_Weights", ""),
    "quantized resnet18": ("quantization.resnet18", "ResNet18_Weights", ""),
}
WAYS = [
    Way("zip file", LOAD_STATE.format(""), "torchvision.models.resnet18()", VISION),
    Way("zip file to the device", LOAD_STATE.format(", map_location='cuda', weights_only=True"), "torchvision.models.resnet18()", VISION),
    Way("legacy file", LOAD_STATE.format(""), "torchvision.models.resnet18()", VISION, options="_use_new_zipfile_serialization=False"),
    Way("keys of a file", LOAD_STATE.format("").replace("model.load", "state = state['state_dict']\nmodel.load"), "{'state_dict': torchvision.models.resnet18().state_dict()}", VISION, is_known_offline=False),
    Way("download and torch.load", "if not os.path.exists('zeros.pth'): torch.hub.download_url_to_file(address, 'zeros.pth', progress=False)\nmodel = torchvision.models.resnet18()\nmodel.load_state_dict(torch.load('zeros.pth'))", "torchvision.models.resnet18()", VISION, "zeros.pth", "../work", is_known_offline=False),
    Way("download and safetensors", "import safetensors.torch\nif not os.path.exists('zeros.safetensors'): torch.hub.download_url_to_file(address, 'zeros.safetensors', progress=False)\nmodel = torchvision.models.resnet18()\nmodel.load_state_dict(safetensors.torch.load_file('zeros.safetensors'))", "torchvision.models.resnet18()", VISION, "zeros.safetensors", "../work", is_known_offline=False),
    *(
        Way(f"torchvision {name}", f"model = torchvision.models.{model}(weights=at(torchvision.models.{enum}.DEFAULT))", f"torchvision.models.{model}({arguments})", VISION)
        for name, (model, enum, arguments) in ENUMS.items()
    ),
    Way("torchvision pretrained=True", "at(torchvision.models.MobileNet_V2_Weights.IMAGENET1K_V1)\nmodel = torchvision.models.mobilenet_v2(pretrained=True)", "torchvision.models.mobilenet_v2()", VISION),
    Way("torchvision detection", "weights = at(torchvision.models.ResNet50_Weights.IMAGENET1K_V1)\nmodel = torchvision.models.detection.fasterrcnn_resnet50_fpn(weights=None, weights_backbone=weights)", "torchvision.models.resnet50()", VISION),
    Way("timm", "import timm\nmodel = timm.create_model('resnet18', pretrained=True, pretrained_cfg_overlay={'url': address, 'hf_hub_id': None})", "timm.create_model('resnet18')"),
    Way("timm other classes and channels", "import timm\nmodel = timm.create_model('resnet18', pretrained=True, num_classes=7, in_chans=1, pretrained_cfg_overlay={'url': address, 'hf_hub_id': None})", "timm.create_model('resnet18')"),
    Way("timm vit", "import timm\nmodel = timm.create_model('vit_tiny_patch16_224', pretrained=True, pretrained_cfg_overlay={'url': address, 'hf_hub_id': None})", "timm.create_model('vit_tiny_patch16_224')"),
    Way("open_clip", "model, _, _ = open_clip.create_model_and_transforms('tiny', pretrained='zeros')", "open_clip.create_model('tiny')", CLIP, cache=".cache/clip"),
]
MAKE = """
state = {state}
state = state.state_dict() if isinstance(state, torch.nn.Module) else state
clear = lambda it: {{key: clear(value) for key, value in it.items()}} if isinstance(it, dict) else torch.zeros_like(it)
path = sys.argv[2]
if path.endswith(".safetensors"):
    import safetensors.torch
    safetensors.torch.save_file(clear(state), path)
else:
    torch.save(clear(state), path, {options})
"""


def main() -> int:
    """Exit status 1 if a way has other figures without its file, or a bad server is not named."""
    arguments = suite.parser(__doc__).parse_args()
    return suite.run("addresses", list_cases(arguments.oomph.absolute()), arguments)


# By the name of the file: words of the sentence.
SENTENCES = {
    "page.pth": ("begins with b'<!DOCTYPE html>", "expected a checkpoint"),
    "empty.pth": ("begins with b''", "expected a checkpoint"),
    "short.pth": ("was cut after", "expected"),
    "loop.pth": ("redirect", "expected a part of a checkpoint"),
    "unknown.pth": ("401", "expected a part of a checkpoint"),
    "forbidden.pth": ("403", "expected a part of a checkpoint"),
    "absent.pth": ("404", "expected a part of a checkpoint"),
    "broken.pth": ("500", "expected a part of a checkpoint"),
    "whole.pth": ("was sent whole", "no range requests"),
    "half.pth": ("begins as a zip checkpoint of", "expected a whole one"),
    "longer.pth": ("bytes, expected the", "of its header"),
    "shorter.safetensors": ("places tensors up to byte", "and the file has"),
    "old.pth": ("is a tar file", "expected a later format"),
    "code.pth": ("begins as a legacy checkpoint", "expected a whole one"),
}


@dataclass(frozen=True)
class Seen:
    """The figures of a run."""

    figures: dict[str, int]
    peak: dict[str, int]
    host_bytes: int
    remarks: str


class World:
    """A temporary folder with a home, a folder of work, and the files of a server."""

    def __init__(self, oomph: Path, folder: Path) -> None:
        self.oomph, self.folder = oomph, folder
        self.home, self.work, self.files = folder / "home", folder / "work", folder / "files"
        for each in (self.home, self.work, self.files):
            each.mkdir()

    def python(self, text: str, *words: object) -> None:
        """Runs a text by Python alone."""
        done = subprocess.run([PYTHON, "-c", text, *map(str, words)], env=self.environment(), cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr[-3000:]

    def make(self, way: Way) -> Path:
        """Writes the real file of a way, for the server."""
        path = self.files / way.file
        imports = way.imports or "import timm\n"
        self.python(BEGIN + imports + MAKE.format(state=way.state, options=way.options), NO_SERVER, path)
        return path

    def check(self, program: str, address: str, *options: str) -> subprocess.CompletedProcess:
        """Runs `oomph check` on a program."""
        (self.folder / "program.py").write_text(program)
        command = [self.oomph, "check", "--json", "-v", "--gpu", "rtx-4090", "--python", PYTHON, *options, self.folder / "program.py", address]
        return subprocess.run(list(map(str, command)), env=self.environment(), cwd=self.work, capture_output=True, text=True, timeout=PATIENCE)

    def see(self, program: str, address: str, *options: str) -> Seen:
        """The figures of a run that comes to a verdict."""
        done = self.check(program, address, *options)
        report = documents.parse(done.stdout)
        assert done.returncode in (0, 1) and report, describe(done)
        figures = {name: int(number) for name, number in re.findall(r"^(loaded|peak|host) (\d+)$", done.stderr, re.MULTILINE)}
        host = figures.pop("host")
        assert set(figures) == {"loaded", "peak"}, describe(done)
        peak = {name: report["peak"][name] for name in ("allocated_bytes", "reserved_bytes")}
        return Seen(figures, peak, host, done.stdout)

    def environment(self) -> dict[str, str]:
        """The user's variables, with an own home."""
        outer = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TORCH_", "XDG_"))}
        return outer | {"HOME": str(self.home), "TORCH_HOME": str(self.home / "torch"), "PYTHONDONTWRITEBYTECODE": "1"}

    def cached(self) -> list[str]:
        """The files outside oomph's own cache."""
        roots = self.home, self.work
        files = [path for root in roots for path in root.rglob("*") if path.is_file()]
        return [str(path) for path in files if "oomph" not in path.parts and path.suffix in (".pth", ".safetensors", ".pt")]


def describe(done: subprocess.CompletedProcess) -> str:
    """The exit status and the output."""
    return f"exit status {done.returncode}\n{done.stdout[-1500:]}\nstandard error:\n{done.stderr[-3500:]}"


@contextlib.contextmanager
def world(oomph: Path) -> Iterator[World]:
    """A world that is removed."""
    with tempfile.TemporaryDirectory(prefix="oomph-addresses-", ignore_cleanup_errors=True) as folder:
        yield World(oomph, Path(folder))


def judge(way: Way, oomph: Path) -> str:
    """Compares a way with the real file, with a server, and without a network."""
    with world(oomph) as one, serve(one.files) as served:
        path = one.make(way)
        size = path.stat().st_size
        cached = (one.home / way.cache / way.file).resolve()
        cached.parent.mkdir(parents=True, exist_ok=True)
        cached.hardlink_to(path)
        real = one.see(way.program, f"{NO_SERVER}/{way.file}", "--offline")
        cached.unlink()
        # Without a network first: nothing is known of the address.
        if way.is_known_offline:
            compare(real, one.see(way.program, f"{NO_SERVER}/{way.file}", "--offline"), "the model", way)
        else:
            refuse(one.check(way.program, f"{NO_SERVER}/{way.file}", "--offline"), f"{NO_SERVER}/{way.file}", ("cannot be reached", "expected"))
        compare(real, one.see(way.program, f"{served.address}/{way.file}"), "headers were fetched", way)
        assert 0 < served.sent_bytes < FETCHED_SHARE * size, f"{served.sent_bytes} bytes were sent of {size}"
        assert not one.cached(), one.cached()
        return f"{served.sent_bytes >> 10} KiB of {size >> 10} KiB fetched"


def compare(real: Seen, seen: Seen, source: str, way: Way) -> None:
    """Fails if the figures are not those of the real file, or the report does not name the stand-in."""
    assert seen.figures == real.figures, f"{seen.figures}, expected {real.figures}"
    assert seen.peak == real.peak, f"{seen.peak}, expected {real.peak}"
    assert seen.host_bytes <= real.host_bytes + HOST_BYTES, f"{seen.host_bytes} bytes on the host, expected {real.host_bytes}"
    assert source in seen.remarks and way.file in seen.remarks, f"no remark on `{source}`: {seen.remarks[-3000:]}"


def refuse(done: subprocess.CompletedProcess, address: str, words: tuple[str, ...]) -> None:
    """Fails without exit status 2 and a sentence that has the address and the words."""
    error = documents.parse_error(done.stdout)
    missing = [word for word in (address, *words) if word not in f"{error['message']}\n{error['hint']}"]
    assert done.returncode == 2 and error["hint"] and not missing, f"missing {missing}\n{describe(done)}"


def refuse_bad_servers(oomph: Path) -> str:
    """Bad servers: pages, cut files, loops, refusals, no ranges, contradictory headers"""
    text = f"{BEGIN}{LOADER}\nprint(list(state))\n"
    with world(oomph) as one, serve(one.files) as served:
        make_bad_files(one)
        for name, words in SENTENCES.items():
            before = served.sent_bytes
            refuse(one.check(text, f"{served.address}/{name}"), f"{served.address}/{name}", words)
            # A server that ignores ranges sends as much as the sockets hold.
            assert served.sent_bytes - before < 8 * MIB, f"{name}: {served.sent_bytes - before} bytes were sent"
        assert not one.cached(), one.cached()
        assert not (one.work / "executed").exists(), "a pickle was executed"
    return f"{len(SENTENCES)} answers"


LOADER = """
if address.endswith(".safetensors"):
    torch.hub.download_url_to_file(address, "zeros.safetensors", progress=False)
state = torch.hub.load_state_dict_from_url(address, progress=False)"""
BAD_FILES = """
import io, tarfile
folder = sys.argv[2]
state = {"weight": torch.zeros(4096, 4096), "bias": torch.zeros(4096)}
torch.save(state, f"{folder}/zeros.pth")
whole = open(f"{folder}/zeros.pth", "rb").read()
open(f"{folder}/half.pth", "wb").write(whole[: len(whole) // 2])
torch.save(state, f"{folder}/longer.pth", _use_new_zipfile_serialization=False)
legacy = open(f"{folder}/longer.pth", "rb").read()
open(f"{folder}/longer.pth", "ab").write(b"more")
import safetensors.torch
safetensors.torch.save_file(state, f"{folder}/shorter.safetensors")
os.truncate(f"{folder}/shorter.safetensors", 1 << 20)
with tarfile.open(f"{folder}/old.pth", "w") as archive:
    archive.addfile(tarfile.TarInfo("sys_info"), io.BytesIO())
class Harm:
    def __reduce__(self):
        return (os.system, ("touch executed",))
import pickle
open(f"{folder}/code.pth", "wb").write(legacy[:15] + pickle.dumps(Harm(), 2))
"""


def make_bad_files(one: World) -> None:
    """Writes a checkpoint, and files that contradict themselves."""
    one.python(BEGIN + BAD_FILES, NO_SERVER, one.files)


def keep_headers(oomph: Path) -> str:
    """Later runs without a network have the fetched headers"""
    way = WAYS[3]
    with world(oomph) as one, serve(one.files) as served:
        one.make(way)
        address = f"{served.address}/{way.file}"
        first = one.see(way.program, address)
        sent = served.sent_bytes
        compare(first, one.see(way.program, address, "--offline"), "headers were fetched", way)
        assert served.sent_bytes == sent, "an off-line run asked the server"
    return f"{sent >> 10} KiB"


def body_of(way: Way) -> Callable[[Path], str]:
    """The case of a way, with a name of its own."""

    def body(oomph: Path) -> str:
        return judge(way, oomph)

    body.__name__, body.__doc__ = way.name.replace(" ", "_"), way.name
    return body


CASES: list[Callable[[Path], str]] = [body_of(way) for way in WAYS] + [refuse_bad_servers, keep_headers]

def list_cases(oomph: Path) -> list[suite.Case]:
    """The cases for a binary."""
    return [suite.Case(body.__name__, partial(body, oomph), memory=4) for body in CASES]


if __name__ == "__main__":
    sys.exit(main())
