#!/bin/bash
# Starts three tasks with the variables that srun sets, and exits with the first status that is not 0.
export SLURM_JOB_ID=4711 SLURM_NTASKS=3 SLURM_NNODES=1 SLURM_JOB_NODELIST=node01 MASTER_ADDR=127.0.0.1 MASTER_PORT=29611
pids=()
for task in 0 1 2; do
    SLURM_PROCID=$task SLURM_LOCALID=$task SLURM_NODEID=0 RANK=$task LOCAL_RANK=$task WORLD_SIZE=3 python "${0%.sh}" &
    pids+=($!)
done
status=0
for pid in "${pids[@]}"; do
    wait "$pid"
    code=$?
    [ "$status" -eq 0 ] && status=$code
done
exit "$status"
