//! `mig`: the device is a MIG slice of a larger GPU.
//!
//! Role surroundings, order 40.

use causes::CauseId;
use report::Finding;
use trace::Bytes;
use trace::text::StatedBytes;

use super::small_gpu_fraction::find_fraction;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::Known;
use crate::rules::rule::{Cause, Check, Rank, Rule};

pub(super) const RULE: Rule = Rule { cause: CauseId::Mig, check: Check::One(find) };

/// Totals of MIG slices in MiB, as `cudaMemGetInfo` states them (names as in NVIDIA's MIG user guide). Sizes that a whole GPU
/// has too are left out: 2g.10gb (RTX 3080), 3g.40gb (A100 with 40 GB).
const SLICES_MIB: [(u64, &str); 3] = [(4864, "1g.5gb"), (9728, "1g.10gb"), (19_968, "2g.20gb or 3g.20gb")];
/// A total matches a slice if it differs by at most 1/500.
const TOLERANCE_DENOMINATOR: u64 = 500;

fn find(facts: &Facts) -> Option<Cause> {
    if find_fraction(facts).is_some() {
        return None;
    }
    let (device, name) = slice(facts)?;
    let total = device.nearest();
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: facts.severity(),
        message: format!("the device has {total}, like a MIG slice {name}: it may be a part of a larger GPU"),
        location: None,
        evidence: vec![device.row("device")],
        remedies: vec![advice("ask for a larger slice", "nvidia-smi -L names the slices")],
    };
    // The rest of the GPU is more than the slice.
    Some(Cause { finding, bytes: Some(total), rank: Rank::Need, removal: None })
}

/// The total of a device of unknown name, and the slice with the same total.
pub(super) fn slice(facts: &Facts) -> Option<(Known<StatedBytes>, &'static str)> {
    let device = facts.device.total.filter(|_| facts.is_fatal() && facts.device.name.is_none())?;
    let total = device.nearest();
    let matches = |&&(mib, _): &&(u64, &str)| {
        let slice = Bytes::from_mib(mib).0;
        total.0.abs_diff(slice).saturating_mul(TOLERANCE_DENOMINATOR) <= slice
    };
    SLICES_MIB.iter().find(matches).map(|&(_, name)| (device, name))
}
