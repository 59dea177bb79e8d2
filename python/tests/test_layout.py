"""The structures of Python that the recorder reads, in the Python that runs the tests."""

import os
import sys
import unittest

from oomph.agent.appending import load_library
from oomph.agent.live import layout

from .support import PHANTOM, needs_phantom


@needs_phantom
class Layouts(unittest.TestCase):
    """The recorder lies beside the phantom."""

    def setUp(self):
        self.recorder = load_library(os.path.join(PHANTOM, "liboomph_recorder.so"))

    def test_a_known_python_is_found(self):
        found = layout.find(self.recorder)
        self.assertEqual(found is not None, sys.version_info[:2] in layout._FRAMES)

    @unittest.skipUnless(sys.version_info[:2] in layout._FRAMES, "needs a known Python")
    def test_wrong_offsets_are_noticed(self):
        frames = layout._FRAMES[sys.version_info[:2]]
        self.addCleanup(layout._FRAMES.__setitem__, sys.version_info[:2], frames)
        for field in range(4):
            layout._FRAMES[sys.version_info[:2]] = tuple(it + 8 * (at == field) for at, it in enumerate(frames))
            self.assertIsNone(layout.find(self.recorder), f"field {field}")
