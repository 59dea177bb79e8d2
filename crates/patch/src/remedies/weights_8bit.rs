//! weights-8bit: linear layers of bitsandbytes; left to the user.

use super::Patch;
use super::quantized::{edits, snippet};

pub(super) const PATCH: Patch =
    Patch::new(edits, |_| snippet("Linear8bitLt(..., has_fp16_weights=False, threshold=6.0)", "load_in_8bit=True"));
