//! Programs that run PyTorch and have special switches, by the paths and commands around an error.

use std::collections::BTreeMap;

use memchr::memmem;
use serde::Serialize;

/// A program or library, named by a path or a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Application {
    /// ComfyUI.
    ComfyUi,
    /// The AUTOMATIC1111 web UI of Stable Diffusion, and Forge.
    WebUi,
    /// `InvokeAI`.
    InvokeAi,
    /// Trainers with blocks that can be swapped to the host: kohya's of FLUX, SD3 and Lumina, musubi-tuner, diffusion-pipe.
    BlockSwapper,
    /// axolotl.
    Axolotl,
    /// LLaMA-Factory.
    LlamaFactory,
    /// Ultralytics' YOLO.
    Ultralytics,
    /// ai-toolkit and OneTrainer.
    AiToolkit,
    /// kohya's sd-scripts and their interface.
    Kohya,
    /// vLLM.
    Vllm,
    /// SGLang.
    Sglang,
    /// DeepSpeed.
    DeepSpeed,
}

/// Parts of paths and commands. No anchors: a server prints a path on each line of a log.
const NAMES: [(&[u8], Application); 33] = [
    (b"ComfyUI", Application::ComfyUi),
    (b"comfyui", Application::ComfyUi),
    (b"/comfy/", Application::ComfyUi),
    (b"\\comfy\\", Application::ComfyUi),
    (b"stable-diffusion-webui", Application::WebUi),
    (b"webui-user", Application::WebUi),
    (b"sd_hijack", Application::WebUi),
    (b"sd_models.py", Application::WebUi),
    (b"call_queue.py", Application::WebUi),
    (b"invokeai", Application::InvokeAi),
    (b"flux_train", Application::BlockSwapper),
    (b"sd3_train", Application::BlockSwapper),
    (b"lumina_train", Application::BlockSwapper),
    (b"hunyuan_image_train", Application::BlockSwapper),
    (b"musubi", Application::BlockSwapper),
    (b"hv_train_network", Application::BlockSwapper),
    (b"wan_train_network", Application::BlockSwapper),
    (b"fpack_train_network", Application::BlockSwapper),
    (b"qwen_image_train", Application::BlockSwapper),
    (b"diffusion-pipe", Application::BlockSwapper),
    (b"axolotl", Application::Axolotl),
    (b"llamafactory", Application::LlamaFactory),
    (b"LLaMA-Factory", Application::LlamaFactory),
    (b"/ultralytics/", Application::Ultralytics),
    (b"ai-toolkit", Application::AiToolkit),
    (b"OneTrainer", Application::AiToolkit),
    (b"kohya_ss", Application::Kohya),
    (b"sd-scripts", Application::Kohya),
    (b"/vllm/", Application::Vllm),
    (b"vllm serve", Application::Vllm),
    (b"/sglang/", Application::Sglang),
    (b"sglang.launch_server", Application::Sglang),
    (b"/deepspeed/", Application::DeepSpeed),
];

/// Returns the programs that `text` names.
pub(super) fn named(text: &[u8]) -> impl Iterator<Item = Application> + '_ {
    let is_named = |name: &[u8]| memmem::find(text, name).is_some();
    NAMES.iter().filter(move |(name, _)| is_named(name)).map(|(_, application)| *application)
}

/// A named program, with the line of the first error near the name.
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

    /// Every program once.
    pub(super) fn finish(self) -> impl Iterator<Item = NamedApplication> {
        self.lines.into_iter().map(|(program, line)| NamedApplication { program, line })
    }
}
