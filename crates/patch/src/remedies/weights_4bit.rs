//! weights-4bit: linear layers of bitsandbytes; left to the user.

use super::Patch;
use super::quantized::{edits, snippet};

pub(super) const PATCH: Patch = Patch::new(edits, |_| {
    snippet("Linear4bit(..., quant_type=\"nf4\")", "load_in_4bit=True, bnb_4bit_quant_type=\"nf4\"")
});
