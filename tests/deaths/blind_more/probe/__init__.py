"""Looks into models."""

from probe.recorder import Recorder

__all__ = ["Recorder"]
