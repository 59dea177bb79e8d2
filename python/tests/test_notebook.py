"""Notebooks as main scripts: the remains of a cell, and the code that runs."""

import json
import tempfile
import unittest
from pathlib import Path

from oomph.agent.source import notebook


class NotebookTest(unittest.TestCase):
    def test_what_only_ipython_reads_is_left_out(self):
        cases = (
            ("%matplotlib inline\nx = 1", "pass\nx = 1"),
            ("if True:\n    !pip install torch\n", "if True:\n    pass\n"),
            ("files = !ls\nmodel?", "files = None\npass"),
            ("%%time\nx = 1", "\nx = 1"),
            ("\n%%bash\nrm -rf /", ""),
            ("x = 7 % 2", "x = 7 % 2"),
        )
        for source, expected in cases:
            self.assertEqual(notebook.clean(source), expected, source)

    def test_cells_run_in_order_under_their_own_names(self):
        cells = [
            {"cell_type": "markdown", "source": ["# Title"]},
            {"cell_type": "code", "source": ["%load_ext x\n", "text = '''\n", "%kept\n", "'''\n"]},
            {"cell_type": "code", "source": "text = '''\n%kept\n'''\ndisplay(get_ipython().config.name)\n"},
            {"cell_type": "code", "source": ["import sys\n", "where = sys._getframe().f_code.co_filename\n"]},
        ]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "train.ipynb")
            path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
            namespace: dict = {}
            exec(notebook.compile_cells(str(path), lambda tree, name: False), namespace)
        # A line of text that looks like a magic is a magic in a cell that Python cannot parse.
        self.assertEqual(namespace["text"], "\n%kept\n")
        self.assertEqual(namespace["where"], f"{path}:cell 3")


    def test_other_files_are_refused_by_name(self):
        for text in ("{", "[]", "{}", '{"cells": [{"cell_type": "code"}]}', '{"cells": 3}'):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "train.ipynb")
                path.write_text(text, encoding="utf-8")
                with self.assertRaisesRegex(SystemExit, "train.ipynb is no notebook of format 4", msg=text):
                    list(notebook.read_cells(str(path)))


if __name__ == "__main__":
    unittest.main()
