//! A pod for NVIDIA's KAI Scheduler, which shares GPUs by the annotation `gpu-memory` in MiB (docs/gpu-sharing of KAI-Scheduler 0.14).

use super::{comments, label, quoted};
use crate::resources::ResourceRequest;

pub(super) fn write(request: &ResourceRequest) -> String {
    let mebibytes = request.most_bytes().0.div_ceil(1 << 20);
    format!(
        "{}# The queue and the image are yours. KAI does not enforce the memory: the program keeps to it by itself.\n\
         apiVersion: v1\nkind: Pod\nmetadata:\n  name: {}\n  labels:\n    kai.scheduler/queue: default-queue\n  annotations:\n    \
         gpu-memory: \"{mebibytes}\" # MiB\nspec:\n  schedulerName: kai-scheduler\n  restartPolicy: Never\n  containers:\n    \
         - name: program\n      image: IMAGE\n      command: [\"/bin/sh\", \"-c\", {}]\n",
        comments(request),
        label(&request.program),
        quoted(&request.command)
    )
}
