#!/bin/sh
python train.py --length 32768 --layers 14
