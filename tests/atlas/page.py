"""The page of the atlas in a browser: a search, a GPU, a verdict and a link find what the tables say.

    python tests/atlas/page.py [--chromium /usr/bin/chromium] [--screenshot FILE]

Needs playwright of `requirements/notebook.txt`.
"""

import argparse
import json
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
ATLAS = ROOT / "docs/atlas"
OPTIONS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def rows(page: Page) -> list[list[str]]:
    """The cells of the table."""
    return [[cell.inner_text() for cell in row.locator("td").all()] for row in page.locator("#rows tr").all()]


def expect(found: object, expected: object, what: str) -> None:
    """Fails with both values."""
    assert found == expected, f"{what}: found {found!r}, expected {expected!r}"
    print(f"ok  {what}")


def check_page(page: Page, atlas: dict) -> None:
    """Compares what the page shows with the table."""
    gpu = "NVIDIA GeForce RTX 4090"
    here = {(one["name"], one["kind"]): one["gpus"][gpu] for one in atlas["recipes"]}
    shown = rows(page)
    expect(len(shown), len(here), "a row for each recipe")
    fits = sum(one["verdict"] == "fits" for one in here.values())
    expect(page.locator("#count").inner_text(), f"{fits} of {len(here)} fit", "the count")
    page.fill("#words", "llama3_1 8b lora")
    [cells] = rows(page)
    entry = here["llama3_1/8B_lora_single_device", "LoRA fine-tuning"]
    expect(f"{entry['need_bytes']:,} bytes" in cells[3], True, "the need to the byte")
    expect(cells[2], "fits" if entry["verdict"] == "fits" else cells[2], "the verdict")
    page.locator("#rows button").click()
    expect(len(rows(page)), len(atlas["gpus"]), "a row for each GPU of a recipe")
    link = page.url
    page.reload()
    expect((page.url, len(rows(page))), (link, len(atlas["gpus"])), "a link that keeps the view")
    page.select_option("#gpu", "Tesla T4")
    page.select_option("#verdict", "change")
    wanted = [one["name"] for one in atlas["recipes"] if "change" in one["gpus"].get("Tesla T4", {})]
    expect(sorted(cells[0].splitlines()[0] for cells in rows(page)), sorted(wanted), "recipes that fit with a change")
    page.select_option("#verdict", "")
    page.locator("#head button", has_text="needs").click()
    bytes_shown = [int(cells[3].split("\n")[1].removesuffix(" bytes").replace(",", "")) for cells in rows(page) if "\n" in cells[3]]
    expect(bytes_shown, sorted(bytes_shown), "rows in the order of the need")
    page.fill("#words", "no such recipe")
    expect(rows(page), [], "no row for unknown words")


def main() -> int:
    """Opens the page without a network."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--screenshot")
    arguments = parser.parse_args()
    atlas = json.loads((ATLAS / "atlas.json").read_text())
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=arguments.chromium, args=OPTIONS)
        page = browser.new_context(offline=True, viewport={"width": 1200, "height": 800}).new_page()
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto((ATLAS / "index.html").as_uri())
        if arguments.screenshot:
            page.screenshot(path=arguments.screenshot)
        check_page(page, atlas)
        expect(problems, [], "errors of the page")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
