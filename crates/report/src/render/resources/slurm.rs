//! A script for `sbatch`. Slurm's names of GPUs are each cluster's own, so that the GPUs with enough memory stand in a comment.

use super::{comments, label};
use crate::resources::ResourceRequest;

pub(super) fn write(request: &ResourceRequest) -> String {
    format!(
        "#!/bin/bash\n{}# `sinfo -o %G` lists the GPUs of this cluster: --gpus=NAME:1 asks for one of these.\n#SBATCH --job-name={}\n\
         #SBATCH --ntasks=1\n#SBATCH --gpus=1\n\n{}\n",
        comments(request),
        label(&request.program),
        request.command
    )
}
