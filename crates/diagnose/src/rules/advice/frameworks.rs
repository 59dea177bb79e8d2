//! The switches of frameworks and engines: their share of the device, their pools, the length of what they serve.
//!
//! Sources: vLLM's `EngineArgs`, SGLang's `server_args.py`, TensorRT-LLM's `KvCacheConfig`, llama.cpp's `--help`, Ollama's FAQ, TensorFlow's
//! GPU guide, JAX's "GPU memory allocation", Paddle's flags, CuPy's memory guide, ONNX Runtime's CUDA provider options, CUDA.jl's memory page.

use trace::text::Framework;

/// A framework, a switch, and its effect; the most effective switch of each framework first.
pub(super) const TABLE: &[(Framework, &str, &str)] = &[
    (
        Framework::Vllm,
        "change --gpu-memory-utilization (gpu_memory_utilization)",
        "raise it if the KV cache is short and the device is free; lower it if other programs hold memory, or if a run ends in an error of PyTorch",
    ),
    (
        Framework::Vllm,
        "lower --max-model-len (max_model_len)",
        "one request of the full length must fit the KV cache; --max-num-seqs bounds how many run at once",
    ),
    (
        Framework::Vllm,
        "--tensor-parallel-size N, --kv-cache-dtype fp8, --enforce-eager, or quantized weights",
        "more devices, a smaller cache, no CUDA graphs, smaller weights",
    ),
    (
        Framework::Sglang,
        "raise --mem-fraction-static",
        "an error at the start: weights and KV cache do not fit the static share (an error of PyTorch at run time asks for a lower one)",
    ),
    (
        Framework::Sglang,
        "lower --context-length or --max-running-requests, or use --tp N",
        "the KV cache grows with tokens; more devices share the weights",
    ),
    (
        Framework::TensorRtLlm,
        "lower free_gpu_memory_fraction of KvCacheConfig",
        "0.9 of what is free by default; max_batch_size and max_seq_len bound the rest",
    ),
    (
        Framework::TensorRtLlm,
        "a smaller max_batch_size or max_num_tokens at build time",
        "activations and buffers are sized for them",
    ),
    (
        Framework::TensorRt,
        "lower the workspace limit",
        "config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, bytes), or --memPoolSize=workspace:MiB of trtexec",
    ),
    (
        Framework::TensorRt,
        "a smaller maximum shape of the optimization profile",
        "memory is reserved for the largest shape",
    ),
    (
        Framework::LlamaCpp,
        "put fewer layers on the GPU: a smaller -ngl (--n-gpu-layers)",
        "--fit of recent versions finds the number",
    ),
    (
        Framework::LlamaCpp,
        "a shorter context: a smaller -c (--ctx-size)",
        "the KV cache grows with it; --cache-type-k q8_0 and --cache-type-v q8_0 halve it",
    ),
    (
        Framework::Ollama,
        "a smaller num_ctx, or OLLAMA_CONTEXT_LENGTH",
        "the KV cache grows with it; OLLAMA_KV_CACHE_TYPE=q8_0 with OLLAMA_FLASH_ATTENTION=1 halves it",
    ),
    (
        Framework::Ollama,
        "a smaller num_gpu, OLLAMA_NUM_PARALLEL=1, or a smaller quantization",
        "fewer layers on the GPU, one request at a time",
    ),
    (
        Framework::TensorFlow,
        "tf.config.experimental.set_memory_growth(gpu, True)",
        "TensorFlow then takes memory as it needs it, not the whole device at the start; TF_GPU_ALLOCATOR=cuda_malloc_async against fragmentation",
    ),
    (Framework::TensorFlow, "a smaller batch", "activations scale with it"),
    (
        Framework::Jax,
        "XLA_PYTHON_CLIENT_MEM_FRACTION, or XLA_PYTHON_CLIENT_PREALLOCATE=false",
        "JAX takes 75 % of the device at the start by default; another process then gets none",
    ),
    (
        Framework::Jax,
        "a smaller batch, or jax.checkpoint",
        "jax.jit(f).lower(...).compile().memory_analysis() states the need without a run",
    ),
    (Framework::Paddle, "a smaller batch", "activations scale with it"),
    (
        Framework::Paddle,
        "FLAGS_fraction_of_gpu_memory_to_use, FLAGS_allocator_strategy=auto_growth",
        "the share that Paddle takes at the start",
    ),
    (
        Framework::CuPy,
        "free the pool: cupy.get_default_memory_pool().free_all_blocks()",
        "the pool keeps freed blocks; set_limit and CUPY_GPU_MEMORY_LIMIT bound it",
    ),
    (Framework::CuPy, "work in chunks", "an expression makes a temporary array for each operator"),
    (
        Framework::OnnxRuntime,
        "gpu_mem_limit and arena_extend_strategy=kSameAsRequested of the CUDA provider",
        "the arena doubles its size by default",
    ),
    (Framework::OnnxRuntime, "a smaller batch or input", "the arena holds all intermediate tensors"),
    (
        Framework::Rapids,
        "rmm.reinitialize(managed_memory=True), or a spilling pool",
        "dask-cuda spills with device_memory_limit",
    ),
    (Framework::Rapids, "smaller partitions", "an operation needs its input, its output and temporaries at once"),
    (
        Framework::Julia,
        "CUDA.reclaim() after GC.gc(true)",
        "arrays are freed when Julia collects them; JULIA_CUDA_HARD_MEMORY_LIMIT bounds the pool",
    ),
    (Framework::Julia, "CUDA.unsafe_free!(array) in loops", "frees before the next collection"),
    (
        Framework::Ray,
        "fewer tasks at once: more num_cpus of each, or a higher RAY_memory_usage_threshold",
        "Ray ends the newest task at 95 % of the node's memory; RAY_memory_monitor_refresh_ms=0 turns its monitor off",
    ),
    (Framework::MxNet, "a smaller batch", "MXNET_GPU_MEM_POOL_RESERVE keeps a share of the device free"),
    (
        Framework::Nvidia,
        "free memory of the whole machine first, where CPU and GPU share it",
        "on GB10 and Jetson the page cache counts: sync, then echo 3 > /proc/sys/vm/drop_caches; lower the share that the program takes",
    ),
];
