//! Remedies that are no edit of one place: they change the layers of a model, or how the program is started.

use report::Change;

use crate::place::Why;

/// What a person would write.
pub(super) fn snippet(change: &Change) -> String {
    match change.remedy.as_str() {
        "weights-8bit" => quantized("Linear8bitLt(..., has_fp16_weights=False, threshold=6.0)", "load_in_8bit=True"),
        "weights-4bit" => {
            quantized("Linear4bit(..., quant_type=\"nf4\")", "load_in_4bit=True, bnb_4bit_quant_type=\"nf4\"")
        }
        "fully-shard" => SHARD.to_owned(),
        other => format!("# `oomph remedy {other}` says how"),
    }
}

/// Why it is not edited in.
pub(super) fn why(remedy: &str) -> Why {
    Why::Unfit(match remedy {
        "weights-8bit" | "weights-4bit" => {
            "layers of bitsandbytes take the place of the model's, wherever those are made".to_owned()
        }
        "fully-shard" => "the program must be started once for each GPU".to_owned(),
        _ => format!("{remedy} is not written into a source"),
    })
}

const SHARD: &str = "\
from torch.distributed.fsdp import fully_shard
torch.distributed.init_process_group(\"nccl\")
for layer in model.layers:
    fully_shard(layer)
fully_shard(model)  # before the optimizer is made; start with torchrun";

fn quantized(layer: &str, settings: &str) -> String {
    format!(
        "import bitsandbytes\n# in the place of nn.Linear(...), before the model is moved to the GPU:\nbitsandbytes.nn.{layer}\n\
         # a model of transformers that is loaded:\nquantization = transformers.BitsAndBytesConfig({settings})\n\
         model = AutoModelForCausalLM.from_pretrained(..., quantization_config=quantization)"
    )
}
