#!/bin/sh
python train.py --batch-size 16 --accumulate 4 --steps 5000
