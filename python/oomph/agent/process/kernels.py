"""Tests for kernels of a PyTorch build on a GPU's architecture."""

import re


def has_kernels(capability: tuple[int, int], built_for: list[str]) -> bool:
    """Compares a compute capability with `torch.cuda.get_arch_list()`. An empty list, as of a build that does not tell, has all.

    Kernels for `sm_80` run on 8.0 and later 8.x; those for `compute_80` are compiled on any later GPU.
    """
    found = [re.fullmatch(r"(sm|compute)_(\d+)(\d)[a-z]?", name) for name in built_for]
    found = [(match[1], int(match[2]), int(match[3])) for match in found if match]
    major, minor = capability
    return not found or any(
        (theirs == major and least <= minor) or (kind == "compute" and (theirs, least) <= capability) for kind, theirs, least in found
    )
