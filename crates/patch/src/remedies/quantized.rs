//! Layers of bitsandbytes in place of the model's; shared by the remedies that pack weights.

use crate::edit::Edit;
use crate::site::ChangeSite;
use crate::why::Why;

/// Left to the user: the layers of a model are made anywhere.
pub(super) fn edits(_: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    Err(Why::Unfit("layers of bitsandbytes take the site of the model's, wherever those are made".to_owned()))
}

/// The code for a layer by hand, and for a model of transformers with these settings.
pub(super) fn snippet(layer: &str, settings: &str) -> String {
    format!(
        "import bitsandbytes\n# in the place of nn.Linear(...), before the model is moved to the GPU:\nbitsandbytes.nn.{layer}\n\
         # a model of transformers that is loaded:\nquantization = transformers.BitsAndBytesConfig({settings})\n\
         model = AutoModelForCausalLM.from_pretrained(..., quantization_config=quantization)"
    )
}
