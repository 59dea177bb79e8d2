"""optimizer-paged: the optimizer's state in managed memory, whose pages leave the device when memory is short."""

from . import Remedy, bitsandbytes


def install(remedy: Remedy) -> None:
    """The paged class of bitsandbytes in place of PyTorch's Adam or AdamW; with `bits=8` the one whose state has 8 bits."""
    bits = remedy.settings.get("bits", 32)
    if bits not in (8, 32):
        return remedy.rejected(f"bits={bits}: expected 8 or 32", at=("", 0))
    bitsandbytes.use(remedy, "Paged", "8bit" if bits == 8 else "")
