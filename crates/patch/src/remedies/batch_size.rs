//! batch-size: the number where it is written. See `sizes.rs`.

use super::{Patch, sizes};

pub(super) const PATCH: Patch =
    Patch::new(|site| sizes::edits(site, remedies::setting::SIZE), |_| "batch_size = ...".to_owned());
