//! Errors of other frameworks, and mentions of the error.

use trace::text::Framework::{
    self, CuPy, Host, Jax, LlamaCpp, MxNet, Numba, Nvidia, OnnxRuntime, Paddle, Rapids, Ray, TensorFlow, TensorRt, Vllm,
};
use trace::text::OtherFramework::{self, Java, Mention};

use crate::expect::{all, errors, look_alikes};

#[rustfmt::skip]
pub(crate) const OTHERS: &[(&str, Framework)] = &[
    ("tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[64,1024,1024] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc", TensorFlow),
    ("2023-01-01 10:00:00.0: W tensorflow/core/common_runtime/bfc_allocator.cc:491] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00GiB (rounded to 2147483648)requested by op Mul", TensorFlow),
    ("2023-01-01 10:00:00.0: E tensorflow/stream_executor/cuda/cuda_driver.cc:802] failed to allocate 3.90G (4188472064 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory", TensorFlow),
    ("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.", Jax),
    ("E external/xla/xla/stream_executor/cuda/cuda_driver.cc:100] failed to allocate 1.2G: CUDA_ERROR_OUT_OF_MEMORY: out of memory", Jax),
    ("mxnet.base.MXNetError: [10:00:00] src/storage/./pooled_storage_manager.h:161: cudaMalloc retry failed: out of memory", MxNet),
    ("cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,000,000,000 bytes (allocated so far: 16,000,000,000 bytes).", CuPy),
    ("cupy_backends.cuda.api.runtime.CUDARuntimeError: cudaErrorMemoryAllocation: out of memory", CuPy),
    ("numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY", Numba),
    ("ResourceExhaustedError: \n\n  Out of memory error on GPU 0. Cannot allocate 1.500000GB memory on GPU 0, 7.900000GB memory has been allocated and available memory is only 100.000000MB.", Paddle),
    ("Out of memory error on GPU 0. Cannot allocate 1.500000GB memory on GPU 0, 7.900000GB memory has been allocated", Paddle),
    ("ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8192.00 MiB on device 0: cudaMalloc failed: out of memory", LlamaCpp),
    ("CUDA error: out of memory\n  current device: 0, in function alloc at ggml/src/ggml-cuda/ggml-cuda.cu:503\n  cuMemCreate(&handle, reserve_size, &prop, 0)", LlamaCpp),
    ("ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 5368709120", LlamaCpp),
    ("onnxruntime.capi.onnxruntime_pybind11_state.RuntimeException: [ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : BFCArena::AllocateRawInternal Failed to allocate memory for requested buffer of size 536870912", OnnxRuntime),
    ("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.", Vllm),
    ("ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache (26064).", Vllm),
    ("ValueError: Free memory on device (10.50/23.64 GiB) on startup is less than desired GPU memory utilization (0.9, 21.28 GiB).", Vllm),
    ("[TRT] [E] 1: [defaultAllocator.cpp::allocate::19] Error Code 1: Cuda Runtime (out of memory)", TensorRt),
    ("[TRT] [E] 2: [virtualMemoryBuffer.cpp::resizePhysical::127] Error Code 2: OutOfMemory (no further information)", TensorRt),
    ("MemoryError: std::bad_alloc: out_of_memory: CUDA error at: /rapids/include/rmm/mr/device/cuda_memory_resource.hpp:70: cudaErrorMemoryAllocation out of memory", Rapids),
    ("ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.", Ray),
    ("MemoryError", Host),
    ("Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    x = [0] * 10**12\nMemoryError", Host),
    ("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 29.8 GiB for an array with shape (4000000000,) and data type float64", Host),
    ("numpy.core._exceptions.MemoryError: Unable to allocate 29.8 GiB for an array with shape (4000000000,) and data type float64", Host),
    ("OSError: [Errno 12] Cannot allocate memory", Host),
    ("terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc", Host),
    ("my_kernel.cu(33): CUDA_ERROR_OUT_OF_MEMORY", Nvidia),
    ("cudaMalloc failed: out of memory", Nvidia),
];

/// Errors of a memory that is none of a device or of the host.
#[rustfmt::skip]
const JAVA: &[&str] = &[
    "java.lang.OutOfMemoryError: Java heap space",
    "Exception in thread \"main\" java.lang.OutOfMemoryError: GC overhead limit exceeded",
];

#[rustfmt::skip]
pub(crate) const MENTIONS: &[&str] = &[
    "    except torch.cuda.OutOfMemoryError:",
    "except torch.OutOfMemoryError as error:",
    "        if \"out of memory\" in str(e):",
    "    elif 'CUDA out of memory' in str(error) and not last:",
    "    raise RuntimeError(\"CUDA out of memory. Tried to allocate 20.00 MiB\")",
    "with pytest.raises(RuntimeError, match='CUDA out of memory'):",
    "# CUDA out of memory. Lower the batch size if you see this.",
    "| WARNING: ran out of memory in validation, retrying batch",
    "I keep getting CUDA out of memory whenever the batch is larger than 8, why?",
    "How do I avoid \"RuntimeError: CUDA out of memory. Tried to allocate X GiB\"?",
    "You will see RuntimeError: CUDA out of memory. It is the commonest of errors.",
    "The next error is RuntimeError: CUDA out of memory. Tried to allocate X GiB but only Y GiB available.",
    "f\"CUDA out of memory. Tried to allocate {size} (GPU {index})\"",
    "Out of memory errors are reported by the allocator as described below.",
    "This guide is about CUDA Out of Memory: what it is and what helps",
    "grep -c 'CUDA out of memory' train.log",
    "Catch torch.cuda.OutOfMemoryError in your own code and lower the batch size.",
    "If you run out of memory, use gradient checkpointing.",
    "return \"CUDA error: out of memory\" in message",
    "assert \"CUBLAS_STATUS_ALLOC_FAILED\" in message",
];

/// Texts without a mention.
#[rustfmt::skip]
const NOTHING: &[&str] = &[
    "",
    "epoch 1 loss 0.25 memory 1024.00 MiB",
    "The process was killed by the user",
    "Tried to allocate 20.00 MiB.",
    "DataLoader worker (pid 4711) is killed by signal: Segmentation fault. ",
    "CUDA error: an illegal memory access was encountered",
    "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasSgemm(handle)`",
    "reached 137 steps; exit code 0",
    "Increase it if out-of-memory errors persist",
    "Driver Version: unknown",
    "memory.used [MiB]",
    "the key reserved_bytes.all.current is what you want",
];

#[test]
fn errors_of_other_frameworks_are_named_and_never_taken_for_pytorchs() {
    all(OTHERS.iter().map(|(text, framework)| {
        let found: Vec<Framework> = errors(text.as_bytes()).iter().map(|oom| oom.framework).collect();
        if found == [*framework] { Ok(()) } else { Err(format!("{text}\n{found:?}")) }
    }));
    all(JAVA.iter().map(|text| holds(text, &[Java])));
}

#[test]
fn words_about_the_error_are_no_error() {
    all(MENTIONS.iter().map(|text| holds(text, &[Mention])));
}

#[test]
fn texts_that_do_not_speak_of_it_give_nothing() {
    all(NOTHING.iter().map(|text| holds(text, &[])));
}

fn holds(text: &str, expected: &[OtherFramework]) -> Result<(), String> {
    let found = (errors(text.as_bytes()), look_alikes(text));
    if found == (Vec::new(), expected.to_vec()) { Ok(()) } else { Err(format!("{text}\n{found:#?}")) }
}

#[test]
fn one_look_alike_of_a_framework_stands_for_all_and_counts_them() {
    let text = "if 'out of memory' in a:\nx\nif 'out of memory' in b:\n".repeat(1000);
    let found = trace::text::read(text.as_bytes());
    assert!(
        matches!(&found[..], [trace::text::Artifact::LookAlike(one)] if one.occurrences == 2000 && one.line == 1),
        "{found:?}"
    );
}
