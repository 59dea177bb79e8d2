//! The four tools: names, descriptions and schemas.

use std::sync::Arc;

use rmcp::handler::server::common::schema_for_type;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};

use crate::inputs::{CheckCall, ExplainCall, FitCall, GpusCall};
use crate::outline::{outline, outline_any, outline_gpus, whole};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolName {
    Check,
    Fit,
    Explain,
    Gpus,
}

impl ToolName {
    pub(crate) const ALL: [ToolName; 4] = [ToolName::Check, ToolName::Fit, ToolName::Explain, ToolName::Gpus];

    /// The name, which is the name of the command as well.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ToolName::Check => "check",
            ToolName::Fit => "fit",
            ToolName::Explain => "explain",
            ToolName::Gpus => "gpus",
        }
    }

    pub(crate) fn find(name: &str) -> Option<ToolName> {
        ToolName::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// True for a tool that runs the user's program.
    pub(crate) fn runs_a_program(self) -> bool {
        matches!(self, ToolName::Check | ToolName::Fit)
    }

    fn title(self) -> &'static str {
        match self {
            ToolName::Check => "Will it fit?",
            ToolName::Fit => "The smallest change that fits",
            ToolName::Explain => "Why did it run out of memory?",
            ToolName::Gpus => "Known GPUs",
        }
    }

    fn description(self) -> &'static str {
        match self {
            ToolName::Check => {
                "Says whether a PyTorch script fits the memory of a GPU, which lines fill the memory, and which change helps, before a GPU is touched. \
                 Runs the script with the real PyTorch on a GPU that is not there: no GPU is needed or used, and its changes to files are undone. \
                 Takes seconds to minutes. Verdicts: `fits`; `fits_so_far` (a part was not run or was assumed); `oom`, the program needs more than the GPU has; \
                 `incomplete`. `spare_bytes` is the memory left, negative if too little."
            }
            ToolName::Fit => {
                "Finds the smallest change with which a PyTorch script fits a GPU: its own options first (batch size, accumulation), then changes such as \
                 activation checkpointing, each tried in a dry run without a GPU. Changes no file: `plans` names the command line and the lines to edit. \
                 With `max_batch`, finds the largest batch instead. Takes minutes; use it after `check` said `oom`."
            }
            ToolName::Explain => {
                "Names the cause of a `CUDA out of memory` error, and the change that helps. Reads a pasted error or log (`text`), or files (`paths`): logs, memory \
                 snapshots, `nvidia-smi` output, recorded runs. Runs nothing and needs no GPU and no PyTorch."
            }
            ToolName::Gpus => {
                "Lists the GPUs that `check` and `fit` know, with their memory in bytes; with `name` all figures of one."
            }
        }
    }

    fn input_schema(self) -> Arc<JsonObject> {
        match self {
            ToolName::Check => schema_for_type::<CheckCall>(),
            ToolName::Fit => schema_for_type::<FitCall>(),
            ToolName::Explain => schema_for_type::<ExplainCall>(),
            ToolName::Gpus => schema_for_type::<GpusCall>(),
        }
    }

    fn output_schema(self) -> JsonObject {
        match self {
            ToolName::Check => outline(whole::CHECK),
            ToolName::Fit => outline(whole::FIT),
            ToolName::Explain => outline_any(&[whole::EXPLAIN, whole::RUN, whole::NOW, whole::AGAINST]),
            ToolName::Gpus => outline_gpus(),
        }
    }

    /// `check` and `fit` run a program, whose first run may reach other machines: a client may ask its user first.
    fn annotations(self) -> ToolAnnotations {
        let is_look = !self.runs_a_program();
        ToolAnnotations::with_title(self.title())
            .read_only(is_look)
            .destructive(false)
            .idempotent(true)
            .open_world(!is_look)
    }

    /// The tool as clients see it.
    pub(crate) fn describe(self) -> Tool {
        Tool::new(self.name(), self.description(), self.input_schema())
            .with_title(self.title())
            .with_raw_output_schema(Arc::new(self.output_schema()))
            .with_annotations(self.annotations())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_tools_is_short_enough_for_a_model() {
        let tools: Vec<Tool> = ToolName::ALL.into_iter().map(ToolName::describe).collect();
        let text = serde_json::to_string(&tools).expect("tools are JSON");
        assert!(text.len() < 24 << 10, "{} bytes", text.len());
        for (tool, name) in tools.iter().zip(ToolName::ALL) {
            assert_eq!(ToolName::find(&tool.name), Some(name));
            assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
            let properties = tool.input_schema["properties"].as_object().expect("an object");
            for (key, property) in properties {
                assert!(property["description"].is_string(), "{}: {key}", tool.name);
            }
        }
        assert_eq!(ToolName::find("sweep"), None);
    }
}
