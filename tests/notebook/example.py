"""The notebook of `examples`, cell by cell in a kernel: it runs out of memory, and oomph says why.

The cell that installs the package is left out: the kernel has the package of this checkout. With the variables that Colab and Kaggle set, the answers are
the same, since all of them are texts and static HTML.
"""

import json
import os
import re
from functools import partial
from pathlib import Path

import suite
from kernel import ROOT, Done, Kernel

EXAMPLE = ROOT / "examples/explain_in_a_notebook.ipynb"
# https://colab.research.google.com and https://www.kaggle.com set these.
PLACES = {"Jupyter": {}, "Colab": {"COLAB_RELEASE_TAG": "release-colab-external-images_20261101"}, "Kaggle": {"KAGGLE_KERNEL_RUN_TYPE": "Interactive"}}


def list_cases(package: Path) -> list[suite.Case]:
    """A case for each place."""
    return [suite.Case(f"the example in {place}", partial(run, package, place), is_extra=place != "Jupyter") for place in PLACES]


def run(package: Path, place: str) -> str:
    """Runs the notebook; returns the first sentence of the explanation."""
    notebook = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4 and all(not cell.get("outputs") for cell in notebook["cells"]), "outputs in the example"
    os.environ.update(PLACES[place])
    done: dict[str, Done] = {}
    with Kernel(package, "t4") as kernel:
        for cell in notebook["cells"]:
            tags = cell["metadata"].get("tags", [])
            if cell["cell_type"] == "code" and tags != ["install"]:
                answer = kernel.run("".join(cell["source"]))
                assert answer.failed == (tags == ["runs-out"]), answer.text
                done.update({tag: answer for tag in tags})
    assert "OutOfMemoryError" in done["runs-out"].text and "oomph: " in done["runs-out"].text, done["runs-out"].text
    explained = done["explains"].text.strip()
    assert re.match(r"14\.\d\d GiB allocated and 64\.00 MiB requested are more than the", explained), explained
    assert "history" in done["lists"].text and "<div" in done["lists"].page, done["lists"].text
    assert "freed 1" in done["frees"].text and "by removing `history`" in done["frees"].text, done["frees"].text
    return explained.splitlines()[0]
