//! The search for the smallest change that makes a program fit. The search chooses the dry runs and
//! judges their results; the binary makes the runs.
//!
//! # Note [Search for a plan]
//! 1. The program as it is, without a limit: its need. If the need fits, the search ends.
//! 2. Every remedy alone, with each option: how much it saves in this program, or the reason why it saves nothing. Then each idle remedy
//!    beside its partner: packed weights beside adapters.
//! 3. For every `Tier` of cost the strongest options together: if these do not fit, no set of the tier fits.
//! 4. Sets of options in the order of their cost. A set is run if it may fit: if no set that holds it was run and failed to, and
//!    if its reckoned peak is near the target. The reckoning only decides what is tried; a plan is always a run.
//!    Where the cheapest known set has more than a few changes, the strongest set of the tier is shrunk first: less one change after the
//!    other, the dearest first, as long as it still fits (`shrink.rs`). The saving of each alone is then no guide: adapters and
//!    checkpointing save more together than the sum of both.
//! 5. A set whose need is above the target may still fit, because PyTorch releases its cache before it gives up: where its
//!    allocated bytes alone would fit, it is run once more on a device of the target's size.
//! 6. Where the cheapest plan checkpoints activations, it is tried with fewer blocks (Note [Fewest blocks] in `blocks.rs`).
//!
//! Step 4 assumes that a remedy never raises the peak of a set that it joins. A breach can cost a cheaper plan; a plan
//! is never wrong.

mod allowed;
mod answer;
mod batch;
mod blocks;
mod catalogue;
mod cost;
mod found;
mod plans;
mod recording;
mod samples;
mod search;
mod settings;
mod shrink;
mod trial;
mod variant;
mod verified;

pub use allowed::Allowed;
pub use answer::{FitCase, FitRuns, fit};
pub use batch::{BatchRun, BatchSearch};
pub use found::FoundPlans;
pub use recording::ReplayableRun;
pub use search::Search;
pub use settings::settings_by_replay;
pub use trial::{Ending, Trial, trial};
pub use variant::Variant;
pub use verified::{StepTimes, Unconfirmed};
