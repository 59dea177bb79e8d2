#!/bin/sh
python train.py --batch-size 64 --accumulate 1 --steps 5000
