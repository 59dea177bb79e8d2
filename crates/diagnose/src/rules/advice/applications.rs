//! The switches of programs that run PyTorch: an interface's mode for small devices, a trainer's settings.
//!
//! Sources: ComfyUI's `cli_args.py`, the wiki of the AUTOMATIC1111 web UI, SGLang's `server_args.py`.

use trace::text::Application;

/// A program, a switch, and its effect; the most effective switch of each program first. vLLM's are those of the framework.
pub(super) const TABLE: &[(Application, &str, &str)] = &[
    (
        Application::ComfyUi,
        "start ComfyUI with --lowvram (or --novram)",
        "parts of the model stay in the host's memory; --reserve-vram GB leaves room for other programs",
    ),
    (
        Application::ComfyUi,
        "VAE Decode (Tiled), fp8 weights, a smaller image or batch",
        "the decoder's activations grow with the image",
    ),
    (
        Application::WebUi,
        "start with --medvram, or --lowvram for 4 GiB",
        "in COMMANDLINE_ARGS of webui-user; --medvram-sdxl for SDXL alone; Forge manages memory itself",
    ),
    (
        Application::WebUi,
        "--xformers or --opt-sdp-attention, a smaller image or batch",
        "on GTX 16xx cards --upcast-sampling in place of --no-half; drivers from 531 on spill into the host's memory",
    ),
    (
        Application::InvokeAi,
        "enable_partial_loading: true in invokeai.yaml",
        "max_cache_vram_gb and device_working_mem_gb bound what models take",
    ),
    (
        Application::InvokeAi,
        "a smaller image, or force_tiled_decode: true",
        "the decoder's activations grow with the image",
    ),
    (
        Application::Sglang,
        "lower --mem-fraction-static",
        "an error at run time: the static share leaves too little for activations (at the start, a too small share is raised instead)",
    ),
    (
        Application::Sglang,
        "lower --cuda-graph-max-bs, --chunked-prefill-size or --max-running-requests",
        "CUDA graphs and long prefills take what the static share leaves",
    ),
    (
        Application::DeepSpeed,
        "a higher ZeRO stage, or offload_optimizer and offload_param to the CPU",
        "\"zero_optimization\" of the DeepSpeed configuration",
    ),
    (
        Application::DeepSpeed,
        "a smaller train_micro_batch_size_per_gpu",
        "gradient_accumulation_steps keeps the effective batch",
    ),
    (
        Application::BlockSwapper,
        "--blocks_to_swap N: blocks of the model stay in the host's memory until they are needed",
        "a larger N needs less of the device and is slower; with --gradient_checkpointing, and --fp8_base where the trainer has it",
    ),
    (
        Application::Axolotl,
        "gradient_checkpointing: true, a smaller micro_batch_size or sequence_len",
        "in axolotl's configuration; gradient_accumulation_steps keeps the effective batch, and sample_packing fills each sequence_len",
    ),
    (
        Application::LlamaFactory,
        "a smaller per_device_train_batch_size or cutoff_len",
        "in LLaMA-Factory's configuration; gradient_accumulation_steps keeps the effective batch",
    ),
    (
        Application::Ultralytics,
        "a smaller batch= or imgsz=; batch=-1 finds one",
        "of yolo train; validation takes twice the batch",
    ),
    (
        Application::AiToolkit,
        "keep a part of the model on the host: low_vram: true (ai-toolkit), the layer offload fraction (OneTrainer)",
        "with gradient checkpointing and a quantized base model",
    ),
    (
        Application::Kohya,
        "--gradient_checkpointing, --mixed_precision bf16, --cache_latents",
        "of sd-scripts; each lowers what a step keeps",
    ),
    (
        Application::Kohya,
        "a smaller --train_batch_size or --resolution",
        "--optimizer_type AdamW8bit or Adafactor halves the states and more",
    ),
];
