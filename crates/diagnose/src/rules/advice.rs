//! Advice: what is known to help elsewhere, in texts.

mod applications;
mod frameworks;
pub(super) mod switches;

use report::{Remedy, Standing};

/// A remedy without a figure: known to help elsewhere, not measured in this run.
pub(super) fn advice(remedy: &str, how: &str) -> Remedy {
    Remedy {
        remedy: remedy.to_owned(),
        standing: Standing::Advice,
        before_bytes: None,
        after_bytes: None,
        how: how.to_owned(),
    }
}
