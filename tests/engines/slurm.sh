#!/bin/bash
# Starts a private Slurm of two nodes with one core each, for a test that is run by hand; `stop` ends it.
#
#     tests/engines/slurm.sh start FOLDER [NODES]
#     export SLURM_CONF=FOLDER/slurm.conf
#     tests/engines/slurm.sh stop FOLDER
#
# Needs root, and Debian's packages: apt-get install -y slurm-wlm munge. All nodes are this machine, with different ports. Nothing outside
# FOLDER is written. There is no accounting, so `sacct` answers nothing, as on many small clusters.
set -eu
action=$1 folder=$(realpath -m "$2") nodes=${3:-2}

start_munge() {
    # munged refuses folders that others may write.
    mkdir -p -m 755 "$folder/munge" "$folder/state" "$folder/log" "$folder/cgroup"
    head -c 1024 /dev/urandom > "$folder/munge/key"
    chmod 400 "$folder/munge/key"
    munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge.pid" \
        --log-file="$folder/log/munged" --seed-file="$folder/munge/seed"
}

write_configuration() {
    cat > "$folder/slurm.conf" <<EOF
ClusterName=oomph
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=26817
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
SwitchType=switch/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_min_interval=100000
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/slurmd.%n
ReturnToService=2
$(for at in $(seq "$nodes"); do echo "NodeName=node$at NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=2682$at CPUs=1 RealMemory=4000"; done)
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
    # slurmd 22.05 refuses to start without a cgroup plugin. This one starts in a container too: no controller is used.
    printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=%s\n' "$folder/cgroup" > "$folder/cgroup.conf"
}

start() {
    start_munge
    write_configuration
    export SLURM_CONF=$folder/slurm.conf
    slurmctld
    for at in $(seq "$nodes"); do
        slurmd -N "node$at"
    done
    sinfo
}

stop() {
    for file in "$folder"/slurmd.*.pid "$folder/slurmctld.pid" "$folder/munge.pid"; do
        if [ -s "$file" ]; then
            kill "$(cat "$file")" || true
        fi
    done
}

"$action"
