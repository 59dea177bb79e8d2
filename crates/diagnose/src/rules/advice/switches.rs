//! The switches of the programs that run out: an engine's share of the device, an interface's mode for small devices.
//!
//! Sources: vLLM's `EngineArgs`, SGLang's `server_args.py`, TensorRT-LLM's `KvCacheConfig`, ComfyUI's `cli_args.py`, the wiki of the
//! AUTOMATIC1111 web UI, llama.cpp's `--help`, Ollama's FAQ, TensorFlow's GPU guide, JAX's "GPU memory allocation", Paddle's flags, CuPy's
//! memory guide, ONNX Runtime's CUDA provider options, CUDA.jl's memory page.

use report::Remedy;
use trace::text::{Application, Framework};

use crate::rules::advice::advice;

/// Returns the switches of a framework, the most effective first.
pub(in crate::rules) fn of_framework(framework: Framework) -> Vec<Remedy> {
    let rows: &[(&str, &str)] = match framework {
        Framework::Vllm => VLLM,
        Framework::Sglang => SGLANG,
        Framework::TensorRtLlm => &[
            (
                "lower free_gpu_memory_fraction of KvCacheConfig",
                "0.9 of what is free by default; max_batch_size and max_seq_len bound the rest",
            ),
            ("a smaller max_batch_size or max_num_tokens at build time", "activations and buffers are sized for them"),
        ],
        Framework::TensorRt => &[
            (
                "lower the workspace limit",
                "config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, bytes), or --memPoolSize=workspace:MiB of trtexec",
            ),
            ("a smaller maximum shape of the optimization profile", "memory is reserved for the largest shape"),
        ],
        Framework::LlamaCpp => &[
            (
                "put fewer layers on the GPU: a smaller -ngl (--n-gpu-layers)",
                "--fit of recent versions finds the number",
            ),
            (
                "a shorter context: a smaller -c (--ctx-size)",
                "the KV cache grows with it; --cache-type-k q8_0 and --cache-type-v q8_0 halve it",
            ),
        ],
        Framework::Ollama => &[
            (
                "a smaller num_ctx, or OLLAMA_CONTEXT_LENGTH",
                "the KV cache grows with it; OLLAMA_KV_CACHE_TYPE=q8_0 with OLLAMA_FLASH_ATTENTION=1 halves it",
            ),
            (
                "a smaller num_gpu, OLLAMA_NUM_PARALLEL=1, or a smaller quantization",
                "fewer layers on the GPU, one request at a time",
            ),
        ],
        Framework::TensorFlow => &[
            (
                "tf.config.experimental.set_memory_growth(gpu, True)",
                "TensorFlow then takes memory as it needs it, not the whole device at the start; TF_GPU_ALLOCATOR=cuda_malloc_async against fragmentation",
            ),
            ("a smaller batch", "activations scale with it"),
        ],
        Framework::Jax => &[
            (
                "XLA_PYTHON_CLIENT_MEM_FRACTION, or XLA_PYTHON_CLIENT_PREALLOCATE=false",
                "JAX takes 75 % of the device at the start by default; another process then gets none",
            ),
            (
                "a smaller batch, or jax.checkpoint",
                "jax.jit(f).lower(...).compile().memory_analysis() states the need without a run",
            ),
        ],
        Framework::Paddle => &[
            ("a smaller batch", "activations scale with it"),
            (
                "FLAGS_fraction_of_gpu_memory_to_use, FLAGS_allocator_strategy=auto_growth",
                "the share that Paddle takes at the start",
            ),
        ],
        Framework::CuPy => &[
            (
                "free the pool: cupy.get_default_memory_pool().free_all_blocks()",
                "the pool keeps freed blocks; set_limit and CUPY_GPU_MEMORY_LIMIT bound it",
            ),
            ("work in chunks", "an expression makes a temporary array for each operator"),
        ],
        Framework::OnnxRuntime => &[
            (
                "gpu_mem_limit and arena_extend_strategy=kSameAsRequested of the CUDA provider",
                "the arena doubles its size by default",
            ),
            ("a smaller batch or input", "the arena holds all intermediate tensors"),
        ],
        Framework::Rapids => &[
            ("rmm.reinitialize(managed_memory=True), or a spilling pool", "dask-cuda spills with device_memory_limit"),
            ("smaller partitions", "an operation needs its input, its output and temporaries at once"),
        ],
        Framework::Julia => &[
            (
                "CUDA.reclaim() after GC.gc(true)",
                "arrays are freed when Julia collects them; JULIA_CUDA_HARD_MEMORY_LIMIT bounds the pool",
            ),
            ("CUDA.unsafe_free!(array) in loops", "frees before the next collection"),
        ],
        Framework::Ray => &[(
            "fewer tasks at once: more num_cpus of each, or a higher RAY_memory_usage_threshold",
            "Ray ends the newest task at 95 % of the node's memory; RAY_memory_monitor_refresh_ms=0 turns its monitor off",
        )],
        Framework::MxNet => &[("a smaller batch", "MXNET_GPU_MEM_POOL_RESERVE keeps a share of the device free")],
        Framework::Nvidia => &[(
            "free memory of the whole machine first, where CPU and GPU share it",
            "on GB10 and Jetson the page cache counts: sync, then echo 3 > /proc/sys/vm/drop_caches; lower the share that the program takes",
        )],
        _ => &[],
    };
    rows.iter().map(|(remedy, how)| advice(remedy, how)).collect()
}

/// Returns the switches of a program that runs PyTorch.
pub(in crate::rules) fn of_application(program: Application) -> Vec<Remedy> {
    let rows: &[(&str, &str)] = match program {
        Application::ComfyUi => &[
            (
                "start ComfyUI with --lowvram (or --novram)",
                "parts of the model stay in the host's memory; --reserve-vram GB leaves room for other programs",
            ),
            (
                "VAE Decode (Tiled), fp8 weights, a smaller image or batch",
                "the decoder's activations grow with the image",
            ),
        ],
        Application::WebUi => &[
            (
                "start with --medvram, or --lowvram for 4 GiB",
                "in COMMANDLINE_ARGS of webui-user; --medvram-sdxl for SDXL alone; Forge manages memory itself",
            ),
            (
                "--xformers or --opt-sdp-attention, a smaller image or batch",
                "on GTX 16xx cards --upcast-sampling in place of --no-half; drivers from 531 on spill into the host's memory",
            ),
        ],
        Application::InvokeAi => &[
            (
                "enable_partial_loading: true in invokeai.yaml",
                "max_cache_vram_gb and device_working_mem_gb bound what models take",
            ),
            ("a smaller image, or force_tiled_decode: true", "the decoder's activations grow with the image"),
        ],
        Application::Vllm => VLLM,
        Application::Sglang => &[
            (
                "lower --mem-fraction-static",
                "an error at run time: the static share leaves too little for activations (at the start, a too small share is raised instead)",
            ),
            (
                "lower --cuda-graph-max-bs, --chunked-prefill-size or --max-running-requests",
                "CUDA graphs and long prefills take what the static share leaves",
            ),
        ],
        Application::DeepSpeed => &[
            (
                "a higher ZeRO stage, or offload_optimizer and offload_param to the CPU",
                "\"zero_optimization\" of the DeepSpeed configuration",
            ),
            ("a smaller train_micro_batch_size_per_gpu", "gradient_accumulation_steps keeps the effective batch"),
        ],
        trainer => of_trainer(trainer),
    };
    rows.iter().map(|(remedy, how)| advice(remedy, how)).collect()
}

/// The switches of programs that train.
fn of_trainer(program: Application) -> &'static [(&'static str, &'static str)] {
    match program {
        Application::BlockSwapper => &[(
            "--blocks_to_swap N: blocks of the model stay in the host's memory until they are needed",
            "a larger N needs less of the device and is slower; with --gradient_checkpointing, and --fp8_base where the trainer has it",
        )],
        Application::Axolotl => &[(
            "gradient_checkpointing: true, a smaller micro_batch_size or sequence_len",
            "in axolotl's configuration; gradient_accumulation_steps keeps the effective batch, and sample_packing fills each sequence_len",
        )],
        Application::LlamaFactory => &[(
            "a smaller per_device_train_batch_size or cutoff_len",
            "in LLaMA-Factory's configuration; gradient_accumulation_steps keeps the effective batch",
        )],
        Application::Ultralytics => {
            &[("a smaller batch= or imgsz=; batch=-1 finds one", "of yolo train; validation takes twice the batch")]
        }
        Application::AiToolkit => &[(
            "keep a part of the model on the host: low_vram: true (ai-toolkit), the layer offload fraction (OneTrainer)",
            "with gradient checkpointing and a quantized base model",
        )],
        Application::Kohya => &[
            (
                "--gradient_checkpointing, --mixed_precision bf16, --cache_latents",
                "of sd-scripts; each lowers what a step keeps",
            ),
            (
                "a smaller --train_batch_size or --resolution",
                "--optimizer_type AdamW8bit or Adafactor halves the states and more",
            ),
        ],
        _ => &[],
    }
}

const VLLM: &[(&str, &str)] = &[
    (
        "change --gpu-memory-utilization (gpu_memory_utilization)",
        "raise it if the KV cache is short and the device is free; lower it if other programs hold memory, or if a run ends in an error of PyTorch",
    ),
    (
        "lower --max-model-len (max_model_len)",
        "one request of the full length must fit the KV cache; --max-num-seqs bounds how many run at once",
    ),
    (
        "--tensor-parallel-size N, --kv-cache-dtype fp8, --enforce-eager, or quantized weights",
        "more devices, a smaller cache, no CUDA graphs, smaller weights",
    ),
];

const SGLANG: &[(&str, &str)] = &[
    (
        "raise --mem-fraction-static",
        "an error at the start: weights and KV cache do not fit the static share (an error of PyTorch at run time asks for a lower one)",
    ),
    (
        "lower --context-length or --max-running-requests, or use --tp N",
        "the KV cache grows with tokens; more devices share the weights",
    ),
];
