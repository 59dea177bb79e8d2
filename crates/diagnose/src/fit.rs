//! The search for the smallest change that makes a program fit. The search chooses the dry runs and
//! judges their results; the binary makes the runs.
//!
//! # Note [Search for a plan]
//! 1. The unchanged program, without a limit: its need. If the need fits, the search ends.
//! 2. Stages (`stage.rs`): the program's own options (Note [Own options] in `own.rs`), the usual remedies, the rest. Steps 3 to 7 end
//!    with the first stage that has a plan. In each stage its options run alone, with two exceptions (`worth.rs`): an option whose kind of
//!    memory is far below the shortage does not run, and of a ladder, such as accumulation by 2, 4, 8, the first rung runs, then the first
//!    that a line through it says to fit. In the last stage each idle remedy also runs beside its partner: packed weights beside adapters.
//! 3. If a set of few changes is known to fit, only cheaper sets follow.
//! 4. Else for every `Tier` of cost the strongest options together: if these do not fit, no set of the tier fits.
//! 5. Sets of options in the order of their cost. A set is run if it may fit: if no larger set was run and failed to
//!    fit, and if its estimated peak is near the target. The estimate only decides the order of runs; a plan is always
//!    a run. If the cheapest known set has more than a few changes, the strongest set of the tier is shrunk first:
//!    changes are dropped in turn, the dearest first, as long as the rest still fits (`shrink.rs`). Single savings are
//!    then no guide: adapters and checkpointing save more together than the sum of both.
//! 6. A set whose need is above the target may still fit, because PyTorch releases its cache before it raises: if the
//!    allocated bytes alone would fit, the set is run once more on a device of the target's size.
//! 7. Where the cheapest plan checkpoints activations, it is tried with fewer blocks (Note [Fewest blocks] in `blocks.rs`).
//!
//! Step 5 assumes that a remedy never raises the peak of a set that it joins. A breach can cost a cheaper plan; a plan
//! is never wrong.

mod allowed;
mod answer;
mod batch;
mod bench;
mod blocks;
mod catalogue;
mod cost;
mod found;
mod max_batch;
mod own;
mod plans;
mod recording;
mod samples;
mod search;
mod settings;
mod shrink;
mod stage;
mod trial;
mod variant;
mod verified;
mod worth;

pub use allowed::Allowed;
pub use answer::{FitCase, FitRuns, fit, fit_stopped};
pub use batch::{BatchRun, BatchSearch};
pub use bench::{Bench, Runner};
pub use found::FoundPlans;
pub use max_batch::find_largest;
pub use recording::ReplayableRun;
pub(crate) use samples::Sample;
pub use search::Search;
pub use settings::settings_by_replay;
pub use stage::Depth;
pub use trial::{Ending, LineBytes, Trial, trial};
pub use variant::Variant;
pub use verified::{StepTimes, Unconfirmed};
