"""The structures of this Python, for the recorder: offsets that are found or compared in the running interpreter, never assumed."""

import ctypes
import sys
from types import CodeType

_ABSENT = 2**32 - 1
# The structures by the first version of Python that has them (Include/cpython/frameobject.h, Include/internal/pycore_frame.h): from the
# holder of a frame to the frame, then in a frame: code, previous, instruction, the instruction's length, owner, and the first owner
# of frames without a Python function. 3.14 is known from its source only.
_FRAMES = {
    (3, 10): (_ABSENT, 32, 24, 96, 4, _ABSENT, 0),
    (3, 11): (8, 32, 48, 56, 8, 69, 3),
    (3, 12): (0, 0, 8, 56, 8, 70, 3),
    (3, 13): (_ABSENT, 0, 8, 56, 8, 70, 3),
    (3, 14): (_ABSENT, 0, 8, 56, 8, 74, 3),
}
# The pointer to the frame, or to its holder, is one of these words of a thread's state.
_THREAD_STATE = range(24, 256, 8)
# `PyASCIIObject`, `PyBytesObject` (Include/cpython), and the first bit of a text's width, until 3.13 and from 3.14.
_LENGTH, _TEXT_STATE, _BYTES_LENGTH = 16, 32, 16
_WIDTH_BITS = (2, 16)
_WORD = ctypes.sizeof(ctypes.c_void_p)
_DEEPEST = 256


class CodeLayout(ctypes.Structure):
    """As `CodeLayout` in `crates/recorder/src/code.rs`."""

    _fields_ = [
        (name, ctypes.c_uint32)
        for name in (
            "file", "name", "lines", "first_line", "lines_format", "instructions", "text_length", "text_state", "width_bit",
            "ascii_characters", "other_characters", "bytes_length", "bytes_content",
        )
    ]  # fmt: skip


class Layout(ctypes.Structure):
    """As `Layout` in `crates/recorder/src/frames.rs`."""

    _fields_ = [
        *(
            (name, ctypes.c_uint32)
            for name in (
                "thread_frame", "holder_frame", "frame_code", "frame_previous", "frame_instruction", "instruction_bytes", "frame_owner",
                "foreign_owner",
            )
        ),
        ("code", CodeLayout),
    ]  # fmt: skip


def find(recorder: ctypes.PyDLL) -> Layout | None:
    """The layout of this Python; `None` for an unknown layout."""
    frames = _FRAMES.get(sys.version_info[:2])
    code = _find_code()
    if frames is None or code is None:
        return None
    layouts = (Layout(at, *frames, code) for at in _THREAD_STATE)
    return next((layout for layout in layouts if _is_right(recorder, layout)), None)


def _is_right(recorder: ctypes.PyDLL, layout: Layout) -> bool:
    """True if the recorder finds the functions, and their instructions, that Python shows."""
    return _read_calls(recorder, layout) == _list_calls()


def _list_calls() -> list[tuple[int, int]]:
    """The code objects of the caller's callers, innermost first, with the offset of the last instruction."""
    calls, frame = [], sys._getframe(2)
    while frame is not None:
        calls.append((id(frame.f_code), frame.f_lasti))
        frame = frame.f_back
    return calls[:_DEEPEST]


def _read_calls(recorder: ctypes.PyDLL, layout: Layout) -> list[tuple[int, int]]:
    """The same by the recorder, without this function and its caller."""
    words = (ctypes.c_size_t * (2 * _DEEPEST + 4))()
    count = recorder.oomph_recorder_probe(ctypes.addressof(layout), ctypes.addressof(words), len(words))
    calls = zip(words[4 : 2 * count : 2], words[5 : 2 * count : 2])
    return [(code, instruction - code - layout.code.instructions) for code, instruction in calls]


def _find_code() -> CodeLayout | None:
    """The offsets of code objects, searched for in a code object with known fields."""
    code, text, other = _sample.__code__, "oomph", "o\N{GREEK SMALL LETTER OMEGA}mph"
    found = (
        _find_word(code, id(code.co_filename)),
        _find_word(code, id(getattr(code, "co_qualname", code.co_name))),
        _find_word(code, id(code.co_linetable)),
        _find_line(),
    )
    ascii_characters = _find_bytes(text, text.encode())
    other_characters = _find_bytes(other, b"".join(ord(it).to_bytes(2, sys.byteorder) for it in other))
    content = _find_bytes(b"oomph", b"oomph")
    width_bit = next((bit for bit in _WIDTH_BITS if _are_known(bit, (text, 1, 1), (other, 2, 0))), None)
    if None in (*found, ascii_characters, other_characters, content, width_bit) or _read_length(b"oomph") != 5:
        return None
    lines_format, instructions = (10, 0) if sys.version_info < (3, 11) else (11, CodeType.__basicsize__)
    return CodeLayout(
        *found, lines_format, instructions, _LENGTH, _TEXT_STATE, width_bit, ascii_characters, other_characters, _BYTES_LENGTH, content
    )


def _are_known(width_bit: int, *texts: tuple[str, int, int]) -> bool:
    """True if the length, the width and the mark of ASCII lie where crates/recorder/src/code.rs reads them."""
    return all(_read_state(text, width_bit) == (len(text), width, is_ascii) for text, width, is_ascii in texts)


def _read_state(text: str, width_bit: int) -> tuple[int, int, int]:
    state = ctypes.c_uint32.from_address(id(text) + _TEXT_STATE).value
    return ctypes.c_size_t.from_address(id(text) + _LENGTH).value, state >> width_bit & 7, state >> width_bit + 4 & 1


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
    """The offset of the first line in code objects, right for several."""
    codes = [it.__code__ for it in (_sample, _find_word, _find_code, _list_calls)]
    places = range(2 * _WORD, CodeType.__basicsize__, 4)
    return next((at for at in places if all(ctypes.c_int32.from_address(id(it) + at).value == it.co_firstlineno for it in codes)), None)


def _find_bytes(owner: object, content: bytes) -> int | None:
    """The offset of the content of a text or of `bytes`."""
    found = ctypes.string_at(id(owner), sys.getsizeof(owner)).find(content)
    return None if found < 0 else found
