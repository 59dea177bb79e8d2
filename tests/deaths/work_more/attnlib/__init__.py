"""Attention written out."""

from attnlib.attention import SelfAttention

__all__ = ["SelfAttention"]
