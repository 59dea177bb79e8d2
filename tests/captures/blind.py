"""Programs about stream captures, streams and events, with the answer of a real GPU.

Each answer comes from a document, from PyTorch or from somebody's record of a real GPU, and was
written down before the program was run here. Every program runs in its own process, after
`import torch`.
"""

from case import case

CASES = [
    # Calls that a capture forbids in its own thread.
    case(
        "item in a capture",
        raises=900,
        source="H100 record alpha0422/study cuda-graph/005.sync.py; "
        "PyTorch test_cuda.py test_cuda_graph_tensor_item_not_allowed",
        code="""
        x = torch.ones(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            total = (x + 1).sum().item()
        """,
    ),
    case(
        "nonzero in a capture",
        raises=900,
        source="PyTorch 2.11 c10/cuda/CUDAFunctions.h memcpy_and_sync; CUDA C++ Programming "
        "Guide, Prohibited and Unhandled Operations",
        code="""
        x = torch.zeros(8, device="cuda")
        x[2:4] = 1
        x.nonzero()
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            where = x.nonzero()
        """,
    ),
    case(
        "device wait in a relaxed capture",
        raises=900,
        source="CUDA C++ Programming Guide, Prohibited and Unhandled Operations (broader handle); "
        "ROCm/hip-tests Unit_hipStreamBeginCapture_Negative_CheckingSyncDuringCapture, all modes",
        code="""
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g, capture_error_mode="relaxed"):
            x.add_(1)
            torch.cuda.synchronize()
        """,
    ),
    case(
        "query of the capturing stream",
        raises=900,
        source="CUDA C++ Programming Guide, Prohibited and Unhandled Operations; ROCm/hip-tests "
        "Unit_hipStreamBeginCapture_Negative_CheckingSyncDuringCapture, all modes",
        code="""
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g, capture_error_mode="relaxed"):
            x.add_(1)
            torch.cuda.current_stream().query()
        """,
    ),
    case(
        "wait for another stream in a thread local capture",
        raises=900,
        source="cuda_runtime_api.h cudaThreadExchangeStreamCaptureMode; ROCm/hip-tests "
        "Unit_hipStreamBeginCapture_StreamSync_OngoingCapture_MThread",
        code="""
        side = torch.cuda.Stream()
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g, capture_error_mode="thread_local"):
            x.add_(1)
            side.synchronize()
        """,
    ),
    case(
        "cpu copy in a capture",
        raises="Cannot copy between CPU and CUDA tensors during CUDA graph capture",
        source="PyTorch pull request 172156 (aten/src/ATen/native/cuda/Copy.cu)",
        code="""
        x = torch.ones(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            y = (x * 2).cpu()
        """,
    ),
    case(
        "tolist in a capture",
        raises="Cannot copy between CPU and CUDA tensors during CUDA graph capture",
        source="PyTorch pull request 172156 (aten/src/ATen/native/cuda/Copy.cu); "
        "torch/csrc/utils/tensor_list.cpp copies to the CPU first",
        code="""
        x = torch.ones(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            numbers = (x * 2).tolist()
        """,
    ),
    case(
        "tensor from a list in a capture",
        raises="Cannot copy between CPU and CUDA tensors during CUDA graph capture",
        source="PyTorch pull requests 172156 and 175425",
        code="""
        x = torch.ones(2, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            x.add_(torch.tensor([1.0, 2.0], device="cuda"))
        """,
    ),
    case(
        "blocking copy of pinned memory in a capture",
        raises=900,
        source="PyTorch aten/src/ATen/native/cuda/Copy.cu (memcpy_and_sync where the copy is not "
        "non_blocking)",
        code="""
        host = torch.ones(4).pin_memory()
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            x.copy_(host)
        """,
    ),
    case(
        "cholesky checks its info in a capture",
        raises=900,
        source="belief: torch.linalg.cholesky reads its info flag with item()",
        sure=False,
        code="""
        a = torch.eye(8, device="cuda") * 4
        torch.linalg.cholesky(a)
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            torch.linalg.cholesky(a)
        """,
    ),
    case(
        "malloc by ctypes in a global capture",
        answer=[900, 901],
        source="cuda_runtime_api.h cudaThreadExchangeStreamCaptureMode; ROCm/hip-tests "
        "Unit_hipStreamBeginCapture_Negative_UnsafeCallsDuringCapture",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        answer = []
        try:
            with torch.cuda.graph(g):
                x.add_(1)
                p = ctypes.c_void_p()
                answer.append(lib.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(1024)))
                lib.cudaGetLastError()
        except torch.AcceleratorError as error:
            answer.append(error.error_code)
        """,
    ),
    case(
        "stream callback in a capture",
        answer=900,
        source="cuda_runtime_api.h cudaStreamAddCallback (not supported in a capture); "
        "ROCm/hip pull request 3821",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        note = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(print)
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(g):
                x.add_(1)
                raw = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
                answer = lib.cudaStreamAddCallback(raw, note, None, 0)
                lib.cudaGetLastError()
        except torch.AcceleratorError:
            pass
        """,
    ),
    case(
        "graph launched into a capture",
        answer=900,
        source="microsoft/onnxruntime pull request 32081 (measured on an H200, CUDA 12.6)",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        x = torch.zeros(4, device="cuda")
        first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(first):
            x.add_(1)
        ready = ctypes.c_void_p(first.raw_cuda_graph_exec())
        try:
            with torch.cuda.graph(second):
                x.mul_(2)
                raw = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
                answer = lib.cudaGraphLaunch(ready, raw)
                lib.cudaGetLastError()
        except torch.AcceleratorError:
            pass
        """,
    ),
    case(
        "replay in a capture",
        raises="Cannot prepare for replay during capturing stage",
        source="PyTorch aten/src/ATen/cuda/CUDAGeneratorImpl.cpp CUDAGeneratorState::"
        "replay_prologue; header of 2.11 (the default generator is registered with every graph)",
        code="""
        x = torch.zeros(4, device="cuda")
        first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(first):
            x.add_(1)
        with torch.cuda.graph(second):
            x.mul_(2)
            first.replay()
        """,
    ),
    # Events in and around a capture.
    case(
        "query of an event of the capture",
        raises=907,
        source="cuda_runtime_api.h cudaThreadExchangeStreamCaptureMode (relaxed mode does not "
        "help); driver_types.h cudaErrorCapturedEvent",
        code="""
        x = torch.zeros(4, device="cuda")
        mark = torch.cuda.Event()
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g, capture_error_mode="relaxed"):
            x.add_(1)
            mark.record()
            mark.query()
        """,
    ),
    case(
        "query of an older event in a global capture",
        raises=900,
        source="H100 record alpha0422/study cuda-graph/000.event.py; ROCm/hip pull request 3821",
        code="""
        x = torch.zeros(4, device="cuda")
        mark = torch.cuda.Event()
        mark.record()
        torch.cuda.synchronize()
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            x.add_(1)
            mark.query()
        """,
    ),
    case(
        "event of a capture after the capture",
        raises=1,
        source="NVIDIA/warp issues 983 and 556 (invalid argument unless recorded as external)",
        code="""
        x = torch.zeros(4, device="cuda")
        mark = torch.cuda.Event()
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            x.add_(1)
            mark.record()
        g.replay()
        mark.synchronize()
        """,
    ),
    case(
        "wait for work outside the capture",
        raises=905,
        source="H100 record alpha0422/study cuda-graph/008.isolation.py; CUDA C++ Programming "
        "Guide, Prohibited and Unhandled Operations",
        code="""
        side = torch.cuda.Stream()
        x = torch.zeros(4, device="cuda")
        y = torch.zeros(4, device="cuda")
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            y.add_(1)
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            x.add_(1)
            torch.cuda.current_stream().wait_stream(side)
            x.add_(y)
        """,
    ),
    case(
        "wait for an external event from outside",
        answer=[[0, 6], 1.0],
        source="cuda_runtime_api.h cudaStreamWaitEvent (cudaEventWaitExternal); PyTorch 2.11 "
        "c10/cuda/CUDAEvent.h block; PyTorch pull request 155372",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        x = torch.zeros(4, device="cuda")
        ready = torch.cuda.Event(external=True)
        ready.record()
        g = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(g):
            ready.wait()
            x.add_(1)
        count, nodes, kind = ctypes.c_size_t(2), (ctypes.c_void_p * 2)(), ctypes.c_int()
        lib.cudaGraphGetNodes(ctypes.c_void_p(g.raw_cuda_graph()), nodes, ctypes.byref(count))
        kinds = []
        for node in nodes:
            lib.cudaGraphNodeGetType(ctypes.c_void_p(node), ctypes.byref(kind))
            kinds.append(kind.value)
        g.replay()
        answer = [sorted(kinds), x[0].item()]
        """,
    ),
    case(
        "external events time a graph",
        answer=[[0, 7, 7], True],
        source="PyTorch test_cuda.py test_graph_timing; driver_types.h cudaGraphNodeType",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        x = torch.zeros(4, device="cuda")
        start, end = (torch.cuda.Event(enable_timing=True, external=True) for _ in range(2))
        g = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(g):
            start.record()
            x.add_(1)
            end.record()
        count, nodes, kind = ctypes.c_size_t(3), (ctypes.c_void_p * 3)(), ctypes.c_int()
        lib.cudaGraphGetNodes(ctypes.c_void_p(g.raw_cuda_graph()), nodes, ctypes.byref(count))
        kinds = []
        for node in nodes:
            lib.cudaGraphNodeGetType(ctypes.c_void_p(node), ctypes.byref(kind))
            kinds.append(kind.value)
        g.replay()
        torch.cuda.synchronize()
        answer = [sorted(kinds), start.elapsed_time(end) >= 0]
        """,
    ),
    case(
        "elapsed time outside a capture",
        answer=[True, True],
        source="cuda_runtime_api.h cudaEventElapsedTime; PyTorch 2.11 c10/cuda/CUDAEvent.h",
        code="""
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        x = torch.randn(64, 64, device="cuda")
        start.record()
        y = x @ x
        end.record()
        end.synchronize()
        answer = [start.query(), start.elapsed_time(end) >= 0]
        """,
    ),
    case(
        "elapsed time across devices",
        raises=400,
        source="CUDA C++ Programming Guide, Multi-Device System, Stream and Event Behavior; "
        "PyTorch test_cuda_multigpu.py test_events_multi_gpu_elapsed_time; ROCm/hip pull "
        "request 1992 (invalid handle)",
        code="""
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record(torch.cuda.default_stream(0))
        end.record(torch.cuda.default_stream(1))
        torch.cuda.synchronize(0)
        torch.cuda.synchronize(1)
        start.elapsed_time(end)
        """,
    ),
    # Forks and joins.
    case(
        "fork that is not joined",
        raises=904,
        source="H100 record alpha0422/study cuda-graph/007.outlet-stream.py; CUDA C++ Programming "
        "Guide, Cross-stream Dependencies and Events",
        code="""
        side = torch.cuda.Stream()
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                x.add_(1)
        """,
    ),
    case(
        "fork that works on after its join",
        raises=904,
        source="ROCm/hip-tests Unit_hipStreamBeginCapture_Negative_EndingCapwhenCapInProg",
        code="""
        side = torch.cuda.Stream()
        x = torch.zeros(4, device="cuda")
        y = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            main = torch.cuda.current_stream()
            side.wait_stream(main)
            with torch.cuda.stream(side):
                x.add_(1)
            main.wait_stream(side)
            with torch.cuda.stream(side):
                y.add_(1)
        """,
    ),
    case(
        "side stream that was never forked",
        raises=900,
        source="H100 record alpha0422/study cuda-graph/006.inlet-stream.py; PyTorch "
        "CUDACachingAllocator.cpp cudaMallocMaybeCapturing looks at the current stream only",
        code="""
        side = torch.cuda.Stream()
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            x.add_(1)
            with torch.cuda.stream(side):
                y = torch.ones(1 << 20, device="cuda")
        """,
    ),
    case(
        "default stream waits for the capture",
        raises=906,
        source="PyTorch issue 164302; driver_types.h cudaErrorStreamCaptureImplicit",
        code="""
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            x.add_(1)
            torch.cuda.default_stream().wait_stream(torch.cuda.current_stream())
        """,
    ),
    case(
        "backward reaches the default stream",
        raises=906,
        source="PyTorch issue 164302; H100 record alpha0422/study cuda-graph/009.grad-tape.py",
        code="""
        w = torch.ones(4, device="cuda", requires_grad=True)
        hidden = w * 3
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            (hidden * 2).sum().backward()
        """,
    ),
    case(
        "default stream beside a blocking capture",
        raises=906,
        source="cuda_runtime_api.h cudaStreamIsCapturing; CUDA C++ Programming Guide, Prohibited "
        "and Unhandled Operations (legacy stream)",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        x = torch.zeros(4, device="cuda")
        raw = ctypes.c_void_p()
        lib.cudaStreamCreate(ctypes.byref(raw))
        own = torch.cuda.ExternalStream(raw.value)
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g, stream=own):
            x.add_(1)
            with torch.cuda.stream(torch.cuda.default_stream()):
                x.add_(1)
        """,
    ),
    case(
        "two captures meet",
        raises=902,
        source="CUDA C++ Programming Guide, Prohibited and Unhandled Operations; ROCm/rocm-systems "
        "pull request 11589",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        x = torch.zeros(4, device="cuda")
        torch.cuda.synchronize()
        one, two = torch.cuda.Stream(), torch.cuda.Stream()
        for stream in (one, two):
            lib.cudaStreamBeginCapture(ctypes.c_void_p(stream.cuda_stream), 2)
        with torch.cuda.stream(two):
            x.add_(1)
        one.wait_stream(two)
        """,
    ),
    case(
        "capture ended on its fork",
        answer=903,
        source="driver_types.h cudaErrorStreamCaptureUnmatched; CHIP-SPV/chipStar pull "
        "request 1565",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        main, side = torch.cuda.Stream(), torch.cuda.Stream()
        lib.cudaStreamBeginCapture(ctypes.c_void_p(main.cuda_stream), 2)
        side.wait_stream(main)
        graph = ctypes.c_void_p()
        raw = ctypes.c_void_p(side.cuda_stream)
        answer = lib.cudaStreamEndCapture(raw, ctypes.byref(graph))
        lib.cudaGetLastError()
        """,
    ),
    case(
        "fork without work needs no join",
        answer=[1, False],
        source="ROCm/hip-tests Unit_hipStreamBeginCapture_Positive_InterStrmEventSync_Flags; CUDA "
        "C++ Programming Guide (ending a capture frees all its streams)",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        side = torch.cuda.Stream()
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(g):
            side.wait_stream(torch.cuda.current_stream())
            x.add_(1)
        count = ctypes.c_size_t()
        lib.cudaGraphGetNodes(ctypes.c_void_p(g.raw_cuda_graph()), None, ctypes.byref(count))
        with torch.cuda.stream(side):
            answer = [count.value, torch.cuda.is_current_stream_capturing()]
        """,
    ),
    case(
        "fork of a fork",
        answer=[7.0, 7.0],
        source="ROCm/hip-tests Unit_hipStreamBeginCapture_Positive_nestedStreamCapture",
        code="""
        one, two = torch.cuda.Stream(), torch.cuda.Stream()
        x = torch.zeros(2, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            main = torch.cuda.current_stream()
            one.wait_stream(main)
            with torch.cuda.stream(one):
                y = x + 1
            two.wait_stream(one)
            with torch.cuda.stream(two):
                y.mul_(2)
            one.wait_stream(two)
            main.wait_stream(one)
            z = y + 1
        x.fill_(2)
        g.replay()
        answer = z.tolist()
        """,
    ),
    case(
        "which streams capture",
        answer=[True, False, True, False],
        source="CUDA C++ Programming Guide, Cross-stream Dependencies and Events; PyTorch pull "
        "request 77673 (is_current_stream_capturing)",
        code="""
        side = torch.cuda.Stream()
        x = torch.zeros(4, device="cuda")
        answer = []
        def look(stream):
            with torch.cuda.stream(stream):
                answer.append(torch.cuda.is_current_stream_capturing())
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            main = torch.cuda.current_stream()
            look(main)
            look(side)
            side.wait_stream(main)
            look(side)
            x.add_(1)
            main.wait_stream(side)
        look(side)
        """,
    ),
    case(
        "nodes and edges of a diamond",
        answer=[3, 2, 2],
        source="CUDA C++ Programming Guide, Creating a Graph Using Stream Capture; "
        "cuda_runtime_api.h cudaGraphGetEdges",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        side = torch.cuda.Stream()
        x, y = torch.zeros(4, device="cuda"), torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(g):
            main = torch.cuda.current_stream()
            side.wait_stream(main)
            x.add_(1)
            with torch.cuda.stream(side):
                y.add_(1)
            main.wait_stream(side)
            x.add_(y)
        raw = ctypes.c_void_p(g.raw_cuda_graph())
        nodes, edges, roots = (ctypes.c_size_t() for _ in range(3))
        lib.cudaGraphGetNodes(raw, None, ctypes.byref(nodes))
        lib.cudaGraphGetEdges(raw, None, None, None, ctypes.byref(edges))
        lib.cudaGraphGetRootNodes(raw, None, ctypes.byref(roots))
        answer = [nodes.value, edges.value, roots.value]
        """,
    ),
    case(
        "nodes and edges of a chain",
        answer=[3, 2, [0, 0, 0]],
        source="PyTorch test_cuda.py test_cuda_graph_raw_graph; driver_types.h cudaGraphNodeType",
        code="""
        from cuda.bindings import runtime
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(g):
            x.add_(1)
            x.mul_(2)
            x.sub_(3)
        graph = runtime.cudaGraph_t(init_value=g.raw_cuda_graph())
        count = runtime.cudaGraphGetNodes(graph)[-1]
        nodes = runtime.cudaGraphGetNodes(graph, count)[1]
        kinds = [int(runtime.cudaGraphNodeGetType(node)[1]) for node in nodes]
        answer = [count, runtime.cudaGraphGetEdges(graph)[-1], kinds]
        """,
    ),
]
