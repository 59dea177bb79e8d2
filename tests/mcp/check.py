"""Does `oomph mcp` serve the reference SDK, keep to its folder, and survive every message?

    target/services/bin/python tests/mcp/check.py --oomph target/debug/oomph [WORD ...]

The client is the reference SDK for Python, which holds each result to the tool's output schema; damaged messages go over a raw pipe. Figures of
programs are computed from shapes. The Python needs PyTorch and the SDK (requirements/services.txt).
"""

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import documents
import suite
from session import MODES, Place, call, text_of
from survival import ALLOCATES, MIB, cancel, close, damaged, kill, lifecycle, progress, queue, recurse

TOOLS = ["check", "fit", "explain", "gpus"]
MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 7.79 GiB of which 1.00 GiB is free. "
    "Including non-PyTorch memory, this process has 6.70 GiB memory in use. Of the allocated memory 6.00 GiB is allocated by PyTorch, and 100.00 MiB "
    "is reserved by PyTorch but unallocated."
)


def main() -> int:
    """Exit status 1 if an answer is wrong, or something is left behind."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.resolve()
    bodies = [list_tools, check, check_real, fit, explain, gpus, refuse, confine, python, start]
    bodies += [progress, queue, cancel, close, kill, damaged, lifecycle, recurse]
    cases = [suite.Case(body.__doc__.splitlines()[0], partial(run_in_folder, body, oomph)) for body in bodies]
    return suite.run("mcp", cases, arguments)


def run_in_folder(body, oomph: Path) -> str | None:
    """Runs a case in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="oomph mcp ", ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        return body(Place(oomph))


# ---- the four tools ----


def list_tools(place: Place) -> str:
    """There are four tools, whose schemas are schemas, in both versions of the protocol"""
    for mode in MODES:
        tools = place.run(lambda client: client.list_tools(), mode).tools
        assert [tool.name for tool in tools] == TOOLS
        for tool in tools:
            for schema in (tool.input_schema, tool.output_schema):
                documents.jsonschema.Draft202012Validator.check_schema(schema)
                assert schema["type"] == "object", schema
            assert tool.input_schema["additionalProperties"] is False and tool.description, tool.name
            assert tool.annotations.read_only_hint is (tool.name in ("explain", "gpus")), tool.annotations
    size = len(json.dumps([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]))
    return f"{size:,} bytes of tools"


def check(place: Place) -> str:
    """check has the figures of the command, whole and brief, and a program that does not fit is no error"""
    place.write("jobs/a script.py", ALLOCATES)
    for mode, arguments, verdict, mebibytes in (
        ("legacy", {"args": ["256", "128"], "gpu": "l4"}, "fits", 384),
        ("auto", {"args": ["3072"], "gpu": "l4", "vram": "2GiB", "detail": "full"}, "oom", 3072),
    ):
        result = call(place, "check", mode, script="jobs/a script.py", **arguments)
        report = result.structured_content
        documents.hold("check", report)
        assert (result.is_error or False, report["verdict"]) == (False, verdict), report["headline"]
        assert report["need"]["allocated_bytes"] == mebibytes * MIB, report["need"]
        lines = text_of(result).split("\n")
        assert lines[0] == report["headline"] and (len(lines) == 1) == (report["next"] is None and "left_out" not in report), lines
    return lines[0]


def check_real(place: Place) -> str:
    """A brief report of GPT-2 is short, valid, and says what it leaves out; the whole one leaves out nothing"""
    place.write("gpt2.py", (HERE.parents[1] / "examples/gpt2.py").read_text())
    words = {"script": "gpt2.py", "args": ["--batch-size", "16"], "gpu": "rtx-4090", "steps": 2}

    async def both(client):
        return [await client.call_tool("check", {**words, "detail": detail}) for detail in ("brief", "full")]

    brief, full = (result.structured_content for result in place.run(both))
    for report in (brief, full):
        documents.hold("check", report)
    sizes = [len(json.dumps(report)) for report in (brief, full)]
    assert sizes[0] < 12_000 < sizes[1], sizes
    assert "left_out" not in full and len(brief["sites"]) + brief["left_out"]["sites"] == len(full["sites"]), brief["left_out"]
    for key in ("headline", "verdict", "spare_bytes", "next"):
        assert brief[key] == full[key], key
    return f"{sizes[0]:,} and {sizes[1]:,} bytes"


def fit(place: Place) -> str:
    """fit finds the program's own option, and the largest batch"""
    # A batch of 64 takes 64 x 32 MiB, with less than 2 GiB beside the context; each half fits.
    place.write("train.py", (
        "import argparse, torch\nparser = argparse.ArgumentParser()\nparser.add_argument('--batch-size', type=int, default=64)\n"
        "arguments = parser.parse_args()\nmodel = torch.nn.Linear(8, 8).cuda()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for _ in range(3):\n    batch = torch.zeros(arguments.batch_size, 1 << 20, 8, device='cuda')\n    model(batch).sum().backward()\n"
        "    optimizer.step()\n    optimizer.zero_grad()\n"
    ))  # fmt: skip
    result = call(place, "fit", script="train.py", gpu="rtx-3060", vram="4GiB", deny=["autocast"])
    documents.hold("fit", result.structured_content)
    assert result.structured_content["verdict"] == "fits-with-plan" and not result.is_error, text_of(result)
    texts = [place["text"] for plan in result.structured_content["plans"] for place in plan["places"]]
    assert any(text.startswith("--batch-size is ") for text in texts), texts
    result = call(place, "fit", script="train.py", gpu="rtx-3060", vram="4GiB", max_batch=True)
    documents.hold("fit", result.structured_content)
    assert result.structured_content["max_batch"], text_of(result)
    return text_of(result).split("\n")[0]


def explain(place: Place) -> str:
    """explain names the cause of a pasted text and of a file, and a text without an error is no error of the tool"""
    place.write("crash.log", f"epoch 1\n{MESSAGE}\n")
    for mode in MODES:
        for arguments in ({"text": MESSAGE}, {"paths": ["crash.log"]}, {"paths": ["crash.log"], "text": MESSAGE}):
            result = call(place, "explain", mode, **arguments)
            documents.hold("explain", result.structured_content)
            assert result.structured_content["findings"][0]["rule"] == "need-exceeds-device", arguments
    result = call(place, "explain", text="all went well")
    assert (result.is_error or False, result.structured_content["verdict"]) == (False, "nothing_to_explain"), text_of(result)
    for name in sorted((HERE.parent / "messages/work").glob("*.txt"))[:3]:
        place.write(name.name, name.read_text())
        documents.hold("explain", call(place, "explain", paths=[name.name]).structured_content)


def gpus(place: Place) -> None:
    """gpus lists names and sizes, and has all figures of one"""
    for mode in MODES:
        listed = call(place, "gpus", mode).structured_content["gpus"]
        assert len(listed) > 20 and all(set(gpu) == {"name", "total_bytes"} for gpu in listed), listed[:2]
        (one,) = call(place, "gpus", mode, name="4090").structured_content["gpus"]
        documents.hold("gpus", one)
        assert one["name"] == "NVIDIA GeForce RTX 4090" and {"name": one["name"], "total_bytes": one["total_bytes"]} in listed, one


# ---- refusals ----


def refuse(place: Place) -> str:
    """Wrong arguments get a sentence with what is known, and no structure"""
    place.write("train.py", ALLOCATES)
    place.write("raises.py", "import torch\ntorch.zeros(3, device='cuda')\nraise ValueError('no such width')\n")
    cases = [
        ("check", {"script": "train.py", "batch": 3}, "unknown field `batch`, expected one of `script`, `args`"),
        ("check", {}, "missing field `script`"),
        ("check", {"script": "train.py", "args": "8"}, "invalid type: string"),
        ("check", {"script": "train.py", "gpu": "l5"}, "no GPU is known as `l5`"),
        ("check", {"script": "train.py", "gpu": "--html=x"}, "no GPU is known as `--html=x`"),
        ("check", {"script": "train.py", "vram": "lots"}, "`lots` is not a size"),
        ("check", {"script": "train.py", "timeout_seconds": 0}, "out of range"),
        ("check", {"script": "raises.py", "gpu": "l4"}, "ValueError: no such width"),
        ("check", {"script": "none.py"}, "there is no `none.py` in"),
        ("fit", {"script": "train.py", "deny": ["nonsense"]}, "nonsense"),
        ("explain", {}, "nothing to explain"),
        ("explain", {"paths": ["train.py"], "file": "x"}, "unknown field `file`, expected one of `paths`, `text`, `detail`"),
        ("gpus", {"name": "voodoo"}, "no GPU is known as `voodoo`"),
        ("gpus", {"name": "--help"}, "no GPU is known as `--help`"),
    ]

    async def ask(client):
        return [await client.call_tool(tool, arguments) for tool, arguments, _ in cases]

    for (tool, arguments, expected), result in zip(cases, place.run(ask), strict=True):
        assert result.is_error and result.structured_content is None, (tool, arguments, text_of(result))
        assert expected in text_of(result), (tool, arguments, text_of(result))
    return f"{len(cases)} refusals"


def confine(place: Place) -> str:
    """A path outside of the folder is refused, also behind a link, and its content is not shown"""
    outside = place.folder.parent / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text(f"{MESSAGE}\nraise SystemExit('secret')\n")
    (place.folder / "link.py").symlink_to(outside / "secret.py")
    (place.folder / "away").symlink_to(outside)
    (place.folder / "job").mkdir()
    (place.folder / "job" / "rank0.log").symlink_to(outside / "secret.py")
    paths = [str(outside / "secret.py"), "../outside/secret.py", "link.py", "away/secret.py", "/etc/passwd", "/no/such/file", "away"]

    async def ask(client):
        results = [await client.call_tool("check", {"script": path, "gpu": "l4"}) for path in paths]
        return results + [await client.call_tool("explain", {"paths": [path]}) for path in [*paths, "job", "..", "/"]]

    results = place.run(ask)
    for result in results:
        assert result.is_error and "outside of" in text_of(result) and "--folder" in text_of(result), text_of(result)
        assert "2.00 GiB" not in text_of(result), text_of(result)
    return f"{len(results)} paths"


def python(place: Place) -> str:
    """The Python of a call is the server's or one of the folder; one without PyTorch is an error with the next step"""
    place.write("train.py", ALLOCATES)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place.folder / "env"], check=True)
    cases = [
        ("env/bin/python", "has no PyTorch\nhint: activate the environment"),
        ("/usr/bin/env", "neither in"),
        ("../outside/python", "neither in"),
        ("env/bin/nothing", "env/bin/nothing"),
    ]

    async def ask(client):
        return [await client.call_tool("check", {"script": "train.py", "gpu": "l4", "python": path}) for path, _ in cases]

    results = place.run(ask)
    for (path, expected), result in zip(cases, results, strict=True):
        assert result.is_error and expected in text_of(result), (path, text_of(result))
    result = call(place, "check", script="train.py", args=["64"], gpu="l4", python=sys.executable)
    assert result.structured_content["need"]["allocated_bytes"] == 64 * MIB, text_of(result)
    return text_of(results[0]).split("\n")[0]


def start(place: Place) -> str:
    """--help has a configuration that is JSON, a wrong folder is an error, and the runtime is started for this command alone"""
    done = subprocess.run([place.oomph, "mcp", "--help"], capture_output=True, text=True, check=True)
    (line,) = (line for line in done.stdout.splitlines() if "mcpServers" in line)
    assert json.loads(line)["mcpServers"]["oomph"]["args"][0] == "mcp"
    done = subprocess.run([place.oomph, "mcp", "--folder", "/no/such"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "`/no/such` is no folder" in done.stderr and "--folder DIR" in done.stderr and not done.stdout, done
    return "status 2"


if __name__ == "__main__":
    sys.exit(main())
