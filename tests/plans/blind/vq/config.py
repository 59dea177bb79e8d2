"""The settings of the training."""

import os

import yaml


def merge(base, over):
    out = dict(base)
    for key, value in over.items():
        out[key] = merge(out[key], value) if isinstance(value, dict) and isinstance(out.get(key), dict) else value
    return out


def load(path):
    with open(path) as f:
        own = yaml.safe_load(f)
    parent = own.pop("include", None)
    if parent is None:
        return own
    return merge(load(os.path.join(os.path.dirname(path), parent)), own)
