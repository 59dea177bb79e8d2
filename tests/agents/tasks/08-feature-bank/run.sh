#!/bin/sh
# The recordings differ in length: avoid fragmentation.
export PYTORCH_ALLOC_CONF=expandable_segments:True
python train.py
