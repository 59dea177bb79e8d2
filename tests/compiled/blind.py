"""Compiled inference and graphs with breaks, the half that the code was not written with. `case.py` says what a case is."""

from case import case

CASES = [
    case(
        "rows that a score drops, twice in a forward",
        """
        class Two(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Linear(512, 512), nn.Linear(512, 512)
            def forward(self, x):
                x = self.first(x)
                x = x[x.sum(1) > 0]
                x = self.second(x)
                return x[x.amax(1) > -100].relu()
        model = Two().to(device)
        fast = compiled(model)
        optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
        answer = []
        for _ in range(3):
            out = fast(torch.randn(8192, 512, device=device))
            answer.append(list(out.shape))
            out.sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        """,
        usual=True,
    ),
    case(
        "where with one argument",
        """
        def places(x):
            rows, columns = torch.where(x > 0)
            return x[rows, columns].exp().sum(), rows.numel()
        x = torch.randn(512, 2048, device=device, requires_grad=True)
        loss, answer = compiled(places)(x)
        loss.backward()
        """,
        usual=True,
        # The compiled kernel's result is not known, and half of the elements are assumed.
        free=True,
    ),
    case(
        "consecutive values counted",
        """
        def runs(ids, x):
            values, counts = torch.unique_consecutive(ids, return_counts=True)
            return torch.repeat_interleave(x[: len(values)], counts, dim=0).tanh()
        ids = torch.tensor([0, 0, 1, 1, 1, 2, 3, 3]).to(device)
        x = torch.randn(16, 1 << 18, device=device)
        answer = list(compiled(runs, dynamic=True)(ids, x).shape)
        """,
        usual=True,
    ),
    case(
        "masked_select and bincount",
        """
        def counted(ids, x):
            counts = torch.bincount(ids, minlength=16)
            print("counted")
            chosen = torch.masked_select(x, x > 0)
            return chosen.square().sum() + counts.sum(), len(counts)
        ids = torch.tensor([1, 2, 40]).to(device)
        total, answer = compiled(counted, backend="aot_eager")(ids, torch.randn(2048, 1024, device=device))
        """,
        usual=True,
    ),
    case(
        "a list of lengths splits a batch",
        """
        def ragged(x, lengths):
            parts = torch.split(x, lengths.tolist())
            return torch.stack([part.mean(0) for part in parts])
        lengths = torch.tensor([100, 200, 724]).to(device)
        answer = list(compiled(ragged)(torch.randn(1024, 4096, device=device), lengths).shape)
        """,
    ),
    case(
        "sequences of any length",
        """
        model = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, dropout=0.0).to(device)
        fast = compiled(model, dynamic=True)
        optimizer = torch.optim.Adam(model.parameters())
        for length in (64, 100, 128, 200):
            fast(torch.randn(16, length, 256, device=device)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        answer = None
        """,
    ),
    case(
        "bounds of a marked dimension",
        """
        def scaled(x):
            return torch.softmax(x @ x.T, -1) @ x
        fast = compiled(scaled, fullgraph=True)
        answer = []
        for rows in (512, 768, 1024):
            x = torch.randn(rows, 512, device=device)
            torch._dynamo.mark_dynamic(x, 0, min=256, max=2048)
            answer.append(list(fast(x).shape))
        """,
    ),
    case(
        "eager when it would compile anew",
        """
        torch.compiler.set_stance("eager_on_recompile")
        layer = nn.Linear(1024, 1024).to(device)
        def selected(x):
            return layer(x[x[:, 0] > 0]).relu()
        fast = compiled(selected, dynamic=False)
        answer = [list(fast(torch.randn(rows, 1024, device=device)).shape) for rows in (1024, 1000, 2048)]
        """,
    ),
    case(
        "graphs of two shapes in one pool",
        """
        model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).to(device)
        fast = compiled(model, mode="reduce-overhead", dynamic=False)
        answer = []
        with torch.no_grad():
            for rows in (1024, 512, 1024, 512, 1024, 512):
                torch.compiler.cudagraph_mark_step_begin()
                answer.append(list(fast(torch.randn(rows, 1024, device=device)).shape))
        """,
        high=2.5,
    ),
    case(
        "a graph that a mask cuts, with reduced overhead",
        """
        layer = nn.Linear(1024, 1024).to(device)
        def cut(x):
            y = layer(x).relu()
            y = y[y.sum(1) >= 0]
            return layer(y).sum()
        fast = compiled(cut, mode="reduce-overhead")
        for _ in range(4):
            torch.compiler.cudagraph_mark_step_begin()
            fast(torch.randn(4096, 1024, device=device)).backward()
        answer = None
        """,
        high=2.5,
    ),
    case(
        "products that are tuned",
        """
        def products(a, b):
            return (a @ b).relu() @ b
        a, b = torch.randn(2048, 1024, device=device), torch.randn(1024, 1024, device=device)
        answer = list(compiled(products, mode="max-autotune-no-cudagraphs", fullgraph=True)(a, b).shape)
        """,
        high=3,
    ),
    case(
        "unique in a full graph",
        """
        torch._dynamo.config.capture_dynamic_output_shape_ops = True
        def classes(labels, x):
            found = torch.unique(labels)
            return x.index_select(0, found).cos()
        labels = (torch.arange(4096) % 10).to(device)
        answer = list(compiled(classes, fullgraph=True)(labels, torch.randn(64, 65536, device=device)).shape)
        """,
    ),
    case(
        "a mask in a full graph that trains",
        """
        torch._dynamo.config.capture_dynamic_output_shape_ops = True
        layer = nn.Linear(1024, 1024).to(device)
        def loss(x, keep):
            return layer(x[keep]).square().sum()
        fast = compiled(loss, fullgraph=True)
        keep = (torch.arange(4096) % 4 == 0).to(device)
        for _ in range(2):
            fast(torch.randn(4096, 1024, device=device), keep).backward()
        answer = None
        """,
    ),
    case(
        "lengths of a batch trim it inside",
        """
        torch._dynamo.config.capture_scalar_outputs = True
        def trimmed(x, length):
            rows = length.item()
            torch._check_is_size(rows)
            torch._check(rows <= x.shape[0])
            return x[:rows].exp()
        x = torch.randn(4096, 4096, device=device)
        answer = [list(compiled(trimmed)(x, torch.tensor(rows).to(device)).shape) for rows in (256, 4096)]
        """,
    ),
    case(
        "exported, saved, loaded",
        """
        import io
        model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU()).to(device).eval()
        program = torch.export.export(model, (torch.randn(8, 3, 128, 128, device=device),))
        file = io.BytesIO()
        torch.export.save(program, file)
        file.seek(0)
        module = compiled(torch.export.load(file).module())
        answer = list(module(torch.randn(8, 3, 128, 128, device=device)).shape)
        """,
    ),
    case(
        "exported for training and decomposed",
        """
        model = nn.Sequential(nn.Linear(512, 512), nn.Dropout(0.1), nn.Linear(512, 512)).to(device)
        program = torch.export.export(model, (torch.randn(64, 512, device=device),)).run_decompositions()
        answer = list(program.module()(torch.randn(64, 512, device=device)).shape)
        """,
    ),
    case(
        "a function of two outputs with its own backward",
        """
        class Split(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_non_differentiable(rows := (x[:, 0] > 0).long())
                ctx.save_for_backward(rows)
                return x * 2, rows
            @staticmethod
            def backward(ctx, grad, _):
                rows, = ctx.saved_tensors
                return grad * rows[:, None]
        layer = nn.Linear(1024, 1024).to(device)
        def through(x):
            y, rows = Split.apply(layer(x))
            return y[rows.bool()].sum() + y.sum()
        fast = compiled(through)
        for _ in range(2):
            fast(torch.randn(4096, 1024, device=device)).backward()
        answer = None
        """,
    ),
    case(
        "a selective checkpoint in a compiled model",
        """
        from functools import partial
        from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts
        def policy(ctx, op, *args, **kwargs):
            return CheckpointPolicy.MUST_SAVE if op == torch.ops.aten.mm.default else CheckpointPolicy.PREFER_RECOMPUTE
        layers = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).to(device)
        def forward(x):
            context = partial(create_selective_checkpoint_contexts, policy)
            return checkpoint(layers, x, use_reentrant=False, context_fn=context).sum()
        fast = compiled(forward)
        for _ in range(2):
            fast(torch.randn(2048, 1024, device=device, requires_grad=True)).backward()
        answer = None
        """,
    ),
]
