//! The remedies that the user allows a search to try.

use remedies::{Exactness, FULLY_SHARD, OWN_OPTIONS, RemedySpec, Trying};
use report::fit::Prefer;

use super::catalogue::Choosable;
use super::trial::Trial;

/// The user's choice of remedies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Remedies that are tried only on request.
    pub allow: Vec<String>,
    /// Remedies that are never tried.
    pub deny: Vec<String>,
    /// Set to exclude remedies that change numbers beyond rounding.
    pub keep_numerics: bool,
    /// Set to try every remedy alone, also those that the answer does not need.
    pub tries_all: bool,
    /// The order of plans.
    pub prefer: Prefer,
    /// The only remedy that may be tried from now on.
    pub only: Option<&'static str>,
    /// The number of available GPUs to divide the program among; 0 for one.
    pub gpus: u64,
}

impl Allowed {
    /// True if the results of a trial are permitted in this program.
    pub(super) fn permits_results_of(&self, trial: &Trial) -> bool {
        !(self.keep_numerics && trial.alters)
    }

    /// True if there are enough GPUs for an option that divides the program. An option without a number of GPUs fits
    /// any number.
    pub(super) fn has_gpus_for(&self, option: &Choosable) -> bool {
        let wanted = option.change.settings.get("gpus").and_then(serde_json::Value::as_u64);
        self.gpus < 2 || wanted.is_none_or(|wanted| wanted <= self.gpus)
    }

    /// True if an option of the program's own may be tried.
    pub(super) fn permits_own(&self, option: &Choosable) -> bool {
        let is_denied = self.deny.iter().any(|name| name == option.spec.name || name == OWN_OPTIONS);
        self.only.is_none() && !is_denied && (!self.keep_numerics || option.exactness() <= Exactness::UpToRounding)
    }

    /// True if a remedy may be tried.
    pub(super) fn permits(&self, spec: &RemedySpec) -> bool {
        let is_in = |list: &[String]| list.iter().any(|name| name == spec.name);
        let has_gpus = spec.name == FULLY_SHARD && self.gpus > 1;
        let is_asked = spec.trying != Trying::Asked || is_in(&self.allow) || has_gpus;
        let keeps = !self.keep_numerics || spec.exactness <= Exactness::UpToRounding || is_in(&self.allow);
        is_asked && keeps && !is_in(&self.deny) && self.only.is_none_or(|only| only == spec.name)
    }
}
