//! Programs that run PyTorch and have switches of their own.

use std::collections::BTreeMap;

use serde::Serialize;

/// A program or library that a text names by a path or a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Application {
    /// ComfyUI.
    ComfyUi,
    /// The AUTOMATIC1111 web UI of Stable Diffusion, and Forge.
    WebUi,
    /// `InvokeAI`.
    InvokeAi,
    /// kohya's sd-scripts and their interface.
    Kohya,
    /// vLLM.
    Vllm,
    /// SGLang.
    Sglang,
    /// DeepSpeed.
    DeepSpeed,
}

/// A program that a text names, with the first line that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NamedApplication {
    /// The program.
    pub program: Application,
    /// The line, counted from 1.
    pub line: u32,
}

/// The programs named so far.
#[derive(Default)]
pub(super) struct Applications {
    lines: BTreeMap<Application, u32>,
}

impl Applications {
    /// Records that `line` names a program.
    pub(super) fn add(&mut self, program: Application, line: u32) {
        self.lines.entry(program).or_insert(line);
    }

    /// Tests that a program was named.
    pub(super) fn has(&self, program: Application) -> bool {
        self.lines.contains_key(&program)
    }

    /// Every program once.
    pub(super) fn finish(self) -> impl Iterator<Item = NamedApplication> {
        self.lines.into_iter().map(|(program, line)| NamedApplication { program, line })
    }
}
