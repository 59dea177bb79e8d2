"""Programs about stream captures, streams and events, with the answer of a real GPU.

Each answer comes from a document, from PyTorch or from somebody's record of a real GPU, and was
written down before the program was run here. Every program runs in its own process, after
`import torch`.
"""

from case import case

# A block that two streams used is freed and the same size asked for again, all in one capture.
_FREED_IN_A_CAPTURE = """
    side = torch.cuda.Stream()
    y = torch.zeros(1024, device="cuda")
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        main = torch.cuda.current_stream()
        block = torch.ones(1024, device="cuda")
        side.wait_stream(main)
        with torch.cuda.stream(side):
            block.add_(1)
        block.record_stream(side)
        old = block.data_ptr()
        del block
        main.wait_stream(side)
        y.add_(1)
        answer = torch.ones(1024, device="cuda").data_ptr() == old
    g.replay()
"""


CASES = [
    # Captures that break, and the work that succeeds afterwards.
    case(
        "work after the capture broke",
        raises=901,
        source="CUDA C++ Programming Guide, Invalidation; driver_types.h "
        "cudaErrorStreamCaptureInvalidated",
        code="""
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            try:
                torch.cuda.current_stream().synchronize()
            except torch.AcceleratorError:
                pass
            x.add_(1)
        """,
    ),
    case(
        "end of a capture that broke",
        raises=901,
        source="CUDA C++ Programming Guide, Invalidation; ROCm/hip-tests "
        "Unit_hipStreamBeginCapture_Negative_CheckingSyncDuringCapture",
        code="""
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            x.add_(1)
            try:
                x.sum().item()
            except torch.AcceleratorError:
                pass
        """,
    ),
    case(
        "capture after a failed capture",
        answer=[False, 1.0],
        source="CUDA C++ Programming Guide, Invalidation; PyTorch 2.11 torch/cuda/graphs.py "
        "graph.__exit__ (the stream is not put back where capture_end raises)",
        code="""
        x = torch.zeros(4, device="cuda")
        bad, good = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(bad):
                x.add_(1)
                torch.cuda.synchronize()
        except torch.AcceleratorError:
            pass
        back = torch.cuda.current_stream() == torch.cuda.default_stream()
        with torch.cuda.graph(good):
            x.add_(1)
        good.replay()
        answer = [back, x[0].item()]
        """,
    ),
    case(
        "random numbers after a failed capture",
        raises="Offset increment outside graph capture encountered unexpectedly",
        source="PyTorch issue 172390; PyTorch 2.11 ATen/cuda/CUDAGeneratorImpl.h (capturing_); "
        "ace-step/ACE-Step-1.5 issue 587; repaired later by PyTorch pull requests 176752, 180395",
        code="""
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(g):
                x.add_(1)
                x.sum().item()
        except torch.AcceleratorError:
            pass
        torch.rand(4, device="cuda")
        """,
    ),
    case(
        "begun twice and ended twice",
        answer=[0, 401, 0, 401],
        source="ROCm/hip-tests Unit_hipStreamBeginCapture_Negative_Parameters and "
        "Unit_hipStreamEndCapture_Negative_Parameters",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        raw = ctypes.c_void_p(torch.cuda.Stream().cuda_stream)
        graph = ctypes.c_void_p()
        answer = [lib.cudaStreamBeginCapture(raw, 0) for _ in range(2)]
        answer += [lib.cudaStreamEndCapture(raw, ctypes.byref(graph)) for _ in range(2)]
        lib.cudaGetLastError()
        """,
    ),
    case(
        "capture on the default stream",
        raises="CUDA graphs must be captured on a non-default stream",
        source="PyTorch test_cuda.py test_graph_error",
        code="""
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        g.capture_begin()
        """,
    ),
    case(
        "capture ended on another stream",
        raises="Capture must end on the same stream it began on",
        source="PyTorch aten/src/ATen/cuda/CUDAGraph.cpp capture_end",
        code="""
        one, two = torch.cuda.Stream(), torch.cuda.Stream()
        x = torch.zeros(4, device="cuda")
        torch.cuda.synchronize()
        g = torch.cuda.CUDAGraph()
        with torch.cuda.stream(one):
            g.capture_begin()
            x.add_(1)
        with torch.cuda.stream(two):
            g.capture_end()
        """,
    ),
    # Threads and modes.
    case(
        "capture ended by another thread",
        raises=908,
        source="cuda_runtime_api.h cudaStreamEndCapture; ROCm/hip-tests "
        "Unit_hipStreamEndCapture_Negative_Thread",
        code="""
        from concurrent.futures import ThreadPoolExecutor
        stream = torch.cuda.Stream()
        x = torch.zeros(4, device="cuda")
        torch.cuda.synchronize()
        g = torch.cuda.CUDAGraph()
        def end():
            with torch.cuda.stream(stream):
                g.capture_end()
        with torch.cuda.stream(stream):
            g.capture_begin()
            x.add_(1)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(end).result()
        """,
    ),
    case(
        "relaxed capture ended by another thread",
        answer=1.0,
        source="cuda_runtime_api.h cudaStreamEndCapture; ROCm/hip-tests "
        "Unit_hipStreamEndCapture_Positive_Thread",
        code="""
        from concurrent.futures import ThreadPoolExecutor
        stream = torch.cuda.Stream()
        x = torch.zeros(4, device="cuda")
        torch.cuda.synchronize()
        g = torch.cuda.CUDAGraph()
        def end():
            with torch.cuda.stream(stream):
                g.capture_end()
        with torch.cuda.stream(stream):
            g.capture_begin(capture_error_mode="relaxed")
            x.add_(1)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(end).result()
        g.replay()
        answer = x[0].item()
        """,
    ),
    case(
        "another thread allocates in a global capture",
        answer=[900, 901],
        source="PyTorch test_cuda.py test_cuda_graph_error_options (the global mode is said to "
        "throw); cuda_runtime_api.h cudaThreadExchangeStreamCaptureMode",
        code="""
        import threading
        side = torch.cuda.Stream()
        x = torch.zeros(4, device="cuda")
        answer = []
        def work():
            try:
                with torch.cuda.stream(side):
                    torch.empty(1 << 22, device="cuda")
            except torch.AcceleratorError as error:
                answer.append(error.error_code)
        try:
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                x.add_(1)
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
        except torch.AcceleratorError as error:
            answer.append(error.error_code)
        """,
    ),
    case(
        "another thread waits in a thread local capture",
        answer=[2.0, 1.0],
        source="ROCm/hip-tests Unit_hipStreamBeginCapture_Negative_Concurrent_"
        "CheckingSyncDuringCapture; PyTorch test_cuda.py test_cuda_graph_error_options",
        code="""
        import threading
        side = torch.cuda.Stream()
        x = torch.zeros(4, device="cuda")
        answer = []
        def work():
            with torch.cuda.stream(side):
                answer.append((torch.ones(1 << 20, device="cuda") * 2).max().item())
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g, capture_error_mode="thread_local"):
            x.add_(1)
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        g.replay()
        answer.append(x[0].item())
        """,
    ),
    case(
        "polling thread with its own relaxed mode",
        answer=[True, 1.0],
        source="cuda_runtime_api.h cudaThreadExchangeStreamCaptureMode; ROCm/rocm-systems pull "
        "request 3176",
        code="""
        import ctypes, threading
        lib = ctypes.CDLL("libcudart.so.13")
        x = torch.zeros(4, device="cuda")
        mark = torch.cuda.Event()
        mark.record()
        answer = []
        def poll():
            mode = ctypes.c_int(2)
            lib.cudaThreadExchangeStreamCaptureMode(ctypes.byref(mode))
            answer.append(mark.query())
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            x.add_(1)
            thread = threading.Thread(target=poll)
            thread.start()
            thread.join()
        g.replay()
        answer.append(x[0].item())
        """,
    ),
    case(
        "loader thread beside a relaxed capture",
        answer=[0.0, 2.0, 4.0],
        source="cuda_runtime_api.h cudaThreadExchangeStreamCaptureMode; PyTorch test_cuda.py "
        "test_cuda_graph_error_options",
        code="""
        import queue, threading
        box, side = queue.Queue(), torch.cuda.Stream()
        x = torch.zeros(4, device="cuda")
        def load():
            with torch.cuda.stream(side):
                for i in range(3):
                    box.put(torch.full((4,), float(i)).pin_memory().cuda(non_blocking=True))
                side.synchronize()
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g, capture_error_mode="relaxed"):
            y = x * 2
            thread = threading.Thread(target=load)
            thread.start()
            thread.join()
        answer = []
        for _ in range(3):
            x.copy_(box.get())
            g.replay()
            answer.append(y[0].item())
        """,
    ),
    case(
        "number read on a free stream in a relaxed capture",
        answer=[6.0, 1.0],
        source="ROCm/hip-tests Unit_hipStreamBeginCapture_StreamSync_OngoingCapture; "
        "cuda_runtime_api.h cudaThreadExchangeStreamCaptureMode",
        code="""
        side = torch.cuda.Stream()
        x = torch.zeros(4, device="cuda")
        y = torch.full((4,), 6.0, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g, capture_error_mode="relaxed"):
            x.add_(1)
            with torch.cuda.stream(side):
                biggest = y.max().item()
        g.replay()
        answer = [biggest, x[0].item()]
        """,
    ),
    case(
        "other library on the default stream in a relaxed capture",
        answer=[[0, 0], [0.0, 1.0, 2.0, 3.0]],
        source="cuda_runtime_api.h cudaThreadExchangeStreamCaptureMode; CUDA C++ Programming Guide "
        "(the legacy stream is free beside a non-blocking capture)",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        x, a = torch.zeros(4, device="cuda"), torch.arange(4.0, device="cuda")
        b, p = torch.zeros(4, device="cuda"), ctypes.c_void_p()
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g, capture_error_mode="relaxed"):
            x.add_(1)
            codes = [lib.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(1024))]
            to, source = ctypes.c_void_p(b.data_ptr()), ctypes.c_void_p(a.data_ptr())
            codes.append(lib.cudaMemcpy(to, source, ctypes.c_size_t(16), 3))
        g.replay()
        answer = [codes, b.tolist()]
        """,
    ),
    case(
        "malloc in a global capture with the mode exchanged",
        answer=[0, 0, 0, 2],
        source="cuda_runtime_api.h cudaThreadExchangeStreamCaptureMode; PyTorch 2.11 "
        "c10/cuda/CUDAGraphsC10Utils.h CUDAStreamCaptureModeGuard",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        x = torch.zeros(4, device="cuda")
        mode, p = ctypes.c_int(2), ctypes.c_void_p()
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            x.add_(1)
            answer = [lib.cudaThreadExchangeStreamCaptureMode(ctypes.byref(mode))]
            answer.append(lib.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(1024)))
            answer.append(lib.cudaThreadExchangeStreamCaptureMode(ctypes.byref(mode)))
        g.replay()
        answer.append(mode.value)
        """,
    ),
    # Random numbers.
    case(
        "generator the graph does not know",
        raises="Attempt to increase offset for a CUDA generator not in capture mode",
        source="PyTorch aten/src/ATen/cuda/CUDAGeneratorImpl.cpp CUDAGeneratorState::increase; "
        "PyTorch issue 172390",
        code="""
        own = torch.Generator("cuda")
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            x.add_(torch.rand(4, device="cuda", generator=own))
        """,
    ),
    case(
        "new seed in a capture",
        raises="only if new seed is the same as the original seed",
        source="PyTorch test_cuda.py test_graph_manual_seed_mismatch_raises; pull request 162505",
        code="""
        torch.cuda.manual_seed(0)
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            torch.cuda.manual_seed(1)
        """,
    ),
    case(
        "random numbers of a replay",
        answer=[True, False],
        source="PyTorch test_cuda.py test_graph_rng_distributions",
        code="""
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            x = torch.rand(64, device="cuda")
        torch.cuda.manual_seed(7)
        g.replay()
        first = x.clone()
        g.replay()
        torch.cuda.manual_seed(7)
        eager = torch.rand(64, device="cuda")
        answer = [torch.equal(first, eager), torch.equal(first, x)]
        """,
    ),
    # Empty graphs.
    case(
        "graph of forks without work",
        answer=True,
        source="ROCm/hip-tests Unit_hipStreamBeginCapture_Positive_captureEmptyStreams; PyTorch "
        "test_cuda.py test_graph_warn_if_has_zero_nodes",
        code="""
        import warnings
        side = torch.cuda.Stream()
        g = torch.cuda.CUDAGraph()
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            with torch.cuda.graph(g):
                main = torch.cuda.current_stream()
                side.wait_stream(main)
                main.wait_stream(side)
        g.replay()
        answer = any("The CUDA Graph is empty" in str(w.message) for w in seen)
        """,
    ),
    case(
        "capture of work on the default stream",
        answer=[True, 1.0],
        source="H100 record alpha0422/study cuda-graph/015.lib-stream.py; PyTorch "
        "aten/src/ATen/cuda/CUDAGraph.cpp capture_end",
        code="""
        import warnings
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            with torch.cuda.graph(g):
                with torch.cuda.stream(torch.cuda.default_stream()):
                    x.add_(1)
        g.replay()
        empty = any("The CUDA Graph is empty" in str(w.message) for w in seen)
        answer = [empty, x[0].item()]
        """,
    ),
    case(
        "capture on the wrong device",
        answer=[True, 1.0],
        source="PyTorch issue 87894; aten/src/ATen/cuda/CUDAGraph.cpp capture_end",
        code="""
        import warnings
        x = torch.zeros(4, device="cuda:0")
        torch.cuda.synchronize(0)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            with torch.cuda.device(1):
                g = torch.cuda.CUDAGraph()
                with torch.cuda.graph(g):
                    x.add_(1)
                g.replay()
        empty = any("The CUDA Graph is empty" in str(w.message) for w in seen)
        answer = [empty, x[0].item()]
        """,
    ),
    # Memory in a capture.
    case(
        "block of two streams is kept in a capture",
        answer=False,
        source="PyTorch test_cuda.py test_graph_record_stream; pull request 158352",
        code=_FREED_IN_A_CAPTURE,
    ),
    case(
        "block of two streams is reused in a capture",
        answer=True,
        settings="graph_capture_record_stream_reuse:True",
        source="PyTorch pull requests 158352 and 162186",
        code=_FREED_IN_A_CAPTURE,
    ),
    case(
        "memory nodes",
        answer=[[0, 0], [10, 11]],
        source="cuda_runtime_api.h cudaMallocAsync and cudaFreeAsync; driver_types.h "
        "cudaGraphNodeType",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        g = torch.cuda.CUDAGraph(keep_graph=True)
        p = ctypes.c_void_p()
        with torch.cuda.graph(g):
            raw = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            codes = [lib.cudaMallocAsync(ctypes.byref(p), ctypes.c_size_t(1024), raw)]
            codes.append(lib.cudaFreeAsync(p, raw))
        count, nodes, kind = ctypes.c_size_t(2), (ctypes.c_void_p * 2)(), ctypes.c_int()
        lib.cudaGraphGetNodes(ctypes.c_void_p(g.raw_cuda_graph()), nodes, ctypes.byref(count))
        kinds = []
        for node in nodes:
            lib.cudaGraphNodeGetType(ctypes.c_void_p(node), ctypes.byref(kind))
            kinds.append(kind.value)
        g.replay()
        answer = [codes, sorted(kinds)]
        """,
    ),
    case(
        "pinned copies in a capture",
        answer=[10.0, 10.0],
        source="PyTorch aten/src/ATen/native/cuda/Copy.cu; pull request 172156",
        code="""
        there, back = torch.zeros(2).pin_memory(), torch.zeros(2).pin_memory()
        x = torch.zeros(2, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            x.copy_(there, non_blocking=True)
            back.copy_(x * 2, non_blocking=True)
        there.fill_(5)
        g.replay()
        torch.cuda.synchronize()
        answer = back.tolist()
        """,
    ),
    case(
        "pinned memory made in a capture",
        answer=[3.0, 3.0],
        source="PyTorch pull request 167507 and issue 171894; PyTorch 2.11 "
        "ATen/core/CachingHostAllocator.h",
        code="""
        x = torch.ones(2, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g, capture_error_mode="thread_local"):
            back = torch.empty(2, pin_memory=True)
            back.copy_(x * 3, non_blocking=True)
        g.replay()
        torch.cuda.synchronize()
        answer = back.tolist()
        """,
    ),
    # Whole programs that must run.
    case(
        "whole training step",
        answer=True,
        source="PyTorch docs, CUDA semantics, Whole-network capture",
        code="""
        net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Linear(16, 1)).cuda()
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        x, y = torch.randn(32, 8, device="cuda"), torch.randn(32, 1, device="cuda")
        def step():
            opt.zero_grad(set_to_none=True)
            loss = torch.nn.functional.mse_loss(net(x), y)
            loss.backward()
            opt.step()
            return loss
        torch.cuda.synchronize()
        with torch.cuda.stream(torch.cuda.Stream()):
            first = [step().item() for _ in range(3)][0]
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            loss = step()
        for _ in range(20):
            g.replay()
        answer = loss.item() < first
        """,
    ),
    case(
        "graphed module in a training loop",
        answer=True,
        source="PyTorch 2.11 torch/cuda/graphs.py; test_cuda.py "
        "test_graph_make_graphed_callables_same_pool",
        code="""
        net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).cuda()
        sample = torch.randn(4, 8, device="cuda", requires_grad=True)
        fast = torch.cuda.make_graphed_callables(net, (sample,))
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(3):
            opt.zero_grad(set_to_none=True)
            out = fast(torch.randn(4, 8, device="cuda", requires_grad=True))
            out.pow(2).mean().backward()
            opt.step()
        answer = all(p.grad is not None for p in net.parameters())
        """,
    ),
    case(
        "two graphs that share a pool",
        answer=[15.0, 15.0],
        source="PyTorch test_cuda.py test_graph_two_successive",
        code="""
        x = torch.ones(2, device="cuda")
        first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(first):
            y = x + 1
        with torch.cuda.graph(second, pool=first.pool()):
            z = y * 3
        x.fill_(4)
        first.replay()
        second.replay()
        answer = z.tolist()
        """,
    ),
    case(
        "host function in a graph",
        answer=[0, 0, 3],
        source="cuda_runtime_api.h cudaStreamAddCallback and cudaLaunchHostFunc; ROCm/hip-tests "
        "Unit_hipStreamBeginCapture_Positive_captureComplexGraph",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        calls = []
        note = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: calls.append(1))
        x = torch.zeros(4, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            x.add_(1)
            raw = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            answer = [lib.cudaLaunchHostFunc(raw, note, None), len(calls)]
        for _ in range(3):
            g.replay()
        torch.cuda.synchronize()
        answer.append(len(calls))
        """,
    ),
    case(
        "libraries in a capture after a warm-up",
        answer=[True, True, True],
        source="PyTorch docs, CUDA semantics, CUDA Graphs (warm-up); cupy tests of captured cuBLAS "
        "and cuFFT calls",
        code="""
        import ctypes
        lib = ctypes.CDLL("libcudart.so.13")
        a, image = torch.randn(16, 16, device="cuda"), torch.randn(1, 3, 8, 8, device="cuda")
        conv = torch.nn.Conv2d(3, 4, 3).cuda()
        calls = [lambda: a @ a, lambda: conv(image), lambda: torch.fft.fft(a)]
        torch.cuda.synchronize()
        with torch.cuda.stream(torch.cuda.Stream()), torch.no_grad():
            for call in calls * 2:
                call()
        answer = []
        for call in calls:
            g, count = torch.cuda.CUDAGraph(keep_graph=True), ctypes.c_size_t()
            with torch.no_grad(), torch.cuda.graph(g):
                out = call()
            lib.cudaGraphGetNodes(ctypes.c_void_p(g.raw_cuda_graph()), None, ctypes.byref(count))
            answer.append(count.value > 0)
        """,
    ),
    case(
        "cuSOLVER in a capture after a warm-up",
        answer=[2.0, 2.0, 2.0, 2.0],
        source="belief: the call without a check of its info flag waits for nothing",
        sure=False,
        code="""
        a = torch.eye(4, device="cuda") * 4
        torch.linalg.cholesky_ex(a)
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            lower = torch.linalg.cholesky_ex(a).L
        g.replay()
        answer = lower.diagonal().tolist()
        """,
    ),
    case(
        "compiled function with reduced overhead",
        answer=True,
        source="PyTorch docs, torch.compile (mode reduce-overhead) and CUDAGraph Trees",
        code="""
        a, b = torch.randn(8, 8, device="cuda"), torch.randn(8, 8, device="cuda")
        @torch.compile(mode="reduce-overhead")
        def product(p, q):
            return p @ q
        with torch.no_grad():
            for _ in range(4):
                torch.compiler.cudagraph_mark_step_begin()
                out = product(a, b).clone()
        answer = torch.allclose(out, a @ b, atol=1e-3)
        """,
    ),
]
