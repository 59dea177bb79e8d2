"""Compiled training, transforms and modes, of the half that the code was not written with. `case.py` says what a case is."""

from case import case

CASES = [
    case(
        "a checkpoint around a compiled block",
        """
        from torch.utils.checkpoint import checkpoint
        block = compiled(nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).to(device))
        x = torch.randn(2048, 1024, device=device, requires_grad=True)
        for reentrant in (True, False):
            checkpoint(block, x, use_reentrant=reentrant).sum().backward()
        answer = None
        """,
    ),
    case(
        "a compiled step of SGD with a schedule",
        """
        layer = nn.Linear(2048, 2048).to(device)
        optimizer = torch.optim.SGD(layer.parameters(), lr=torch.tensor(0.1, device=device), momentum=0.9)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=5)
        def update():
            optimizer.step()
            schedule.step()
        step = compiled(update)
        for _ in range(3):
            layer(torch.randn(512, 2048, device=device)).sum().backward()
            step()
            optimizer.zero_grad()
        answer = None
        """,
        high=1.6,
    ),
    case(
        "the whole step compiled",
        """
        layer = nn.Linear(2048, 2048).to(device)
        optimizer = torch.optim.Adam(layer.parameters(), foreach=True)
        def step(x):
            loss = layer(x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss
        fast = compiled(step)
        for _ in range(3):
            fast(torch.randn(512, 2048, device=device))
        answer = len(optimizer.state)
        """,
        high=1.6,
    ),
    case(
        "a Jacobian and a Hessian product",
        """
        from torch.func import jacrev, jvp, vmap
        weight = torch.randn(128, 128, device=device)
        def function(x):
            return torch.tanh(weight @ x) + torch.arange(128, device=x.device)
        x = torch.randn(128, device=device)
        answer = [list(compiled(jacrev(function))(x).shape), list(jvp(function, (x,), (x,))[1].shape), list(vmap(function)(torch.stack([x, x])).shape)]
        """,
        high=3,
    ),
    case(
        "random numbers and masks under vmap",
        """
        from torch.func import vmap
        def one(row):
            noise = torch.rand(8, device=row.device)
            kept = torch.where(row > 0, row, torch.zeros_like(row))
            return kept.clamp(min=1).sum() + noise.sum() + torch.ones(3, device=row.device).cumsum(0).sum()
        rows = torch.randn(16, 1024, device=device)
        answer = list(vmap(one, randomness="different")(rows).shape)
        """,
    ),
    case(
        "traced into a graph of operators with a copy",
        """
        from torch.fx.experimental.proxy_tensor import make_fx
        def function(x, lengths):
            mask = torch.arange(x.shape[1], device=x.device)[None] < lengths[:, None]
            return x.masked_fill(~mask, 0).sum(), lengths.clone().add_(1).max()
        x, lengths = torch.randn(8, 64, device=device), torch.tensor([1, 2, 3, 4, 5, 6, 7, 8]).to(device)
        graphs = [make_fx(function, tracing_mode=mode)(x, lengths) for mode in ("real", "fake", "symbolic")]
        answer = [len(graph(x, lengths)) for graph in graphs] + [lengths.tolist()]
        """,
    ),
    case(
        "real tensors made fake",
        """
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.symbolic_shapes import ShapeEnv
        layer = nn.Linear(256, 256).to(device)
        real = torch.tensor([1, 2, 3]).to(device)
        mode = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)
        fake = mode.from_tensor(real)
        with mode:
            out = layer(torch.empty(4096, 256, device=device))
            positive = torch.nonzero(fake)
            fake.add_(1)
            zeros = torch.zeros_like(fake)
        answer = [list(out.shape), positive.dim(), list(zeros.shape), real.tolist()]
        """,
    ),
    case(
        "a mode of the program's sees every operator once",
        """
        from torch.utils._python_dispatch import TorchDispatchMode
        class Names(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                names.append(str(function))
                return function(*args, **(kwargs or {}))
        names = []
        with Names():
            x = torch.zeros(8, device=device)
            x.fill_(3)
            y = (x + 1).sum()
            z = x[x > 0]
        answer = [name.partition(".")[2] for name in names]
        """,
    ),
    case(
        "an operator that changes its argument",
        """
        @torch.library.custom_op("oomphtest::bumped", mutates_args={"counts"})
        def bumped(counts: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            counts.add_(1)
            return x * 2
        @bumped.register_fake
        def _(counts, x):
            return torch.empty_like(x)
        counts = torch.zeros(4, dtype=torch.int64).to(device)
        fast = compiled(lambda x: bumped(counts, x).cos())
        for _ in range(2):
            out = fast(torch.randn(1024, 1024, device=device))
        answer = [list(out.shape), counts.tolist()]
        """,
    ),
    case(
        "blocks compiled one by one",
        """
        model = nn.Sequential(*[nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)) for _ in range(4)]).to(device)
        for index in range(4):
            model[index] = compiled(model[index])
        optimizer = torch.optim.AdamW(model.parameters(), fused=device == "cuda")
        for _ in range(3):
            with torch.autocast(device, torch.bfloat16):
                loss = model(torch.randn(4096, 512, device=device)).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        answer = None
        """,
    ),
    case(
        "experts whose tokens are gathered",
        """
        experts = nn.ModuleList([nn.Linear(512, 512) for _ in range(4)]).to(device)
        def route(x, chosen):
            out = torch.zeros_like(x)
            for index, expert in enumerate(experts):
                rows, = torch.where(chosen == index)
                out.index_add_(0, rows, expert(x[rows]))
            return out
        chosen = (torch.arange(8192) % 4).to(device)
        fast = compiled(route)
        for _ in range(2):
            fast(torch.randn(8192, 512, device=device), chosen).sum().backward()
        answer = None
        """,
        free=True,
        high=2.5,
    ),
    case(
        "sampling in a loop",
        """
        head = nn.Linear(512, 32000, bias=False).to(device)
        @torch.no_grad()
        def sample(hidden, temperature):
            top, places = (head(hidden) / temperature).topk(50)
            drawn = torch.multinomial(top.softmax(-1), 1)
            return places.gather(-1, drawn)
        fast = compiled(sample)
        ids = [fast(torch.randn(8, 512, device=device), 0.7) for _ in range(4)]
        answer = list(torch.cat(ids, 1).shape)
        """,
    ),
    case(
        "under a default device",
        """
        with torch.device(device):
            layer = nn.Linear(1024, 1024)
            def function(x):
                mask = torch.ones(len(x), dtype=torch.bool)
                mask[::2] = False
                return layer(x[mask]) + torch.arange(1024)
            answer = list(compiled(function)(torch.randn(4096, 1024)).shape)
        """,
        free=True,
    ),
    case(
        "a condition and a disabled part",
        """
        @torch.compiler.disable
        def plain(x):
            return x[x[:, 0] > 0]
        def function(x):
            y = torch.cond(x.shape[0] > 10, lambda it: it.cos(), lambda it: it.sin(), (x,))
            return plain(y).sum()
        answer = list(compiled(function)(torch.randn(4096, 1024, device=device)).shape)
        """,
    ),
    case(
        "ragged tensors",
        """
        rows = [torch.randn(length, 256, device=device) for length in (100, 200, 300)]
        ragged = torch.nested.nested_tensor(rows, layout=torch.jagged)
        layer = nn.Linear(256, 256).to(device)
        answer = list(compiled(lambda it: layer(it).relu())(ragged).values().shape)
        """,
    ),
    case(
        "backward compiled too",
        """
        torch._dynamo.config.compiled_autograd = device == "cuda"
        layer = nn.Linear(1024, 1024).to(device)
        def step(x):
            loss = layer(x).relu().sum()
            loss.backward()
        fast = compiled(step)
        for _ in range(3):
            fast(torch.randn(2048, 1024, device=device))
        answer = None
        """,
        high=1.6,
    ),
    case(
        "traced by TorchScript",
        """
        def function(x):
            return x[x[:, 0] > 0].cos().sum()
        x = torch.randn(2048, 1024, device=device)
        traced = torch.jit.trace(function, (x,), check_trace=False)
        scripted = torch.jit.script(nn.Sequential(nn.Linear(1024, 64), nn.ReLU()).to(device))
        answer = [list(traced(x).shape), list(scripted(x).shape)]
        """,
    ),
    case(
        "inference mode and copies of a state",
        """
        layer = nn.Linear(2048, 2048).to(device)
        fast = compiled(layer)
        with torch.inference_mode():
            for rows in (1024, 1024, 512):
                out = fast(torch.randn(rows, 2048, device=device))
                best = out.max(-1).indices[out[:, 0] > 0]
        answer = [list(out.shape), len(best)]
        """,
    ),
]
