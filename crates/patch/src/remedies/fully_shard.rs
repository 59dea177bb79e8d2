//! fully-shard: FSDP2 around each block; left to the user.

use super::Patch;
use crate::edit::Edit;
use crate::site::ChangeSite;
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(edits, |_| CODE.to_owned());

const CODE: &str = "\
from torch.distributed.fsdp import fully_shard
torch.distributed.init_process_group(\"nccl\")
for layer in model.layers:
    fully_shard(layer)
fully_shard(model)  # before the optimizer is made; start with torchrun";

fn edits(_: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    Err(Why::Unfit("the program must be started once for each GPU".to_owned()))
}
