"""Reads torch's allocator settings from the memory of its objects: no function of torch returns most of them.

The offset of a member differs among releases. It is found once, by setting the member and comparing the memory.
"""

import ctypes
import json
import os
import struct

OBJECT_BYTES = 640
MIB = 1 << 20
NO_MEMPOOL = {True: (None,), False: ()}

COMMON = ("libc10.so", "_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig8instanceEv")
CUDA = ("libc10_cuda.so", "_ZZN3c104cuda20CUDACachingAllocator19CUDAAllocatorConfig8instanceEvE10s_instance")

# Name in the line, key, two values to set, and the bytes of each.
NUMBERS = [
    ("max_split_size", "max_split_size_mb", ("7919", "6997"), lambda v: struct.pack("<Q", int(v) * MIB)),
    ("max_non_split_rounding", "max_non_split_rounding_mb", ("5557", "4561"), lambda v: struct.pack("<Q", int(v) * MIB)),
    ("large_segment_size", "large_segment_size_mb", ("1291", "1301"), lambda v: struct.pack("<Q", int(v) * MIB)),
    ("garbage_collection_threshold", "garbage_collection_threshold", ("0.8125", "0.40625"), lambda v: struct.pack("<d", float(v))),
    ("per_process_memory_fraction", "per_process_memory_fraction", ("0.6875", "0.34375"), lambda v: struct.pack("<d", float(v))),
    ("expandable_segments_reserve", "expandable_segments_reserve", ("0.9375", "0.28125"), lambda v: struct.pack("<d", float(v))),
]
FLAGS = [
    ("expandable_segments", "expandable_segments"),
    ("throw_on_cudamalloc_oom", "throw_on_cudamalloc_oom"),
    ("graph_capture_record_stream_reuse", "graph_capture_record_stream_reuse"),
    ("release_lock_on_cudamalloc", "release_lock_on_cudamalloc"),
]
DEFAULTS = {
    "max_split_size": (1 << 64) - 1,
    "max_non_split_rounding": 20 * MIB,
    "large_segment_size": 20 * MIB,
    "garbage_collection_threshold": "0.0",
    "per_process_memory_fraction": "1.0",
    "expandable_segments_reserve": None,
    "roundup_power2_divisions": [0] * 16,
    "cuda_malloc_async": False,
}
INTEGERS = {"max_split_size", "max_non_split_rounding", "large_segment_size"}


def setter(torch):
    """The function behind `torch.cuda.memory._set_allocator_settings`, which does not warn."""
    old = getattr(torch._C, "_cuda_cudaCachingAllocator_set_allocator_settings", None)
    return old or torch._C._accelerator_setAllocatorSettings


def layout(torch):
    """The location of each member: `{name: [object, offset]}`; `None` in releases that do not export their object."""
    return aside(lambda: found(torch) if addresses(torch) else None)


def known(torch, samples):
    """The keys known to torch, each tried with a sample."""
    return aside(lambda: [key for key, text in samples.items() if sets(torch, text)])


def aside(ask):
    """Asks in a forked process, since the question makes a process read the variable once and for all."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        with os.fdopen(writer, "w") as out:
            json.dump(ask(), out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        said = json.load(answer)
    os.waitpid(child, 0)
    return said


def found(torch):
    """The layout, by setting every member twice."""
    places = {}
    for name, key, values, packed in NUMBERS:
        for value in values:
            if not sets(torch, f"{key}:{value}"):
                break
            here = {(o, at) for o, data in objects(torch) for at in everywhere(data, packed(value))}
            places[name] = here if value == values[0] else places[name] & here
    for name, key in FLAGS:
        if sets(torch, f"{key}:True"):
            places[name] = toggled(torch, key)
    # Set alone, the size of large segments sets the rounding too.
    if "large_segment_size" in places:
        places["large_segment_size"] -= places["max_non_split_rounding"]
    lone = {name: sorted(at) for name, at in places.items()}
    if any(len(at) != 1 for at in lone.values()):
        raise SystemExit(f"members not found, or more than once: {lone}")
    lone = {name: at[0] for name, at in lone.items()}
    sets(torch, "roundup_power2_divisions:4")
    lone["roundup_power2_divisions"] = next(
        (o, at)
        for o, data in objects(torch)
        for at in range(0, len(data) - 16, 8)
        if is_vector(*struct.unpack_from("<QQ", data, at))
    )
    return lone


def is_vector(begin, end):
    """The begin and end pointers of a vector of sixteen integers, all 4."""
    return begin > 1 << 20 and end - begin == 128 and ctypes.string_at(begin, 128) == struct.pack("<16Q", *[4] * 16)


def toggled(torch, key):
    """The bytes that are 1 and 0 together with the flag."""
    seen = []
    for value in (True, False, True):
        sets(torch, f"{key}:{value}")
        seen.append({(o, at) for o, data in objects(torch) for at, byte in enumerate(data) if byte == value})
    return set.intersection(*seen)


def everywhere(data, pattern):
    """The aligned offsets of the pattern."""
    return [at for at in range(0, len(data) - 8, 8) if data[at : at + 8] == pattern]


def sets(torch, text):
    """Tests that torch accepts the text."""
    try:
        setter(torch)(text)
    except (RuntimeError, ValueError):
        return False
    return True


def objects(torch):
    """The bytes of each settings object, with its number."""
    return [(number, ctypes.string_at(at, OBJECT_BYTES)) for number, at in enumerate(addresses(torch))]


def addresses(torch):
    """The addresses of the settings objects: one in older releases, two in newer."""
    folder = os.path.join(os.path.dirname(torch.__file__), "lib")
    cuda = ctypes.CDLL(os.path.join(folder, CUDA[0]))
    common = getattr(ctypes.CDLL(os.path.join(folder, COMMON[0])), COMMON[1], None) if newer(torch) else None
    if not hasattr(cuda, CUDA[1]):
        return []
    at = [ctypes.c_void_p.in_dll(cuda, CUDA[1]).value]
    if common:
        common.restype = ctypes.c_void_p
        at.append(common())
    return at


def newer(torch):
    """Tests that CUDA's settings are split into common settings and its own."""
    return tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 10)


def read(torch, places):
    """The settings that differ from those of a new process; `None` if they cannot be read."""
    if places is None:
        return None
    at = addresses(torch)
    values = {name: member(name, at[number] + offset) for name, (number, offset) in places.items()}
    values["cuda_malloc_async"] = torch._C._cuda_getAllocatorBackend() != "native"
    return {name: value for name, value in values.items() if value != DEFAULTS.get(name, False)}


def member(name, address):
    """One member. Fractions are texts, since readers of JSON may round differently from Python."""
    if name == "roundup_power2_divisions":
        begin = ctypes.c_uint64.from_address(address).value
        return list((ctypes.c_uint64 * 16).from_address(begin))
    if name == "expandable_segments_reserve":
        return reserve(address)
    if name in INTEGERS:
        return ctypes.c_uint64.from_address(address).value
    if name in dict(FLAGS):
        return bool(ctypes.c_ubyte.from_address(address).value)
    return repr(ctypes.c_double.from_address(address).value)


def reserve(value):
    """A flag for the kind of number, the number, and a flag for set."""
    if not ctypes.c_ubyte.from_address(value + 8).value:
        return None
    kind = "fraction" if ctypes.c_ubyte.from_address(value - 8).value else "gib"
    return {kind: repr(ctypes.c_double.from_address(value).value)}
