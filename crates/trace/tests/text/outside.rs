//! Errors outside of the caching allocator: device calls, libraries, the host, the kernel, launchers.

use trace::text::Framework::{Cuda, Hip, Host, Ray, Xpu};
use trace::text::OomKind::{
    Allocator, Context, Cublas, Cudnn, DeviceCall, Ended, HostAllocation, Killed, MathLibrary, Nccl, SharedMemory,
};

use crate::expect::{CUDA, Case, Expect, all, bare, check, errors};
use crate::sizes::*;

const CALL: Expect = bare(Cuda, DeviceCall);
const BLAS: Expect = bare(Cuda, Cublas);
const DNN: Expect = bare(Cuda, Cudnn);
const MATH: Expect = bare(Cuda, MathLibrary);
const NCCL: Expect = bare(Cuda, Nccl);
const HOST: Expect = bare(Host, HostAllocation);
const SHM: Expect = bare(Host, SharedMemory);
const KILLED: Expect = bare(Host, Killed);
const ENDED: Expect = bare(Host, Ended);

/// Calls of the runtime and of the driver.
#[rustfmt::skip]
pub(crate) const DEVICE_CALLS: &[Case] = &[
    // Up to 0.4.1.
    ("RuntimeError: cuda runtime error (2) : out of memory at /pytorch/aten/src/THC/generic/THCStorage.cu:58", CALL),
    ("THCudaCheck FAIL file=/pytorch/aten/src/THC/generic/THCStorage.cu line=58 error=2 : out of memory", CALL),
    ("THCudaCheck FAIL file=/opt/conda/conda-bld/pytorch/aten/src/THC/THCGeneral.cpp line=70 error=2 : out of memory\nTraceback (most recent call last):\n  File \"main.py\", line 8, in <module>\n    net.cuda()\nRuntimeError: cuda runtime error (2) : out of memory at /opt/conda/conda-bld/pytorch/aten/src/THC/THCGeneral.cpp:70", CALL),
    ("RuntimeError: CUDA error: out of memory", CALL),
    ("RuntimeError: CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported at some other API call,so the stacktrace below might be incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1.", CALL),
    ("RuntimeError: CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1.\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.", CALL),
    ("torch.AcceleratorError: CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.", CALL),
    ("torch.AcceleratorError: CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.\nFor more detailed error information, run with CUDA_LOG_FILE=stderr", CALL),
    ("torch.AcceleratorError: CUDA error: out of memory", CALL),
    ("RuntimeError: CUDA driver error: out of memory", CALL),
    ("RuntimeError: CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62", CALL),
    ("[torch_memory_saver.cpp] CUresult error: 2 (out of memory)  file=csrc/utils.h func=cu_mem_create line=104", CALL),
    ("RuntimeError: CUDA error: resource already mapped", CALL),
    ("terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: out of memory", CALL),
    ("RuntimeError: HIP error: out of memory\nHIP kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.", bare(Hip, DeviceCall)),
    ("RuntimeError: level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)", bare(Xpu, DeviceCall)),
    ("RuntimeError: Native API failed. Native API returns: -5 (PI_ERROR_OUT_OF_RESOURCES) -5 (PI_ERROR_OUT_OF_RESOURCES)", bare(Xpu, DeviceCall)),
    // Contexts.
    ("RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 2: out of memory", bare(Cuda, Context)),
    ("RuntimeError: Got 'out of memory' error while trying to initialize CUDA. CUDA with nvcc does not work well with ASAN and it's probably the reason.", bare(Cuda, Context)),
    // The head alone.
    ("RuntimeError: CUDA out of memory.", CUDA),
    ("RuntimeError: CUDA out of memory", CUDA),
    ("2024-03-02 11:00:01 | ERROR | train:fit:88 - CUDA out of memory", CUDA),
    ("torch.OutOfMemoryError: HIP out of memory.", bare(Hip, Allocator)),
];

/// Libraries that allocate device memory themselves.
#[rustfmt::skip]
pub(crate) const LIBRARIES: &[Case] = &[
    ("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", BLAS),
    ("RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`", BLAS),
    ("RuntimeError: cublas runtime error : resource allocation failed at /pytorch/aten/src/THC/THCGeneral.cpp:216", BLAS),
    ("RuntimeError: CUDA error: HIPBLAS_STATUS_ALLOC_FAILED when calling `hipblasCreate(handle)`", bare(Hip, Cublas)),
    ("RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED", DNN),
    ("RuntimeError: GET was unable to find an engine to execute this computation", DNN),
    ("RuntimeError: FIND was unable to find an engine to execute this computation", DNN),
    ("RuntimeError: Not enough memory for workspace!", DNN),
    ("RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED. CUDA ran out of memory outside PyTorch's allocator. If this workload uses many dynamic shapes, cuDNN may need additional device memory.", DNN),
    ("RuntimeError: cuFFT error: CUFFT_ALLOC_FAILED", MATH),
    ("RuntimeError: cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling `cusolverDnCreate(handle)`", MATH),
    ("RuntimeError: CUDA error: CUSPARSE_STATUS_ALLOC_FAILED when calling `cusparseCreate(handle)`", MATH),
    ("torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1275, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.20.5\nncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nFailed to CUDA calloc 10485760 bytes", Expect { requested: Some(exactly(10_485_760)), ..NCCL }),
    ("torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:219, unhandled cuda error, NCCL version 2.19.3\nncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 2 'out of memory'", NCCL),
    ("node7:811:900 [3] include/alloc.h:98 NCCL WARN Cuda failure 'out of memory'", NCCL),
    ("node7:811:900 [3] NCCL WARN Failed to CUDA host alloc 4194304 bytes", Expect { requested: Some(exactly(4_194_304)), ..NCCL }),
];

#[rustfmt::skip]
pub(crate) const HOST_MEMORY: &[Case] = &[
    ("RuntimeError: [enforce fail at alloc_cpu.cpp:114] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 549755813888 bytes. Error code 12 (Cannot allocate memory)", Expect { requested: Some(exactly(549_755_813_888)), ..HOST }),
    ("RuntimeError: [enforce fail at CPUAllocator.cpp:64] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 1073741824 bytes. Error code 12 (Cannot allocate memory)", Expect { requested: Some(exactly(1_073_741_824)), ..HOST }),
    (r"RuntimeError: [enforce fail at ..\c10\core\CPUAllocator.cpp:72] data. DefaultCPUAllocator: not enough memory: you tried to allocate 8589934592 bytes. Buy new RAM!", Expect { requested: Some(exactly(8_589_934_592)), ..HOST }),
    (r"RuntimeError: [enforce fail at C:\actions-runner\pytorch\c10\core\impl\alloc_cpu.cpp:121] data. DefaultCPUAllocator: not enough memory: you tried to allocate 75497472 bytes.", Expect { requested: Some(exactly(75_497_472)), ..HOST }),
    ("RuntimeError: unable to mmap 6738415616 bytes from file </models/a.safetensors>: Cannot allocate memory (12)", Expect { requested: Some(exactly(6_738_415_616)), ..HOST }),
    ("RuntimeError: $ Torch: unable to mmap memory: you tried to mmap 12GB. at /pytorch/aten/src/TH/THAllocator.cpp:263", Expect { requested: Some(size(12_884_901_888, 12_884_901_888, 13_958_643_711)), ..HOST }),
    ("OSError: [WinError 1455] The paging file is too small for this operation to complete. Error loading \"C:\\Python310\\lib\\site-packages\\torch\\lib\\cublasLt64_11.dll\" or one of its dependencies.", HOST),
    ("OSError: [WinError 1455] Die Auslagerungsdatei ist zu klein", HOST),
    ("SafetensorError: The paging file is too small for this operation to complete. (os error 1455)", HOST),
    ("RuntimeError: unable to allocate shared memory(shm) for file </torch_4242_17>: Success (0)", SHM),
    ("RuntimeError: unable to open shared memory object </torch_4242_17> in read-write mode: Too many open files (24)", SHM),
    ("RuntimeError: unable to write to file </torch_4242_17>: No space left on device (28)", SHM),
    ("ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).", SHM),
    ("RuntimeError: DataLoader worker (pid 4711) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.", Expect { pid: Some(4711), ..SHM }),
    ("ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\nTraceback (most recent call last):\n  File \"fit.py\", line 9, in <module>\n    for batch in loader:\nRuntimeError: DataLoader worker (pid 4711) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.", Expect { pid: Some(4711), ..SHM }),
    ("RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed. ", Expect { pid: Some(4711), ..ENDED }),
    ("RuntimeError: DataLoader worker (pid(s) 4711, 4712) exited unexpectedly", Expect { pid: Some(4711), ..ENDED }),
];

/// The kernel, shells, schedulers, launchers.
#[rustfmt::skip]
pub(crate) const ENDS: &[Case] = &[
    ("Killed", ENDED),
    ("./train.sh: line 3: 31337 Killed                  python train.py --epochs 3", Expect { pid: Some(31337), ..ENDED }),
    ("[1]+  Killed                  python train.py", ENDED),
    ("zsh: killed     python train.py", ENDED),
    ("[88123.456] python invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0", KILLED),
    ("[88123.500] Out of memory: Killed process 31337 (python) total-vm:81234567kB, anon-rss:62914560kB, file-rss:2048kB, shmem-rss:0kB, UID:1000 pgtables:140000kB oom_score_adj:0", Expect { pid: Some(31337), process: Some(size(64_424_509_440, 64_424_509_440, 64_424_510_463)), ..KILLED }),
    ("[88123.500] Out of memory: Kill process 31337 (python) score 912 or sacrifice child", Expect { pid: Some(31337), ..KILLED }),
    ("May 02 10:00:00 node7 kernel: Memory cgroup out of memory: Killed process 808 (python3) total-vm:40000000kB, anon-rss:16777216kB, file-rss:0kB, shmem-rss:0kB", Expect { pid: Some(808), process: Some(size(17_179_869_184, 17_179_869_184, 17_179_870_207)), ..KILLED }),
    ("[88123.499] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/slurm/uid_1000/job_77,task_memcg=/slurm/uid_1000/job_77/step_0,task=python,pid=808,uid=1000", Expect { pid: Some(808), ..KILLED }),
    ("[88123.700] oom_reaper: reaped process 808 (python), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB", Expect { pid: Some(808), process: Some(size(0, 0, 1023)), ..KILLED }),
    ("slurmstepd: error: Detected 1 oom_kill event in StepId=77.batch. Some of the step tasks have been OOM Killed.", KILLED),
    ("slurmstepd: error: Detected 2 oom-kill event(s) in step 77.0 cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.", KILLED),
    ("slurmstepd: error: Exceeded step memory limit at some point.", KILLED),
    ("srun: error: node7: task 4: Out Of Memory", KILLED),
    ("systemd[1]: train.service: A process of this unit has been killed by the OOM killer.", KILLED),
    ("    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137", KILLED),
    ("The job exited with code 137", ENDED),
    ("[2024-05-14 02:40:31,011] [ERROR] [launch.py:322:sigkill_handler] ['python', '-u', 'train.py'] exits with return code = -9", ENDED),
    ("[rank: 1] Child process with PID 50412 terminated with code -9. Forcefully terminating all other processes", ENDED),
    ("torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with signal SIGKILL", ENDED),
    ("The exit codes of the workers are {SIGKILL(-9)}", ENDED),
    ("Loading checkpoint shards:  37%|###7      | 7/19 [02:50<05:02, 25.2s/it]Killed", ENDED),
    ("node_manager.cc:3277: 3 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons", bare(Ray, Killed)),
    ("Your session crashed after using all available RAM.", KILLED),
    ("subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGKILL: 9>.", ENDED),
    ("torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: -9) local_rank: 0 (pid: 5150) of binary: /usr/bin/python", Expect { pid: Some(5150), ..ENDED }),
    ("Root Cause (first observed failure):\n[0]:\n  time      : 2024-05-02_10:00:00\n  exitcode  : -9 (pid: 5150)\n  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID 5150", Expect { pid: Some(5150), ..ENDED }),
];

/// Every table of this file.
pub(crate) const TABLES: &[&[Case]] = &[DEVICE_CALLS, LIBRARIES, HOST_MEMORY, ENDS];

#[test]
fn every_wording_outside_of_the_allocator_is_read() {
    all(TABLES.iter().flat_map(|table| table.iter()).map(|(text, expect)| check(text.as_bytes(), expect)));
}

#[test]
fn a_process_that_ended_for_another_reason_is_no_error() {
    let texts = [
        "node_manager.cc:3277: 0 Workers (tasks / actors) killed due to memory pressure (OOM), 2 Workers crashed due to other reasons",
        "slurmstepd: error: *** JOB 991 ON n3 CANCELLED AT 2025-03-01T10:00:00 DUE TO TIME LIMIT ***\nKilled",
        "$ kill -9 7044\nfailed (exitcode: -9) local_rank: 1 (pid: 7044) of binary: /usr/bin/python3",
        "[ERROR] [launch.py:322:sigkill_handler] ['python', 'train.py'] exits with return code = -11",
    ];
    for text in texts {
        assert_eq!(errors(text.as_bytes()), [], "{text}");
    }
}
