"""Imports of the fork server before the program runs."""

import tempfile
import unittest
from pathlib import Path

from oomph.agent.source import imports

SCRIPT = "import json\nimport torchvision.models\nfrom transformers import GPT2Config\nimport helpers\n"


class Named(unittest.TestCase):
    """Installed packages that a script names; modules beside the script are the program's own."""

    def check(self, files: dict[str, str], expected: list[str]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"train.py": SCRIPT, "helpers.py": "", **files}.items():
                path = Path(folder, name)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
            self.assertEqual(sorted(imports.list_imports(str(Path(folder, "train.py")))), expected)

    def test_installed_packages_are_named(self) -> None:
        self.check({}, ["torchvision.models", "transformers"])

    def test_a_module_beside_the_script_goes_first(self) -> None:
        self.check({"torchvision.py": ""}, ["transformers"])
        self.check({"transformers/__init__.py": ""}, ["torchvision.models"])

    def test_a_folder_that_is_no_package_does_not(self) -> None:
        self.check({"transformers/notes.txt": ""}, ["torchvision.models", "transformers"])


if __name__ == "__main__":
    unittest.main()
