//! A process group created in every step.

use causes::CauseId;
use report::RuleId;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("process-group-in-loop"),
    effect: MemoryEffect::Style,
    summary: "`torch.distributed.new_group` in every step of a loop",
    help: "create the group once, before the loop",
    cause: Some(CauseId::GrowingCollection),
    check,
};

/// The functions that create groups.
const GROUPS: [&str; 6] = [
    "torch.distributed.new_group",
    "torch.distributed.new_subgroups",
    "torch.distributed.new_subgroups_by_enumeration",
    "torch.distributed.distributed_c10d.new_group",
    "torch.distributed.init_device_mesh",
    "torch.distributed.device_mesh.init_device_mesh",
];

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is_any(&GROUPS)) {
        let is_repeated = model.runs_with_steps(call) || is_in_training(model, call);
        if is_repeated && !is_destroyed(model, call) {
            matches.add(
                call.syntax,
                "every step creates a communicator with buffers of its own, which no later step frees",
            );
        }
    }
}

/// Checks for a loop around whose body trains: an epoch.
fn is_in_training(model: &Model<'_>, call: &Call<'_>) -> bool {
    model
        .loops(call.region)
        .any(|around| model.work_of_loop(around).backwards > 0 && !model.is_conditional(call.region, around))
}

fn is_destroyed(model: &Model<'_>, call: &Call<'_>) -> bool {
    let body = model.body(model.function(call.region));
    model
        .calls_between(body)
        .iter()
        .any(|it| it.is("torch.distributed.destroy_process_group") && !it.syntax.arguments.is_empty())
}
