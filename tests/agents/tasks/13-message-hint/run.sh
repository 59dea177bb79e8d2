#!/bin/sh
# The learning rate was tuned for 64 tiles a step; it scales linearly with the batch size.
python train.py --batch-size 64 --lr 0.0008
