"""Joins the sweeps of the atlas to one entry for each recipe and GPU, and writes them as JSON, as Parquet and for the page."""

import json
from datetime import datetime, timezone
from pathlib import Path

# The granularity of device memory, as `PAGE_BYTES` of `crates/wire/src/limit.rs`.
PAGE_BYTES = 2 << 20


def write(chosen: list, gpus: list, folder: Path, steps: str) -> None:
    """Writes `atlas.json`, `atlas.js` for the page, and `atlas.parquet`."""
    recipes, versions = [], set()
    for program in chosen:
        own = read_points(program.results / f"own-{program.slug}/points.jsonl")
        other = read_points(program.results / f"other-{program.slug}/points.jsonl")
        for recipe, row in zip(program.recipes, program.own_rows(), strict=True):
            points = own[key_of(row)]
            versions.update((point["torch"], point["oomph"]) for point in points.values() if point["torch"])
            recipes.append(describe(program, recipe, points, other, gpus))
    [(torch, oomph)] = versions
    atlas = {
        "torch": torch,
        "oomph": oomph,
        "made": datetime.now(timezone.utc).date().isoformat(),
        "optimizer_steps": int(steps),
        "gpus": [{"name": gpu["name"], "capacity_bytes": gpu["total_bytes"]} for gpu in sorted(gpus, key=lambda gpu: gpu["total_bytes"])],
        "recipes": recipes,
    }
    text = json.dumps(atlas, separators=(",", ":"), sort_keys=True)
    (folder / "atlas.json").write_text(text + "\n")
    # A page from the disk may load a script, and no other file.
    (folder / "atlas.js").write_text(f"const atlas = {text};\n")
    write_parquet(atlas, folder / "atlas.parquet")
    print(f"{len(recipes)} recipes, {len(gpus)} GPUs, {sum(len(recipe['gpus']) for recipe in recipes)} entries")


def read_points(path: Path) -> dict:
    """The points of a sweep: for each configuration the GPUs."""
    points: dict = {}
    if not path.exists():
        return points
    for line in path.read_text().splitlines():
        point = json.loads(line)
        points.setdefault(key_of(point["params"]), {})[point["gpu"]] = point
    return points


def key_of(row: dict) -> str:
    """A configuration as a text."""
    return json.dumps(row, sort_keys=True)


def describe(program, recipe, points: dict, other: dict, gpus: list) -> dict:
    """The entry of a recipe: its own figures on each GPU, and what else is known there."""
    tried = list_tried(program, recipe, other)
    compared = next((point for gpu, point in points.items() if "4090" in gpu), None)
    entry = {
        "name": recipe.name,
        "kind": recipe.kind,
        "program": program.name,
        "source": program.source,
        "batch": recipe.batch,
        "command": recipe.command,
        "gpus": {},
    }
    for gpu in gpus:
        point = points.get(gpu["name"]) or derive(points, gpu, gpus)
        found = {"verdict": point["verdict"], "need_bytes": point["need_bytes"], "error": point["error"], "run_for": point.get("run_for")}
        if tried and is_like(point, compared):
            found |= judge(point, compared, recipe, tried)
        entry["gpus"][gpu["name"]] = {name: value for name, value in found.items() if value is not None}
    return entry


def derive(points: dict, gpu: dict, gpus: list) -> dict:
    """The point of a GPU by the run for another of the same compute capability; only the context and the memory differ."""
    alike = next(one for one in gpus if one["compute_capability"] == gpu["compute_capability"] and one["name"] in points)
    point = points[alike["name"]]
    if point["verdict"] == "failed":
        return point | {"run_for": alike["name"]}
    context = in_pages(gpu["context_bytes"])
    need = point["need_bytes"] - in_pages(alike["context_bytes"]) + context
    capacity = gpu["total_bytes"]
    # Between the two the program fits if PyTorch's cache can be released in time, which was not tried.
    verdict = "fits" if need <= capacity else "oom" if point["allocated_bytes"] + context > capacity else "unknown"
    return point | {"need_bytes": need, "capacity_bytes": capacity, "verdict": verdict, "run_for": alike["name"]}


def in_pages(size: int) -> int:
    """Whole pages of device memory."""
    return -(-size // PAGE_BYTES) * PAGE_BYTES


def list_tried(program, recipe, other: dict) -> list:
    """The other batches and switches of a recipe, each with its point."""
    plain = recipe.settings | {key: recipe.own_values.get(key, value) for key, value in program.switches.items()}
    tried = [("batch", batch, plain | {program.batch_key: batch}) for batch in program.batches]
    tried += [("change", name, plain | {program.batch_key: recipe.batch} | change) for name, change in recipe.changes.items()]
    found = [(what, value, next(iter(other.get(key_of(row), {}).values()), None)) for what, value, row in tried]
    return [(what, value, point) for what, value, point in found if point and point["verdict"] != "failed"]


def is_like(point: dict, compared: dict | None) -> bool:
    """True if the recipe allocates and reserves the same on both GPUs, so that only the context differs."""
    same = ("allocated_bytes", "reserved_bytes")
    return compared is not None and point["verdict"] != "failed" and all(point[key] == compared[key] for key in same)


def judge(point: dict, compared: dict, recipe, tried: list) -> dict:
    """The largest batch, and the first switch with which the recipe fits, by the needs on the compared GPU and this GPU's context."""
    context = point["need_bytes"] - compared["need_bytes"]
    room = point["capacity_bytes"] - context
    fits = point["verdict"] == "fits"
    batches = [value for what, value, one in tried if what == "batch" and one["need_bytes"] <= room]
    found = {"largest_batch": max(batches + ([recipe.batch] if fits else []), default=0)}
    changes = [(value, one) for what, value, one in tried if what == "change" and one["need_bytes"] <= room]
    if not fits and changes:
        name, one = changes[0]
        found |= {"change": name, "change_need_bytes": one["need_bytes"] + context}
    return found


def write_parquet(atlas: dict, path: Path) -> None:
    """A row for each recipe and GPU."""
    import pyarrow
    import pyarrow.parquet

    capacity = {gpu["name"]: gpu["capacity_bytes"] for gpu in atlas["gpus"]}
    rows = [
        {key: recipe[key] for key in ("name", "kind", "program", "source", "batch", "command")}
        | {"gpu": gpu, "capacity_bytes": capacity[gpu], "torch": atlas["torch"], "oomph": atlas["oomph"]}
        | {key: entry.get(key) for key in ("verdict", "need_bytes", "run_for", "largest_batch", "change", "change_need_bytes", "error")}
        for recipe in atlas["recipes"]
        for gpu, entry in recipe["gpus"].items()
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
