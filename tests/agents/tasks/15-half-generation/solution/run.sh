#!/bin/sh
python generate.py --dtype float16 --sequences 12 --cache 1024 --tokens 1024
