"""Checkpoints over the phantom: large weights are holes until the program decides by them, all else has the values of the file."""

import unittest

from .support import needs_phantom, run_program

COMMON = """
    import ctypes, io, os, torch
    from collections import OrderedDict
    torch.manual_seed(1)
    STATE = OrderedDict(
        weight=torch.arange(1 << 20).float() + 1,
        half=torch.full((1 << 20,), 3.0).half(),
        norm=torch.arange(100.0),
        tokens=torch.arange(1 << 19),
        mask=torch.ones(1 << 21, dtype=torch.bool),
        count=torch.tensor(7),
    )
    UNREAD = {"weight", "half"}
    def is_hole(tensor):
        # The page in the middle, by mincore(2): a read would map the page.
        page, in_memory = (tensor.data_ptr() + tensor.nbytes // 2) // 4096 * 4096, ctypes.c_ubyte()
        assert ctypes.CDLL(None).mincore(ctypes.c_void_p(page), ctypes.c_size_t(4096), ctypes.byref(in_memory)) == 0
        return not in_memory.value & 1
    def same(loaded, unread=UNREAD, names=tuple(STATE)):
        for name in names:
            found = loaded[name]
            assert found.dtype == STATE[name].dtype and is_hole(found) == (name in unread), name
            assert torch.equal(found, STATE[name]), name
"""

TORCH_LOAD = """
    class Thing:
        pass
    thing = Thing()
    thing.state, thing.view, thing.list = STATE, STATE["weight"][5:9], [STATE["tokens"]] * 2
    torch.save(STATE, "state.pt")
    torch.save(thing, "thing.pt")
    for options in ({}, {"mmap": True}, {"map_location": "cpu"}, {"mmap": False, "weights_only": False}):
        same(torch.load("state.pt", **options))
    loaded = torch.load("thing.pt", weights_only=False)
    same(loaded.state)
    assert loaded.view.tolist() == STATE["weight"][5:9].tolist() and loaded.list[0] is loaded.list[1]
    # Nothing is mapped: the file may be written anew, as a program does that resumes.
    loaded = torch.load("state.pt")
    torch.save({}, "state.pt")
    assert not loaded["weight"].any() and torch.equal(loaded["tokens"], STATE["tokens"])
"""

READ_WHOLE = """
    torch.save(STATE, "old.pt", _use_new_zipfile_serialization=False)
    same(torch.load("old.pt"), unread=())
    buffer = io.BytesIO()
    torch.save(STATE, buffer)
    buffer.seek(0)
    same(torch.load(buffer), unread=())
    torch.save({"norm": STATE["norm"]}, "small.pt")
    assert torch.equal(torch.load("small.pt")["norm"], STATE["norm"])
    # What is written to a shared mapping belongs into the file.
    torch.save(STATE, "shared.pt")
    with torch.serialization.set_default_mmap_options(torch.serialization.MAP_SHARED):
        loaded = torch.load("shared.pt", mmap=True)
        same(loaded, unread=())
        loaded["weight"].fill_(5)
        same(torch.load("shared.pt"), unread=(), names=("norm", "tokens"))
    # A file of numbers, and one that only looks like a checkpoint.
    STATE["weight"].numpy().tofile("numbers.bin")
    numbers = torch.UntypedStorage.from_file("numbers.bin", False, 4 << 20)
    assert torch.equal(torch.tensor([]).set_(numbers), STATE["weight"])
    with open("broken.pt", "wb") as file:
        file.write(open("shared.pt", "rb").read()[:-100])
    try:
        torch.load("broken.pt")
    except RuntimeError as error:
        assert "failed finding central directory" in str(error), error
    else:
        raise AssertionError("a broken file was loaded")
"""

SAFETENSORS = """
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file
    save_file(dict(STATE), "state.safetensors", metadata={"format": "pt"})
    same(load_file("state.safetensors"))
    with safe_open("state.safetensors", "pt") as file:
        assert file.metadata() == {"format": "pt"}
        same({name: file.get_tensor(name) for name in file.keys()})
        assert torch.equal(file.get_slice("tokens")[5:9], STATE["tokens"][5:9])
"""


@needs_phantom
class Checkpoints(unittest.TestCase):
    """The programs check themselves."""

    def check(self, source: str, unread: list[dict]) -> None:
        ran = run_program(COMMON + source, phantom=True)
        self.assertEqual((ran.status, ran.stderr), (0, ""))
        self.assertEqual(ran.records("checkpoint_unread"), unread)

    def unread(self, files: int) -> list[dict]:
        return [{"kind": "checkpoint_unread", "count": 2 * files, "bytes": files * ((4 << 20) + (2 << 20))}]

    def test_torch_load(self):
        self.check(TORCH_LOAD, self.unread(files=2))

    def test_what_is_no_checkpoint_is_read_whole(self):
        self.check(READ_WHOLE, [])

    def test_safetensors(self):
        self.check(SAFETENSORS, self.unread(files=1))
