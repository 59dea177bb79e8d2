"""The parts that work without torch and without a GPU."""

import contextlib
import errno
import importlib
import importlib.util
import io
import json
import os
import sys
import sysconfig
import tempfile
import unittest
from pathlib import Path

from oomph.agent import records
from oomph.agent import failure
from oomph.agent.hooks import importing
from oomph.agent.process import frames
from oomph.agent.failure import guarded
from oomph.agent.position.marks import Marks
from oomph.agent.record_file import RecordFile


class MarksTest(unittest.TestCase):
    """The text of `Mark` in crates/trace/src/event.rs."""

    def test_text_follows_the_program(self):
        marks, said = Marks(), []
        marks.attach(said.append)
        marks.enter_phase("forward")
        marks.enter_module("h.0 odd name")
        marks.next_census()
        marks.step_done(4)
        self.assertEqual(
            said,
            [
                "oomph step=1 phase=setup census=0 module=",
                "oomph step=1 phase=forward census=0 module=",
                "oomph step=1 phase=forward census=0 module=h.0 odd name",
                "oomph step=1 phase=forward census=1 module=h.0 odd name",
                "oomph step=5 phase=data census=1 module=h.0 odd name",
            ],
        )

    def test_an_unchanged_phase_says_nothing(self):
        marks, said = Marks(), []
        marks.attach(said.append)
        marks.enter_phase("setup")
        self.assertEqual(len(said), 1)


class RecordsTest(unittest.TestCase):
    """The file of records."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_nothing_is_there_before_the_first_record(self):
        file = RecordFile(self.folder, 0)
        self.assertFalse(file.is_open)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_second_process_of_a_rank_takes_another_name(self):
        for number in range(2):
            RecordFile(self.folder, 3).write(records.unrecorded(reason=f"{number}.pt"))
        texts = {name: Path(self.folder, name).read_text() for name in os.listdir(self.folder)}
        expected = {
            "rank3.marks.jsonl": '{"kind":"unrecorded","reason":"0.pt"}\n',
            f"rank3-{os.getpid()}.marks.jsonl": '{"kind":"unrecorded","reason":"1.pt"}\n',
        }
        self.assertEqual(texts, expected)

    def test_text_that_is_no_unicode_stays_one_readable_line(self):
        RecordFile(self.folder, 0).write(records.unrecorded(reason="a\nb\udcff"))
        line = Path(self.folder, "rank0.marks.jsonl").read_text()
        self.assertEqual(line.count("\n"), 1)
        # JSON has no escape for half a character, and readers refuse one.
        self.assertEqual(json.loads(line)["reason"], "a\nb?")

    def test_no_descriptor_is_open_between_two_records(self):
        before = os.listdir("/proc/self/fd")
        file = RecordFile(self.folder, 0)
        for number in range(2):
            file.write(records.unrecorded(reason=f"{number}.pt"))
            self.assertEqual(os.listdir("/proc/self/fd"), before)
        self.assertEqual(Path(self.folder, "rank0.marks.jsonl").read_text().count("\n"), 2)

    def test_no_other_file_of_the_name_is_written(self):
        path = Path(self.folder, "rank0.marks.jsonl")
        kept: list[tuple[bytes, int]] = []
        file = RecordFile(self.folder, 0, reserve=lambda line, error: bool(kept.append((line, error))))
        file.write(records.unrecorded(reason="0.pt"))
        # The first file keeps its number.
        path.rename(path.with_suffix(".moved"))
        path.write_text("theirs")
        for number in range(1, 3):
            file.write(records.unrecorded(reason=f"{number}.pt"))
        self.assertEqual(path.read_text(), "theirs")
        self.assertTrue(file.is_lost)
        expected = [(f'{{"kind":"unrecorded","reason":"{number}.pt"}}\n'.encode(), errno.ESTALE) for number in range(1, 3)]
        self.assertEqual(kept, expected)

    def test_a_missing_folder_is_said_once_and_breaks_nothing(self):
        file = RecordFile(os.path.join(self.folder, "absent"), 0)
        with contextlib.redirect_stderr(io.StringIO()) as stderr:
            file.write(records.unrecorded(reason="1.pt"))
            file.write(records.unrecorded(reason="2.pt"))
        self.assertRegex(stderr.getvalue(), r"\Aoomph agent: cannot write .*rank0.marks.jsonl: No such file.*\n\Z")


class FramesTest(unittest.TestCase):
    """The owner of a file: user or library."""

    def test_owner_of_files(self):
        library = sysconfig.get_path("purelib")
        cases = [
            ("/home/me/project/train.py", True),
            (os.path.join(library, "torch", "nn", "modules", "module.py"), False),
            ("/opt/other/lib/python3.12/site-packages/x.py", False),
            (os.path.join(sysconfig.get_path("stdlib"), "threading.py"), False),
            ("<frozen importlib._bootstrap>", False),
            ("<string>", False),
            (frames.__file__, False),
        ]
        for file, expected in cases:
            self.assertEqual(frames.is_users(file), expected, file)

    def test_owner_of_files_as_the_reports_have_it(self):
        table = os.path.join(os.path.dirname(__file__), "..", "..", "crates", "trace", "tests", "user_files.json")
        with open(table, encoding="utf-8") as text:
            for case in json.load(text):
                if "script_dir" not in case:
                    self.assertEqual(frames.is_users(case["file"]), case["user"], case["file"])

    def test_the_innermost_line_of_the_user_is_found_below_library_frames(self):
        seen = []
        code = compile("def call(f):\n    f()\n", os.path.join(sysconfig.get_path("stdlib"), "fake.py"), "exec")
        library: dict = {}
        exec(code, library)
        library["call"](lambda: seen.append(frames.users_line(sys._getframe(1))))
        self.assertEqual(seen[0][0], __file__)

    def test_no_stack_at_all(self):
        self.assertEqual(frames.users_line(None), ("", 0))
        self.assertEqual(frames.users_line_of_error(None), (None, None))


class ImportingTest(unittest.TestCase):
    """Acting right after an import."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.module = Path(folder.name, "oomph_probe.py")
        sys.path.insert(0, folder.name)
        self.addCleanup(sys.path.remove, folder.name)
        self.addCleanup(sys.modules.pop, "oomph_probe", None)

    def _import(self):
        importlib.invalidate_caches()
        return importlib.import_module("oomph_probe")

    def test_acts_once_after_the_module_is_complete_and_leaves_no_trace(self):
        self.module.write_text("value = 7\n")
        seen, before = [], list(sys.meta_path)
        importing.after_import("oomph_probe", lambda: seen.append(sys.modules["oomph_probe"].value))
        module = self._import()
        self.assertEqual((seen, sys.meta_path), ([7], before))
        self.assertEqual(type(module.__spec__.loader).__module__, "_frozen_importlib_external")
        self.assertIs(module.__loader__, module.__spec__.loader)

    def test_all_functions_of_one_module_act_in_their_order(self):
        self.module.write_text("value = 7\n")
        seen, before = [], list(sys.meta_path)
        for name in ("first", "second", "third"):
            importing.after_import("oomph_probe", lambda name=name: seen.append((name, sys.modules["oomph_probe"].value)))
        module = self._import()
        self.assertEqual((seen, sys.meta_path), ([("first", 7), ("second", 7), ("third", 7)], before))
        self.assertIs(module.__loader__, module.__spec__.loader)
        self.assertEqual(type(module.__loader__).__module__, "_frozen_importlib_external")

    def test_a_later_finder_does_not_hide_the_module(self):
        self.module.write_text("value = 7\n")
        seen, before = [], list(sys.meta_path)
        self.addCleanup(lambda: sys.meta_path.__setitem__(slice(None), before))
        importing.after_import("oomph_probe", lambda: seen.append("started"))
        sys.meta_path.insert(0, _Alone())
        # Any import moves the finder.
        importlib.util.find_spec("oomph_absent")
        self._import()
        self.assertEqual(seen, ["started"])

    def test_a_program_that_only_looks_for_the_module_finds_it_whole(self):
        self.module.write_text("value = 7\n")
        self.addCleanup(lambda before: sys.meta_path.__setitem__(slice(None), before), list(sys.meta_path))
        importing.after_import("oomph_probe", lambda: self.fail("nothing is imported"))
        loader = importlib.util.find_spec("oomph_probe").loader
        self.assertEqual((loader.get_filename(), loader.get_data(str(self.module))), (str(self.module), b"value = 7\n"))

    def test_a_failed_import_may_be_tried_again(self):
        self.module.write_text("raise RuntimeError('not yet')\n")
        seen = []
        importing.after_import("oomph_probe", lambda: seen.append("started"))
        with self.assertRaisesRegex(RuntimeError, "not yet"):
            self._import()
        self.assertEqual(seen, [])
        self.module.write_text("value = 'now it works'\n")
        self._import()
        self.assertEqual(seen, ["started"])


class _Alone:
    """Finds a module without the other finders, as the finder of comet_ml does with torch."""

    def find_spec(self, fullname, path=None, target=None):
        """The answer of Python's own finder."""
        return importlib.machinery.PathFinder.find_spec(fullname, path, target) if fullname == "oomph_probe" else None


class FailureTest(unittest.TestCase):
    """An error of the agent is printed and goes no further."""

    def test_a_real_run_notes_it_and_prints_nothing(self):
        noted = []
        self.addCleanup(failure.divert, failure._listener)
        failure.divert(noted.append)
        with contextlib.redirect_stderr(io.StringIO()) as stderr:
            failure.say("this part is missing")
            failure.say("this part is missing")
        self.assertEqual((noted, stderr.getvalue()), (["this part is missing"], ""))

    def test_one_line_once(self):
        @guarded
        def broken():
            raise KeyError("what is missing")

        with contextlib.redirect_stderr(io.StringIO()) as stderr:
            self.assertIsNone(broken())
            self.assertIsNone(broken())
        self.assertRegex(stderr.getvalue(), r"\Aoomph agent: .*broken failed: .*test_parts.py:\d+: KeyError: .*missing.*\n\Z")

    def test_an_interrupt_passes(self):
        @guarded
        def interrupted():
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            interrupted()
