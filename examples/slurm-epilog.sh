#!/bin/bash
# Appends `oomph explain --slurm-job` to the log of a job that ran out of memory. In slurm.conf, for every node:
#
#     Epilog=/etc/slurm/oomph-epilog.sh
#
# slurmd runs the script as root at the end of each job. It ends with status 0 whatever happens, since Slurm drains a node whose epilog fails; it takes
# 60 seconds at most, reads and writes the log with the rights of the job's user, and writes nothing but to that log. The path must have `oomph`.
export PATH=${PATH:+$PATH:}/usr/local/bin:/usr/bin:/bin
id=${SLURM_JOB_ID:-}

as_user() {
    if [ "$(id -u)" = 0 ] && [ "${SLURM_JOB_USER:-root}" != root ]; then
        runuser -u "$SLURM_JOB_USER" -- "$@"
    else
        "$@"
    fi
}

explain() {
    local facts log report
    command -v oomph scontrol || return
    facts=$(timeout -k 1 9 scontrol show job "$id") || return
    # A job of several nodes has one log: the batch host appends.
    grep -qE "BatchHost=${SLURMD_NODENAME:-.*}\$" <<< "$facts" || return
    log=$(sed -n 's/^ *StdOut=//p' <<< "$facts" | head -1)
    as_user test -w "$log" || return
    # Exit status 1: something was found. 0 and 2 leave the log as it is.
    report=$(as_user timeout -k 5 45 oomph explain --slurm-job "$id")
    [ $? = 1 ] || return
    printf '\n--- oomph explain --slurm-job %s\n%s\n' "$id" "$report" | as_user tee -a "$log"
}

[ -z "$id" ] || explain > /dev/null 2>&1
exit 0
