"""JupyterLab with a kernel on a phantom GPU, used by a browser: memory that stays is found and freed without a restart.

    python tests/notebook/browser.py --oomph target/debug/oomph [--chromium /usr/bin/chromium]

The figures are read from the page. The screenshots go to `docs/images`.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import Locator, Page, sync_playwright

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE))

from kernel import ROOT, environment, install

IMAGES = ROOT / "docs/images"
MOST_BYTES = 150_000
PATIENCE = 120
CELLS = [
    "%load_ext oomph\nimport torch",
    'model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096, device="cuda") for _ in range(8)])\noptimizer = torch.optim.Adam(model.parameters())\nlosses = []',
    'batch = torch.randn(4096, 4096, device="cuda")\nloss = model(batch).square().mean()\nloss.backward()\noptimizer.step()\nlosses.append(loss)',
    "model(batch)",
    'def predict(count):\n    results = []\n    for part in range(count):\n        results.append(torch.empty(1 << 14, 4096, device="cuda"))\n    return results\n\nresults = predict(100)',
    "%oomph",
    "%oomph free losses loss",
    "%oomph free",
    "%oomph",
    '%%oomph check\ninputs = torch.randn(1 << 18, 4096, device="cuda")\nmodel(inputs)',
]
# The order of the runs, by the index of the cell: the step runs twice.
RUNS = [0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9]


def main() -> None:
    """Fails if a figure on the page is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oomph", type=Path, required=True)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    with install(arguments.oomph.absolute()) as package, tempfile.TemporaryDirectory(prefix="oomph-lab-") as folder:
        write_notebook(Path(folder))
        server, address = start_server(package, Path(folder))
        try:
            with sync_playwright() as browsers:
                browser = browsers.chromium.launch(executable_path=arguments.chromium, args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 980, "height": 3600}, color_scheme="light")
                page.goto(f"{address}/doc/tree/demo.ipynb")
                check(page)
                browser.close()
        finally:
            server.terminate()
            server.wait(PATIENCE)


def write_notebook(folder: Path) -> None:
    """The notebook that the browser opens."""
    cells = [
        {"cell_type": "code", "id": f"cell-{number}", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for number, source in enumerate(CELLS)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    (folder / "demo.ipynb").write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}))


def start_server(package: Path, folder: Path) -> tuple[subprocess.Popen, str]:
    """JupyterLab on a phantom GPU, when it answers."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    front = [package / "bin/oomph", "phantom", "--gpu", "rtx-4090", "--", sys.executable, "-m", "jupyterlab"]
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
    server = subprocess.Popen(
        list(map(str, [*front, *options])), env={**environment(package), "JUPYTER_CONFIG_DIR": str(folder / "config"), "HOME": str(folder)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=5).close()
            return server, address
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    raise AssertionError(f"JupyterLab has ended with {server.poll()}, or does not answer")


def check(page: Page) -> None:
    """Runs the cells, compares figures and takes the screenshots."""
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    cells.nth(len(CELLS) - 1).wait_for(timeout=PATIENCE * 1000)
    for count, index in enumerate(RUNS, 1):
        run(page, cells.nth(index), count)
        text = cells.nth(index).locator(".jp-OutputArea").inner_text() if cells.nth(index).locator(".jp-OutputArea").count() else ""
        print(f"[{count}] {CELLS[index].splitlines()[0]}\n{text}\n")
    rows = read_rows(cells.nth(5))
    # Two passes of a step: of the first the graph is freed, its loss is a number of 512 bytes; Out holds the last product with its graph.
    weights = 8 * (4096 * 4096 + 4096) * 4 / 2**20
    expect_close(rows["model"][0], 2 * weights, "weights and gradients")
    expect_close(rows["optimizer"][0], 4 * weights, "weights, gradients, and two moments")
    assert rows["Out[5]"][1] >= 64 * 8, rows["Out[5]"]
    assert "traceback" not in rows, "the frames of the error keep memory"
    assert "oomph: out of memory; freed" in cells.nth(4).inner_text()
    last = read_rows(cells.nth(8))
    assert not [name for name in last if name.startswith(("Out", "traceback", "cycles"))], last
    assert "freed" in cells.nth(7).inner_text() and "less than predicted" not in cells.nth(7).inner_text(), cells.nth(7).inner_text()
    assert "does not fit" in cells.nth(9).inner_text(), cells.nth(9).inner_text()
    for name, index in (("rows", 5), ("free", 7), ("after", 8), ("error", 4), ("check", 9)):
        save(page, cells.nth(index), name)


def run(page: Page, cell: Locator, count: int) -> None:
    """Runs a cell and waits for its number."""
    cell.locator(".jp-InputArea-editor").click()
    page.keyboard.press("Control+Enter")
    cell.locator(".jp-InputPrompt", has_text=f"[{count}]:").wait_for(timeout=PATIENCE * 1000)


def read_rows(cell: Locator) -> dict[str, tuple[float, float]]:
    """MiB and freed MiB of each row of the table, by name."""
    rows = {}
    for line in cell.locator("table tr").all()[1:]:
        name, size, _, frees, _ = line.locator("td").all_inner_texts()
        rows[name.split()[0]] = mib(size), mib(frees)
    assert rows, cell.inner_text()
    return rows


def mib(text: str) -> float:
    """`1.50 GiB` in MiB."""
    number, unit = re.fullmatch(r"([\d.]+) (\w+)", text.strip()).groups()
    return float(number) * {"B": 2**-20, "KiB": 2**-10, "MiB": 1, "GiB": 2**10}[unit]


def expect_close(found: float, expected: float, what: str) -> None:
    """Equal to the digits that the page shows."""
    assert abs(found - expected) <= 0.01 * expected, f"{what}: {found} MiB, expected {expected}"


def save(page: Page, cell: Locator, name: str) -> None:
    """Saves a screenshot of one cell and its output."""
    path = IMAGES / f"notebook-{name}.png"
    page.keyboard.press("Escape")
    page.mouse.move(2, 2)
    cell.screenshot(path=path, animations="disabled")
    assert path.stat().st_size < MOST_BYTES, f"{path}: {path.stat().st_size} bytes"


if __name__ == "__main__":
    main()
