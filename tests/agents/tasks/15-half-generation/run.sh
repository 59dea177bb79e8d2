#!/bin/sh
python generate.py --sequences 12 --cache 1024 --tokens 1024
