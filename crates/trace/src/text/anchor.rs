//! The strings that announce errors and tables in a text.
//!
//! Written in lower case and without blanks (Note [Text without blanks]). An anchor is a hint, not a proof: its reader
//! checks the surrounding text.

use std::sync::LazyLock;

use super::artifact::{Framework, OomKind};
use super::automaton::Automaton;
use super::look_alike::OtherFramework;

/// The meaning of an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// The head of an error, valid only with its numbers or at the end of a line.
    Head(Framework, OomKind),
    /// An error in any context.
    Sure(Framework, OomKind),
    /// A DataLoader worker; its fate follows.
    Worker,
    /// `Killed`, printed by a shell on a line of its own.
    Killed,
    /// PyTorch's log line about a refused request.
    Refusal,
    /// A part of the allocators' messages, whose beginning may be cut off.
    Part,
    /// The rank that torchrun names as the first to fail.
    RootCause,
    /// An error of another framework.
    Foreign(Framework),
    /// An error that is neither about a device nor about the host.
    Other(OtherFramework),
    /// An error of the driver, by name; the surrounding text shows the program.
    DriverError,
    /// Python's `MemoryError`.
    MemoryError,
    /// The class `OutOfMemoryError`, whose message follows or is cut off.
    Class,
    /// `out of memory`, from any program.
    Words,
    /// `torch.cuda.memory_summary()`.
    Summary,
    /// A key of `torch.cuda.memory_stats()`.
    Stats,
    /// The head of `nvidia-smi`'s table.
    SmiTable,
    /// The head of `nvidia-smi -q`.
    SmiQuery,
    /// A column of `nvidia-smi --format=csv`.
    SmiCsv,
    /// The table of a device in ComfyUI's report.
    DeviceTable,
    /// The number of workers that Ray killed precedes.
    RayKills,
}

use Anchor::{
    Class, DriverError, Foreign, Head, Other, Refusal, SmiCsv, SmiQuery, SmiTable, Stats, Summary, Sure, Words, Worker,
};
use Framework::{Cuda, Hip, Host, Mps, Npu, Xpu};
use OomKind::{
    Allocator, AsyncAllocator, Context, Cublas, Cudnn, DeviceCall, Ended, HostAllocation, MathLibrary, Nccl,
    SharedMemory,
};

/// Every anchor.
#[rustfmt::skip]
const ANCHORS: &[(&str, Anchor)] = &[
    // The caching allocators.
    ("cudaoutofmemory", Head(Cuda, Allocator)),
    ("hipoutofmemory", Head(Hip, Allocator)),
    ("xpuoutofmemory", Head(Xpu, Allocator)),
    ("npuoutofmemory", Head(Npu, Allocator)),
    ("mpsbackendoutofmemory", Head(Mps, Allocator)),
    ("cudaranoutofmemory", Head(Cuda, Allocator)),
    ("currentplatformcannotallocatememory", Head(Xpu, Allocator)), // Intel's extension, up to 2.1
    ("exceedallowedmemory", Sure(Cuda, AsyncAllocator)),
    ("allocationondevice", Head(Cuda, AsyncAllocator)),
    ("failedwithoomondevice", Refusal),
    ("triedtoallocate", Anchor::Part),
    ("alreadyallocated;", Anchor::Part),
    ("includingnon-pytorchmemory", Anchor::Part),
    ("oftheallocatedmemory", Anchor::Part),
    ("rootcause(firstobservedfailure)", Anchor::RootCause),
    // Calls of the device outside of the allocators.
    ("cudaerror:outofmemory", Head(Cuda, DeviceCall)),
    ("cudadrivererror:outofmemory", Head(Cuda, DeviceCall)),
    ("cudaruntimeerror(2):outofmemory", Sure(Cuda, DeviceCall)),
    ("error=2:outofmemory", Sure(Cuda, DeviceCall)),
    ("cudaerror:resourcealreadymapped", Sure(Cuda, DeviceCall)),
    ("curesulterror:2", Sure(Cuda, DeviceCall)),
    ("curesulterrorresult=2", Sure(Cuda, DeviceCall)),
    ("hiperror:outofmemory", Head(Hip, DeviceCall)),
    ("hiperroroutofmemory", Head(Hip, DeviceCall)),
    ("hipruntimeerror(2):outofmemory", Sure(Hip, DeviceCall)),
    ("ur_result_error_out_of_device_memory", Sure(Xpu, DeviceCall)),
    ("pi_error_out_of_resources", Sure(Xpu, DeviceCall)),
    ("error2:outofmemory", Sure(Cuda, Context)),
    ("outofmemory'errorwhiletryingtoinitializecuda", Sure(Cuda, Context)),
    // Libraries.
    ("cublas_status_alloc_failed", Sure(Cuda, Cublas)),
    ("cublas_status_not_initializedwhencalling`cublascreate", Sure(Cuda, Cublas)),
    ("cublasruntimeerror:resourceallocationfailed", Sure(Cuda, Cublas)),
    ("hipblas_status_alloc_failed", Sure(Hip, Cublas)),
    ("rocblas_status_memory_error", Sure(Hip, Cublas)),
    ("cudnn_status_alloc_failed", Sure(Cuda, Cudnn)),
    ("wasunabletofindanenginetoexecutethiscomputation", Sure(Cuda, Cudnn)),
    ("notenoughmemoryforworkspace!", Sure(Cuda, Cudnn)),
    ("cudaranoutofmemoryoutsidepytorch", Sure(Cuda, Cudnn)),
    ("cufft_alloc_failed", Sure(Cuda, MathLibrary)),
    ("cusolver_status_alloc_failed", Sure(Cuda, MathLibrary)),
    ("cusparse_status_alloc_failed", Sure(Cuda, MathLibrary)),
    ("curand_status_allocation_failed", Sure(Cuda, MathLibrary)),
    ("failedtocudacalloc", Sure(Cuda, Nccl)),
    ("failedtocudamalloc", Sure(Cuda, Nccl)),
    ("failedtocudahostalloc", Sure(Cuda, Nccl)),
    ("failedtocudahostcalloc", Sure(Cuda, Nccl)),
    ("cudafailure2'outofmemory'", Sure(Cuda, Nccl)),
    ("cudafailure'outofmemory'", Sure(Cuda, Nccl)),
    ("hipfailure'outofmemory'", Sure(Hip, Nccl)),
    // The host.
    ("youtriedtoallocate", Sure(Host, HostAllocation)),
    ("youtriedtommap", Sure(Host, HostAllocation)),
    ("unabletommap", Sure(Host, HostAllocation)),
    ("thepagingfileistoosmall", Sure(Host, HostAllocation)), // Windows' error 1455
    ("winerror1455]", Sure(Host, HostAllocation)),           // in any language
    ("oserror1455)", Sure(Host, HostAllocation)),            // Rust's
    ("winerror8]", Sure(Host, HostAllocation)),
    ("unabletoallocatesharedmemory(shm)forfile", Sure(Host, SharedMemory)),
    ("unabletoopensharedmemoryobject", Sure(Host, SharedMemory)),
    ("unabletowritetofile</torch_", Sure(Host, SharedMemory)),
    ("failedtoextend/dev/shm", Sure(Host, SharedMemory)),
    ("creatingsharedmemorysegment", Sure(Host, SharedMemory)),
    ("insufficientsharedmemory(shm)", Sure(Host, SharedMemory)),
    ("dataloaderworker(pid", Worker),
    ("invokedoom-killer", Sure(Host, OomKind::Killed)),
    ("oom-kill:constraint=", Sure(Host, OomKind::Killed)),
    ("outofmemory:killedprocess", Sure(Host, OomKind::Killed)),
    ("outofmemory:killprocess", Sure(Host, OomKind::Killed)),
    ("oom_reaper:reapedprocess", Sure(Host, OomKind::Killed)),
    ("oom_killevent", Sure(Host, OomKind::Killed)),
    ("oom-killevent", Sure(Host, OomKind::Killed)),
    ("oomkilled", Sure(Host, OomKind::Killed)),
    ("killedbytheoomkiller", Sure(Host, OomKind::Killed)),
    ("cgroupout-of-memoryhandler", Sure(Host, OomKind::Killed)),
    ("withresult'oom-kill'", Sure(Host, OomKind::Killed)),
    ("out_of_memory(exitcode", Sure(Host, OomKind::Killed)),
    ("lowmemory!atorbelow", Sure(Host, OomKind::Killed)),
    ("systemd-oomdkilled", Sure(Host, OomKind::Killed)),
    ("term_memlimit", Sure(Host, OomKind::Killed)),
    ("exceededstepmemorylimit", Sure(Host, OomKind::Killed)),
    ("exceededjobmemorylimit", Sure(Host, OomKind::Killed)),
    ("killed", Anchor::Killed),
    ("signal9(sigkill)", Sure(Host, Ended)),
    ("<signals.sigkill:9>", Sure(Host, Ended)),
    ("exitcode:-9", Sure(Host, Ended)),
    ("exitcode-9", Sure(Host, Ended)),
    ("exitcode=-9", Sure(Host, Ended)),
    ("returncode=-9", Sure(Host, Ended)),
    ("returncode-9", Sure(Host, Ended)),
    ("returncode:-9", Sure(Host, Ended)),
    ("withcode-9", Sure(Host, Ended)),
    ("exitstatus-9", Sure(Host, Ended)),
    ("sigkill(-9)", Sure(Host, Ended)),
    ("terminatedwithsignalsigkill", Sure(Host, Ended)),
    ("terminatedbysignal9", Sure(Host, Ended)),
    ("terminatedbysignalsigkill", Sure(Host, Ended)),
    ("killedbysignal9", Sure(Host, Ended)),
    ("killedbysignal:9", Sure(Host, Ended)),
    ("exitedonsignal9", Sure(Host, Ended)),
    ("exitedwithsignal9", Sure(Host, Ended)),
    ("signal:9(sigkill)", Sure(Host, Ended)),
    ("exitcode=137", Sure(Host, Ended)),
    ("exited(137)", Sure(Host, Ended)),
    ("afterusingallavailableram", Sure(Host, OomKind::Killed)), // Colab
    ("triedtoallocatemorememorythanisavailable", Sure(Host, OomKind::Killed)), // Kaggle
    ("exceedsthememoryusagethreshold", Sure(Framework::Ray, OomKind::Killed)),
    ("killedduetomemorypressure", Anchor::RayKills),
    ("failedduetooom.", Sure(Framework::Ray, OomKind::Killed)),
    ("exceededmemorylimit", Sure(Host, OomKind::Killed)),
    ("exitcode137", Sure(Host, Ended)),
    ("exitcode:137", Sure(Host, Ended)),
    ("withcode137", Sure(Host, Ended)),
    ("exitstatus137", Sure(Host, Ended)),
    // Others.
    ("oomwhenallocatingtensor", Foreign(Framework::TensorFlow)),
    ("resourceexhaustederror", Foreign(Framework::TensorFlow)),
    ("ranoutofmemorytryingtoallocate", Foreign(Framework::TensorFlow)),
    ("resource_exhausted:", Foreign(Framework::Jax)),
    ("cudamallocretryfailed:outofmemory", Foreign(Framework::MxNet)),
    ("cupy.cuda.memory.outofmemoryerror", Foreign(Framework::CuPy)),
    ("outofmemoryallocating", Foreign(Framework::CuPy)),
    ("cudaerrormemoryallocation:outofmemory", Foreign(Framework::CuPy)),
    ("resultsincuda_error_out_of_memory", Foreign(Framework::Numba)),
    ("outofmemoryerrorongpu", Foreign(Framework::Paddle)),
    ("outofmemoryerroroncpu", Foreign(Framework::Paddle)),
    ("failedtoallocatecuda", Foreign(Framework::LlamaCpp)),
    ("unabletoallocatecuda", Foreign(Framework::LlamaCpp)),
    ("allocatinggraph-buffersfailed", Foreign(Framework::LlamaCpp)),
    ("bfcarena::allocaterawinternal", Foreign(Framework::OnnxRuntime)),
    ("failedtoallocatememoryforrequestedbuffer", Foreign(Framework::OnnxRuntime)),
    ("noavailablememoryforthecacheblocks", Foreign(Framework::Vllm)),
    ("maximumnumberoftokensthatcanbestoredinkvcache", Foreign(Framework::Vllm)),
    ("islessthandesiredgpumemoryutilization", Foreign(Framework::Vllm)),
    ("islargerthantheavailablekvcachememory", Foreign(Framework::Vllm)),
    ("errorinmemoryprofiling", Foreign(Framework::Vllm)),
    ("pleasetrytoincrease--mem-fraction-static", Foreign(Framework::Sglang)),
    ("thememorycapacityisunbalanced", Foreign(Framework::Sglang)),
    ("decodeoutofmemory", Foreign(Framework::Sglang)),
    ("prefilloutofmemory", Foreign(Framework::Sglang)),
    ("requiresmoresystemmemory(", Foreign(Framework::Ollama)),
    ("outofgpumemory", Foreign(Framework::Julia)),
    ("maximumpoolsizeexceeded", Foreign(Framework::Rapids)),
    ("nv_err_no_memory", Foreign(Framework::Nvidia)),
    ("erroroutofmemoryatline", Sure(Cuda, DeviceCall)),
    ("amountofgpumemory(", Foreign(Framework::TensorRt)),
    ("cudaerrorinallocate:2(outofmemory)", Foreign(Framework::TensorRt)),
    ("cudaruntime(outofmemory)", Foreign(Framework::TensorRt)),
    ("outofmemory(requestedsize", Foreign(Framework::TensorRt)),
    ("duetoinsufficientgpumemory", Foreign(Framework::TensorRtLlm)),
    ("erroroutofdevicememory", DriverError),
    ("outofmemory(nofurtherinformation)", Foreign(Framework::TensorRt)),
    ("bad_alloc:out_of_memory", Foreign(Framework::Rapids)),
    ("rmm::out_of_memory", Foreign(Framework::Rapids)),
    ("thenoderunninglowonmemory", Sure(Framework::Ray, OomKind::Killed)),
    ("java.lang.outofmemoryerror", Other(OtherFramework::Java)),
    ("javaheapspace", Other(OtherFramework::Java)),
    ("memoryerror", Anchor::MemoryError),
    ("[errno12]cannotallocatememory", Sure(Host, HostAllocation)),
    ("std::bad_alloc", Sure(Host, HostAllocation)),
    ("cudamallocfailed:outofmemory", DriverError),
    ("cuda_error_out_of_memory", DriverError),
    ("outofmemoryerror", Class),
    ("outofmemory", Words),
    ("ranoutofmemory", Words),
    // Tables.
    ("pytorchcudamemorysummary,deviceid", Summary),
    (".all.allocated", Stats),
    (".all.current", Stats),
    ("driverversion:", SmiTable),
    ("nvsmilog", SmiQuery),
    ("memory.total[mib]", SmiCsv),
    ("memory.used[mib]", SmiCsv),
    ("memory.free[mib]", SmiCsv),
    ("used_gpu_memory[mib]", SmiCsv),
    ("used_memory[mib]", SmiCsv),
    ("torchvramtotal:", Anchor::DeviceTable),
];

/// The automaton of all anchors.
pub(super) static AUTOMATON: LazyLock<Automaton> = LazyLock::new(|| Automaton::new(patterns()));

/// The texts of all anchors, without blanks.
pub(super) fn patterns() -> impl Iterator<Item = &'static str> + Clone {
    ANCHORS.iter().map(|(pattern, _)| *pattern)
}

/// The meaning of an anchor, and its text without blanks.
pub(super) fn anchor(number: usize) -> (Anchor, &'static str) {
    let (pattern, anchor) = ANCHORS[number];
    (anchor, pattern)
}
