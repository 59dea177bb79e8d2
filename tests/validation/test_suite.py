"""The suite itself: its table, the content of a record, records that are no truth, equality of figures."""

import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True

import truth
from accuracy import document
from catalogue import programs
from published import Figure, Source, figures
from segments import agreement, runs
from truth import Record


class Suite(unittest.TestCase):
    """Each is a table of cases."""

    def test_the_programs_are_there(self) -> None:
        """Enough programs, each with a unique name and a script that states its purpose."""
        every = programs()
        self.assertGreaterEqual(len(every), 60)
        self.assertEqual(len({program.name for program in every}), len(every))
        for script in {program.script for program in every} | {figure.job.script for figure in figures()}:
            text = script.read_text(encoding="utf-8")
            self.assertTrue(text.startswith('"""'), script)
            self.assertNotIn("import oomph", text, script)

    def test_equal_requests_in_a_row_are_one(self) -> None:
        """Equal requests are one in spite of other events between them."""
        names = ("segment_alloc", "alloc", "segment_alloc", "segment_free", "segment_map", "free_completed", "segment_unmap")
        history = [{"action": action, "size": 2 << 20} for action in names]
        size = 2 << 20
        self.assertEqual(runs(history), [[2, "alloc", size], [1, "free", size], [1, "map", size], [1, "unmap", size]])

    def test_agreement_ends_at_the_first_difference(self) -> None:
        """Counted in requests, not in runs."""
        recorded = [[3, "alloc", 2], [1, "free", 2]]
        for predicted, same in (([[3, "alloc", 2], [1, "free", 2]], 4), ([[2, "alloc", 2], [1, "alloc", 4]], 2), ([], 0)):
            self.assertEqual(agreement(recorded, predicted), (same, 4))

    def test_a_figure_is_the_same_within_its_last_digit(self) -> None:
        """26.2617 GiB was printed for all between 26.26165 and 26.26175."""
        source = Source("", "", "", "", 1 << 30, "reserved")
        for printed, rounding in (("26.2617", 53_687), ("3.91", 5_368_709), ("17", 536_870_912)):
            self.assertEqual(Figure(source, "", printed, "", proven=False, made_a_model=False, fast=True).rounding, rounding)

    def test_errors_are_predicted_less_measured(self) -> None:
        """Errors count only programs that ran; a program that ran out of memory despite the prediction `fits` is a false one."""
        gpu = {"name": "Some GPU", "slug": "some-gpu", "driver": "1", "versions": {"torch": "2"}}
        end = {"allocated_bytes": 1000, "reserved_bytes": 2000, "device_bytes": 3000}
        ran, out = Record("ran", gpu, {}, end, None, [[2, "alloc", 2]]), Record("out", gpu, {}, end, "CUDA out of memory", [])
        found = {"allocated_bytes": 1010, "reserved_bytes": 2000, "device_bytes": 2970, "segments": [[1, "alloc", 2]]}
        predictions = {ran.key: found | {"verdict": "fits"}, out.key: found | {"verdict": "fits"}}
        text = document(predictions, [], {"ran": [ran], "out": [out]}, [], "2")
        self.assertIn("| ran | +1.00% | +0.00% | -1.00% | 1 of 2 |", text)
        self.assertIn("| out | ran out of memory; predicted: fits |", text)
        self.assertIn("- device: median |error| 1.00%, worst 1.00%", text)
        self.assertIn('- false "fits": out', text)

    def test_what_a_phantom_gave_is_no_truth(self) -> None:
        """Only `true` is true."""
        whole = {"context": {}, "end": {}, "oom": None, "segments": []}
        for real, is_refused in ((True, False), (False, True), (None, True), ("true", True)):
            with tempfile.TemporaryDirectory() as folder, mock.patch.object(truth, "FOLDER", Path(folder)):
                path = Path(folder) / "some-gpu" / "mlp.json"
                path.parent.mkdir()
                path.write_text(json.dumps(whole | {"gpu": {"real": real, "slug": "some-gpu"}}), encoding="utf-8")
                if is_refused:
                    self.assertRaises(SystemExit, truth.records)
                else:
                    self.assertEqual([record.key for record in truth.records()["mlp"]], ["some-gpu: mlp"])


if __name__ == "__main__":
    unittest.main()
