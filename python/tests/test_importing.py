"""Functions that wait for the import of a module."""

import importlib
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from oomph.agent.process import importing

_MODULE = "oomph_awaited_module"


class Importing(unittest.TestCase):
    """`after_import`, with a module that no test imports otherwise."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="oomph-test-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / f"{_MODULE}.py"
        self.called: list[str] = []
        for patch in (mock.patch.object(sys, "path", [folder.name, *sys.path]), mock.patch.object(sys, "meta_path", list(sys.meta_path))):
            patch.start()
            self.addCleanup(patch.stop)
        self.addCleanup(sys.modules.pop, _MODULE, None)
        sys.modules.pop(_MODULE, None)

    def import_module(self, source: str):
        """Writes the module and imports it."""
        self.path.write_text(source, encoding="utf-8")
        importlib.invalidate_caches()
        return importlib.import_module(_MODULE)

    def test_all_functions_of_one_module(self) -> None:
        finders = list(sys.meta_path)
        for name in ("first", "second", "third"):
            importing.after_import(_MODULE, lambda name=name: self.called.append(f"{name} {sys.modules[_MODULE].VALUE}"))
        module = self.import_module("VALUE = 1\n")
        self.assertEqual(self.called, ["first 1", "second 1", "third 1"])
        self.assertEqual(sys.meta_path, finders)
        self.assertEqual(module.__loader__.__class__.__module__, "_frozen_importlib_external")
        self.assertIs(module.__spec__.loader, module.__loader__)

    def test_an_import_that_fails_is_awaited_again(self) -> None:
        for name in ("first", "second"):
            importing.after_import(_MODULE, lambda name=name: self.called.append(name))
        with self.assertRaises(ZeroDivisionError):
            self.import_module("1 / 0  # the first source\n")
        self.assertEqual(self.called, [])
        self.import_module("VALUE = 'another source'\n")
        self.assertEqual(self.called, ["first", "second"])

    def test_a_module_that_is_there(self) -> None:
        self.import_module("VALUE = 1\n")
        importing.after_import(_MODULE, lambda: self.called.append("at once"))
        self.assertEqual(self.called, ["at once"])


if __name__ == "__main__":
    unittest.main()
