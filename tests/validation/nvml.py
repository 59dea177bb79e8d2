"""The driver's facts about a GPU, without a CUDA context: NVML through its C interface, because no binding is installed."""

import ctypes


class _Memory(ctypes.Structure):
    """`nvmlMemory_v2_t`."""

    _fields_ = [("version", ctypes.c_uint)] + [(name, ctypes.c_ulonglong) for name in ("total", "reserved", "free", "used")]


# The structure's size and, in the highest byte, its version: `NVML_STRUCT_VERSION(Memory, 2)`.
_MEMORY_V2 = ctypes.sizeof(_Memory) | 2 << 24
_TEXT = 96


class Nvml:
    """A device, by its index in the driver's order."""

    def __init__(self, index: int = 0) -> None:
        self._library = ctypes.CDLL("libnvidia-ml.so.1")
        self._call("nvmlInit_v2")
        self._device = ctypes.c_void_p()
        self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(self._device))

    def driver(self) -> str:
        """The driver's version."""
        return self._text("nvmlSystemGetDriverVersion")

    def name(self) -> str:
        """The device's name."""
        return self._text("nvmlDeviceGetName", self._device)

    def used(self) -> int:
        """Bytes of the device held by processes, without the driver's own."""
        memory = _Memory(version=_MEMORY_V2)
        self._call("nvmlDeviceGetMemoryInfo_v2", self._device, ctypes.byref(memory))
        return memory.used

    def _text(self, function: str, *arguments) -> str:
        text = ctypes.create_string_buffer(_TEXT)
        self._call(function, *arguments, text, ctypes.c_uint(_TEXT))
        return text.value.decode()

    def _call(self, function: str, *arguments) -> None:
        status = getattr(self._library, function)(*arguments)
        if status:
            raise OSError(f"{function} returned {status}, expected 0")
