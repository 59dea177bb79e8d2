"""The structures of this Python, for the recorder: offsets that are found or compared in the running interpreter, never assumed."""

import ctypes
import sys
from types import CodeType

# From the state of a thread to a frame, by the version of Python (Include/cpython/pystate.h, Include/internal/pycore_frame.h):
# holder, frame, then in a frame: code, previous, instruction, owner; and the owner of frames without a Python function.
_FRAMES = {(3, 11): (56, 8, 32, 48, 56, 69, 255), (3, 12): (56, 0, 0, 8, 56, 70, 3)}
# `PyASCIIObject`, `PyBytesObject` (Include/cpython).
_LENGTH, _TEXT_STATE, _BYTES_LENGTH = 16, 32, 16
_WORD = ctypes.sizeof(ctypes.c_void_p)
_DEEPEST = 256


class CodeLayout(ctypes.Structure):
    """As `CodeLayout` in `crates/recorder/src/code.rs`."""

    _fields_ = [
        (name, ctypes.c_uint32)
        for name in (
            "file", "name", "lines", "first_line", "instructions", "text_length", "text_state", "ascii_characters",
            "other_characters", "bytes_length", "bytes_content",
        )
    ]  # fmt: skip


class Layout(ctypes.Structure):
    """As `Layout` in `crates/recorder/src/frames.rs`."""

    _fields_ = [
        *(
            (name, ctypes.c_uint32)
            for name in (
                "thread_holder", "holder_frame", "frame_code", "frame_previous", "frame_instruction", "frame_owner", "foreign_owner",
            )
        ),
        ("code", CodeLayout),
    ]  # fmt: skip


def find(recorder: ctypes.CDLL) -> Layout | None:
    """The layout of this Python; `None` if it is another one than is known."""
    frames = _FRAMES.get(sys.version_info[:2])
    code = _find_code()
    if frames is None or code is None:
        return None
    layout = Layout(*frames, code)
    return layout if _read_codes(recorder, layout) == _list_codes() else None


def _list_codes() -> list[int]:
    """The code objects of the caller and its callers, innermost first."""
    codes, frame = [], sys._getframe(1)
    while frame is not None:
        codes.append(id(frame.f_code))
        frame = frame.f_back
    return codes[:_DEEPEST]


def _read_codes(recorder: ctypes.CDLL, layout: Layout) -> list[int]:
    """The same as the recorder reads them, without this function."""
    codes = (ctypes.c_size_t * (_DEEPEST + 1))()
    recorder.oomph_recorder_probe.restype = ctypes.c_size_t
    recorder.oomph_recorder_probe.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    count = recorder.oomph_recorder_probe(ctypes.addressof(layout), ctypes.addressof(codes), len(codes))
    return list(codes[1:count])


def _find_code() -> CodeLayout | None:
    """The offsets of code objects, searched for in one whose fields are known."""
    code, text, other = _sample.__code__, "oomph", "o\N{GREEK SMALL LETTER OMEGA}mph"
    found = (
        _find_word(code, id(code.co_filename)),
        _find_word(code, id(getattr(code, "co_qualname", code.co_name))),
        _find_word(code, id(code.co_linetable)),
        _find_line(),
    )
    ascii_characters = _find_bytes(text, text.encode())
    other_characters = _find_bytes(other, other.encode("utf-16-le"))
    content = _find_bytes(b"oomph", b"oomph")
    if None in (*found, ascii_characters, other_characters, content) or not _are_known((text, 1, 1), (other, 2, 0)):
        return None
    return CodeLayout(*found, CodeType.__basicsize__, _LENGTH, _TEXT_STATE, ascii_characters, other_characters, _BYTES_LENGTH, content)


def _are_known(*texts: tuple[str, int, int]) -> bool:
    """True if the length, the width and the mark of ASCII lie where crates/recorder/src/code.rs reads them."""
    return all(_read_state(text) == (len(text), width, is_ascii) for text, width, is_ascii in texts) and _read_length(b"oomph") == 5


def _read_state(text: str) -> tuple[int, int, int]:
    state = ctypes.c_uint32.from_address(id(text) + _TEXT_STATE).value
    return ctypes.c_size_t.from_address(id(text) + _LENGTH).value, state >> 2 & 7, state >> 6 & 1


def _read_length(content: bytes) -> int:
    return ctypes.c_size_t.from_address(id(content) + _BYTES_LENGTH).value


def _sample() -> None:
    """A function with a code object of its own."""


def _find_word(owner: object, word: int) -> int | None:
    """The offset of a word in the structure of an object."""
    start = id(owner)
    places = range(2 * _WORD, type(owner).__basicsize__, _WORD)
    return next((at for at in places if ctypes.c_size_t.from_address(start + at).value == word), None)


def _find_line() -> int | None:
    """The offset of the first line in code objects: the one that is right for several."""
    codes = [it.__code__ for it in (_sample, _find_word, _find_code, _list_codes)]
    places = range(2 * _WORD, CodeType.__basicsize__, 4)
    return next((at for at in places if all(ctypes.c_int32.from_address(id(it) + at).value == it.co_firstlineno for it in codes)), None)


def _find_bytes(owner: object, content: bytes) -> int | None:
    """The offset of the content of a text or of `bytes`."""
    found = ctypes.string_at(id(owner), sys.getsizeof(owner)).find(content)
    return None if found < 0 else found
