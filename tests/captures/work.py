"""Captures and streams, the half that the code was written with. `check.py` says what a case is."""

from case import case

H100 = "an H100 with PyTorch of nvcr 23.11: alpha0422/study, cuda-graph/"
GUIDE = "CUDA C++ Programming Guide, Creating a Graph Using Stream Capture, "
HEADER = "cuda_runtime_api.h, CUDA 13.0, "
ALLOCATOR = "PyTorch 2.11, c10/cuda/CUDACachingAllocator.cpp, "

# The beginning of most programs.
START = """
graph = torch.cuda.CUDAGraph()
x = torch.ones(128, device="cuda")
side = torch.cuda.Stream()
"""

CASES = [
    case("item in a capture", START + "with torch.cuda.graph(graph): x.sum().item()", H100 + "005", 900),
    case("nonzero in a capture", START + "with torch.cuda.graph(graph): x.nonzero()", GUIDE + "Prohibited Operations", 900),
    case("a mask in a capture", START + "with torch.cuda.graph(graph): x[x > 0]", GUIDE + "Prohibited Operations", 900),
    case("a copy to the host in a capture", START + "with torch.cuda.graph(graph): x.cpu()", GUIDE + "Prohibited Operations", "captur"),
    case("the device is waited for", START + "with torch.cuda.graph(graph): torch.cuda.synchronize()", GUIDE + "Prohibited Operations", 900),
    case("the stream is waited for", START + "with torch.cuda.graph(graph): torch.cuda.current_stream().synchronize()", GUIDE + "Prohibited Operations", 900),
    case("the stream is asked", START + "with torch.cuda.graph(graph): torch.cuda.current_stream().query()", GUIDE + "Prohibited Operations", 900),
    case(
        "an event of the capture is asked",
        START + "event = torch.cuda.Event()\nwith torch.cuda.graph(graph):\n    x.add_(1)\n    event.record()\n    event.query()",
        GUIDE + "Prohibited Operations",
        907,
    ),
    case(
        "an event of the capture is waited for",
        START + "event = torch.cuda.Event()\nwith torch.cuda.graph(graph):\n    x.add_(1)\n    event.record()\n    event.synchronize()",
        GUIDE + "Prohibited Operations",
        907,
    ),
    case(
        "another thread asks an event during a global capture",
        START
        + """
import threading
event = torch.cuda.Event()
event.record()
answer = []
def ask():
    try:
        event.query()
    except RuntimeError as error:
        answer.append("not permitted when stream is capturing" in str(error))
try:
    with torch.cuda.graph(graph, capture_error_mode="global"):
        y = x + 1
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
except RuntimeError as error:
    answer.append("previous error during capture" in str(error))
""",
        H100 + "000",
        answer=[True, True],
    ),
    case(
        "another thread asks an event during a capture of its thread",
        START
        + """
import threading
event = torch.cuda.Event()
event.record()
answer = []
with torch.cuda.graph(graph, capture_error_mode="thread_local"):
    y = x + 1
    thread = threading.Thread(target=lambda: answer.append(event.query()))
    thread.start()
    thread.join()
""",
        H100 + "000",
        answer=[True],
    ),
    case(
        "another device is waited for",
        START
        + """
import threading
answer = []
def wait():
    torch.cuda.set_device(1)
    event = torch.cuda.Event()
    event.record()
    answer.append(event.query())
    torch.cuda.synchronize()
with torch.cuda.graph(graph, capture_error_mode="global"):
    x.add_(1)
    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
graph.replay()
""",
        "two RTX PRO 4000: ROCm/rocm-systems, pull request 4508",
        answer=[True],
    ),
    case("memory is allocated in a capture", START + 'with torch.cuda.graph(graph): torch.randn(1 << 22, device="cuda")', H100 + "003"),
    case(
        "memory is allocated behind PyTorch's back",
        START
        + """
import ctypes
cudart = ctypes.CDLL("libcudart.so.13")
address = ctypes.c_void_p()
answer = []
try:
    with torch.cuda.graph(graph):
        x.add_(1)
        answer.append(cudart.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(1 << 20)))
except RuntimeError as error:
    answer.append("previous error during capture" in str(error))
answer.append(cudart.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(1 << 20)))
""",
        HEADER + "cudaThreadExchangeStreamCaptureMode",
        answer=[900, True, 0],
    ),
    case(
        "a fork that is not joined",
        START
        + """
with torch.cuda.graph(graph):
    x.add_(1)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        x.mean()
""",
        H100 + "007",
        904,
    ),
    case(
        "a fork that is joined",
        START
        + """
with torch.cuda.graph(graph):
    x.add_(1)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    torch.cuda.current_stream().wait_stream(side)
    z = y + 1
graph.replay()
""",
        GUIDE + "Cross-stream Dependencies and Events",
    ),
    case(
        "work outside is waited for",
        START
        + """
with torch.cuda.stream(side):
    y = x * 2
with torch.cuda.graph(graph):
    x.add_(1)
    torch.cuda.current_stream().wait_stream(side)
""",
        H100 + "008",
        905,
    ),
    case(
        "work outside is waited for by an external event",
        START
        + """
event = torch.cuda.Event(external=True)
event.record(side)
with torch.cuda.graph(graph):
    event.wait()
    x.add_(1)
    event.record()
graph.replay()
answer = event.query()
""",
        "PyTorch 2.11, test/test_cuda.py, test_graph_timing and test_cuda_graph_external events",
        answer=True,
    ),
    case(
        "the legacy stream waits for a capture",
        START + "with torch.cuda.graph(graph):\n    x.add_(1)\n    torch.cuda.default_stream().wait_stream(torch.cuda.current_stream())",
        H100 + "009",
        906,
    ),
    case(
        "two captures meet",
        START
        + """
other, event = torch.cuda.CUDAGraph(), torch.cuda.Event()
with torch.cuda.stream(side):
    other.capture_begin(capture_error_mode="relaxed")
    x.add_(1)
    event.record()
third = torch.cuda.Stream()
try:
    with torch.cuda.stream(third):
        graph.capture_begin(capture_error_mode="relaxed")
        event.wait()
finally:
    pass
""",
        GUIDE + "Prohibited Operations: merge",
        902,
    ),
    case(
        "an empty capture",
        START
        + """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with torch.cuda.graph(graph):
        pass
answer = any("empty" in str(warning.message) for warning in caught)
""",
        "PyTorch 2.11, test/test_cuda.py, test_graph_capture_empty / CUDAGraph.cpp capture_end",
        answer=True,
    ),
    case(
        "a capture that is not empty",
        START
        + """
import warnings
a = torch.ones(64, 64, device="cuda")
torch.mm(a, a)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with torch.cuda.graph(graph):
        torch.mm(a, a)
answer = [str(warning.message)[:40] for warning in caught]
""",
        "PyTorch 2.11, CUDAGraph.cpp capture_end",
        answer=[],
    ),
    case(
        "a capture after one that failed",
        START
        + """
answer = []
try:
    with torch.cuda.graph(graph):
        x.sum().item()
except RuntimeError as error:
    answer.append(str(error).splitlines()[0])
second = torch.cuda.CUDAGraph()
with torch.cuda.graph(second):
    x.add_(1)
second.replay()
""",
        GUIDE + "Invalidation",
        answer=["CUDA error: operation failed due to a previous error during capture"],
    ),
    case(
        "nodes and edges of a fork",
        START
        + """
from cuda.bindings import driver
graph = torch.cuda.CUDAGraph(keep_graph=True)
with torch.cuda.graph(graph):
    x.add_(1)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        x.mul_(2)
    x.mul_(3)
    torch.cuda.current_stream().wait_stream(side)
    x.add_(2)
raw = driver.CUgraph(init_value=graph.raw_cuda_graph())
count = driver.cuGraphGetNodes(raw)[-1]
nodes = driver.cuGraphGetNodes(raw, count)[1]
edges = driver.cuGraphGetEdges(raw)[-1]
edges = [edges, len(set(map(int, driver.cuGraphGetEdges(raw, edges)[1])))]
kinds = sorted({int(driver.cuGraphNodeGetType(node)[1]) for node in nodes})
answer = [count, edges, kinds]
""",
        GUIDE + "Cross-stream Dependencies and Events",
        answer=[4, [4, 3], [0]],
    ),
    case(
        "flags of an executable graph",
        START
        + """
from cuda.bindings import driver
graph = torch.cuda.CUDAGraph(keep_graph=True)
with torch.cuda.graph(graph):
    x.add_(1)
graph.instantiate()
status, flags = driver.cuGraphExecGetFlags(driver.CUgraphExec(init_value=graph.raw_cuda_graph_exec()))
answer = [int(status), int(flags)]
""",
        "PyTorch 2.11, CUDAGraph.cpp, instantiate: AutoFreeOnLaunch (1) and UseNodePriority (8)",
        answer=[0, 9],
    ),
]

# A block of another stream's use, and whether a later request of the same capture gets it.
REUSE = (
    START
    + """
with torch.cuda.graph(graph):
    y = torch.empty(1 << 24, device="cuda")
    y.fill_(1)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        z = y.sum()
        y.record_stream(side)
    place = y.data_ptr()
    del y
    JOIN
    w = torch.empty(1 << 24, device="cuda")
    answer = w.data_ptr() == place
    torch.cuda.current_stream().wait_stream(side)
"""
)
JOIN = "torch.cuda.current_stream().wait_stream(side)\n    x.add_(1)"
REUSES = "graph_capture_record_stream_reuse:True"

CASES += [
    case("a block is reused after the join", REUSE.replace("JOIN", JOIN), ALLOCATOR + "free_safe_blocks_in_capture", answer=True, settings=REUSES),
    case("a block is not reused before the join", REUSE.replace("JOIN", "x.add_(1)"), ALLOCATOR + "free_safe_blocks_in_capture", answer=False, settings=REUSES),
    case("a block is not reused without the setting", REUSE.replace("JOIN", JOIN), ALLOCATOR + "free", answer=False),
    case(
        "the time between events of two devices",
        """
first, second = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
with torch.cuda.device(0):
    first.record()
with torch.cuda.device(1):
    second.record()
torch.cuda.synchronize(0)
torch.cuda.synchronize(1)
first.elapsed_time(second)
""",
        "PyTorch 2.11, test/test_cuda_multigpu.py, test_events_multi_gpu_elapsed_time",
        400,
    ),
    case(
        "contexts are made on the devices that are used",
        """
x = torch.randn(1, device="cuda:1")
contexts = lambda: [torch._C._cuda_hasPrimaryContext(device) for device in range(2)]
answer = [contexts()]
str(x)
torch.randn(1).copy_(x)
torch.randn(3).pin_memory()
torch.empty(3, pin_memory=True).is_pinned()
answer.append(contexts())
""",
        "PyTorch, test/test_cuda_primary_ctx.py",
        answer=[[False, True], [False, True]],
    ),
    case(
        "devices are counted before the driver is initialised",
        """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
count = ctypes.c_int(-1)
answer = [driver.cuDeviceGetCount(ctypes.byref(count)), driver.cuInit(0), driver.cuDeviceGetCount(ctypes.byref(count)), count.value]
""",
        "PyTorch 2.11, test/test_cuda.py, test_lazy_init / CUDA Driver API, Initialization",
        answer=[3, 0, 0, 2],
    ),
    case(
        "a host function in a capture",
        START
        + """
import ctypes
cudart = ctypes.CDLL("libcudart.so.13")
calls = []
function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: calls.append(1))
with torch.cuda.graph(graph):
    x.add_(1)
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    cudart.cudaLaunchHostFunc(stream, function, None)
    answer = [len(calls)]
graph.replay()
graph.replay()
torch.cuda.synchronize()
answer.append(len(calls))
""",
        HEADER + "cudaLaunchHostFunc; Graph host nodes run at each launch",
        answer=[0, 2],
    ),
]
