//! Histories made by hand, without marks, as `torch.cuda.memory._record_memory_history()` records them: a program that
//! allocates and frees on lines with realistic stacks, on a device that can be full.

use std::collections::BTreeMap;

use trace::{
    Action, Address, Block, BlockState, Bytes, DeviceIndex, Event, Frame, Segment, SegmentKind, Snapshot,
    SnapshotSettings, StackId, Stream, UnknownAction,
};

/// The script whose lines make tensors.
pub(crate) const SCRIPT: &str = "/home/ann/gpt/train.py";
const TORCH: &str = "/home/ann/venv/lib/python3.11/site-packages/torch";
/// One MiB.
pub(crate) const MIB: u64 = 1 << 20;

/// A tensor in the program's hands: address and requested bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tensor(u64, u64);

/// The act of a stack, with the script's line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    /// A line of the script, nothing else.
    Script(u32),
    /// A helper's line, called by a line of `main`, which the script calls once.
    Called(u32, u32),
    /// `model.cuda()`.
    Placed(u32),
    /// A `Linear` in a model that the script's line calls.
    Linear(u32),
    /// A `Conv2d` in the model.
    Conv(u32),
    /// A `ReLU` in the model.
    Relu(u32),
    /// A hook of the script (its line) that such a call runs.
    Hook(u32),
    /// `cross_entropy` in the script.
    Loss(u32),
    /// A thread of autograd.
    Backward,
    /// Adam's `_init_group`.
    State(u32),
    /// Adam's step.
    Step(u32),
    ZeroGrad(u32),
}

/// A program's history.
pub(crate) struct Crash {
    snapshot: Snapshot,
    next: u64,
    cached: BTreeMap<u64, Vec<u64>>,
    /// Size of each segment, by address.
    segments: BTreeMap<u64, u64>,
    /// Size of each block in use, by address.
    live: BTreeMap<u64, u64>,
    /// True if C++ frames are recorded between Python's.
    native: bool,
}

impl Crash {
    /// A program that has done nothing yet.
    pub(crate) fn new() -> Crash {
        let snapshot = Snapshot { traces: vec![Vec::new()], ..Snapshot::default() };
        let (cached, segments, live) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Crash { snapshot, next: 1 << 30, cached, segments, live, native: false }
    }

    /// The same, recorded with `stacks="all"`.
    pub(crate) fn with_native_frames() -> Crash {
        Crash { native: true, ..Crash::new() }
    }

    /// The same, with settings of the allocator.
    pub(crate) fn with(settings: SnapshotSettings) -> Crash {
        let mut crash = Crash::new();
        crash.snapshot.settings = settings;
        crash
    }

    /// Makes a tensor of `mib` MiB, in a new segment or a free segment of that size.
    pub(crate) fn alloc(&mut self, at: At, mib: u64) -> Tensor {
        self.alloc_in(at, mib, mib)
    }

    /// Makes a tensor of `mib` in a segment of `segment` MiB.
    pub(crate) fn alloc_in(&mut self, at: At, mib: u64, segment: u64) -> Tensor {
        let stack = self.stack(at);
        let address = self.cached.get_mut(&segment).and_then(Vec::pop).unwrap_or_else(|| self.reserve(segment, stack));
        self.event(Action::Alloc, address, mib * MIB, stack);
        if self.snapshot.settings.max_split_size.is_some() {
            self.live.insert(address, segment * MIB); // What is larger than the limit is never split.
        }
        Tensor(address, mib * MIB)
    }

    /// Frees a tensor, at a line.
    pub(crate) fn free(&mut self, tensor: Tensor, at: At) {
        let stack = self.stack(at);
        self.event(Action::FreeRequested, tensor.0, tensor.1, stack);
        self.event(Action::FreeCompleted, tensor.0, tensor.1, stack);
        self.cached.entry(tensor.1 / MIB).or_default().push(tensor.0);
    }

    /// Frees all of the tensors.
    pub(crate) fn free_all(&mut self, tensors: impl IntoIterator<Item = Tensor>, at: At) {
        for tensor in tensors {
            self.free(tensor, at);
        }
    }

    /// `torch.cuda.empty_cache()`.
    pub(crate) fn empty_cache(&mut self, line: u32) {
        let stack = self.stack(At::Script(line));
        self.release(stack);
    }

    fn release(&mut self, stack: StackId) {
        for (mib, addresses) in std::mem::take(&mut self.cached) {
            for address in addresses {
                self.segments.remove(&address);
                self.event(Action::SegmentFree, address, mib * MIB, stack);
            }
        }
    }

    /// Makes two tensors of `mib` in one segment.
    pub(crate) fn pair(&mut self, at: At, mib: u64) -> [Tensor; 2] {
        let first = self.alloc_in(at, mib, 2 * mib);
        let second = Tensor(first.0 + mib * MIB, mib * MIB);
        let stack = self.stack(at);
        self.event(Action::Alloc, second.0, second.1, stack);
        [first, second]
    }

    /// Frees a tensor that shares its segment.
    pub(crate) fn free_part(&mut self, tensor: Tensor, at: At) {
        let stack = self.stack(at);
        self.event(Action::FreeRequested, tensor.0, tensor.1, stack);
        self.event(Action::FreeCompleted, tensor.0, tensor.1, stack);
    }

    /// A request of so many MiB fails with `free` MiB free on the device, after whole free segments were given back.
    pub(crate) fn oom(&mut self, at: At, mib: u64, free: u64) {
        let stack = self.stack(at);
        self.release(stack);
        self.event(Action::Oom, free * MIB, mib * MIB, stack);
    }

    /// An event that only later versions know, with the name of this number.
    pub(crate) fn unknown(&mut self, name: u8) {
        self.event(Action::Unknown(UnknownAction(name)), 0, 0, StackId::EMPTY);
    }

    /// PyTorch moves a tensor's segment to another address, and says so in a word of a later version.
    pub(crate) fn moved(&mut self, tensor: Tensor, name: u8) -> Tensor {
        self.unknown(name);
        let to = self.next;
        self.next += tensor.1 + 2 * MIB;
        self.live.remove(&tensor.0);
        self.live.insert(to, tensor.1);
        self.segments.remove(&tensor.0);
        self.segments.insert(to, tensor.1);
        Tensor(to, tensor.1)
    }

    /// The names of the unknown kinds of events.
    pub(crate) fn names(&mut self, names: &[&str]) {
        self.snapshot.unknown_actions = names.iter().map(|&name| name.into()).collect();
    }

    /// The snapshot that PyTorch would dump now, with all memory on `device`.
    pub(crate) fn dump(mut self, device: u32) -> Snapshot {
        let segments = self.segments.iter().map(|(&address, &size)| self.segment(device, address, size)).collect();
        self.snapshot.segments = segments;
        for _ in 0..device {
            self.snapshot.traces.insert(0, Vec::new());
        }
        self.snapshot
    }

    fn segment(&self, device: u32, address: u64, size: u64) -> Segment {
        let mut blocks = Vec::new();
        let mut at = address;
        for (&start, &held) in self.live.range(address..address + size) {
            blocks.extend((start > at).then(|| block(at, start - at, BlockState::Inactive)));
            blocks.push(block(start, held, BlockState::ActiveAllocated));
            at = start + held;
        }
        let end = address + size;
        blocks.extend((end > at).then(|| block(at, end - at, BlockState::Inactive)));
        Segment {
            device: DeviceIndex(device),
            address: Address(address),
            total_size: Bytes(size),
            allocated_size: self.live.range(address..end).map(|(_, &held)| Bytes(held)).sum(),
            stream: Stream::default(),
            kind: SegmentKind::Large,
            is_expandable: false,
            pool: None,
            stack: StackId::EMPTY,
            blocks,
        }
    }

    fn reserve(&mut self, mib: u64, stack: StackId) -> u64 {
        let address = self.next;
        self.next += (mib + 2) * MIB;
        self.segments.insert(address, mib * MIB);
        self.event(Action::SegmentAlloc, address, mib * MIB, stack);
        address
    }

    fn event(&mut self, action: Action, address: u64, size: u64, stack: StackId) {
        match action {
            Action::Alloc => drop(self.live.insert(address, size)),
            Action::FreeCompleted => drop(self.live.remove(&address)),
            _ => {}
        }
        let event = Event::new(action, Address(address), Bytes(size));
        self.snapshot.traces[0].push(Event { stack, ..event });
    }

    fn stack(&mut self, at: At) -> StackId {
        let frames = if self.native { among_native(frames(at), self.snapshot.traces[0].len()) } else { frames(at) };
        let frames: Vec<_> = frames.into_iter().map(|frame| self.snapshot.stacks.intern_frame(frame)).collect();
        self.snapshot.stacks.intern_stack(&frames)
    }
}

fn block(address: u64, size: u64, state: BlockState) -> Block {
    Block { address: Address(address), size: Bytes(size), requested_size: Bytes(size), state, stack: StackId::EMPTY }
}

fn frame(function: &str, file: &str, line: u32) -> Frame {
    let file = if file.starts_with('/') { file.to_owned() } else { format!("{TORCH}/{file}") };
    Frame { function: function.to_owned(), file, line }
}

/// A stack with `stacks="all"`: a line reaches the allocator in several ways, and autograd's threads have only C++
/// frames.
fn among_native(python: Vec<Frame>, event: usize) -> Vec<Frame> {
    let native = |function: &str, file: &str| Frame { function: function.to_owned(), file: file.to_owned(), line: 0 };
    let mut frames = vec![
        native("torch::unwind::unwind()", "??"),
        native("c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::allocate(unsigned long)", ""),
        native(["at::_ops::addmm::call()", "at::cuda::getCUDABlasLtWorkspace()"][event % 2], "RegisterCUDA.cpp"),
    ];
    if python.is_empty() {
        frames.push(native("torch::autograd::Engine::evaluate_function(std::shared_ptr<GraphTask>&)", "??"));
    }
    frames.extend(python.into_iter().flat_map(|frame| [frame, native("_PyEval_EvalFrameDefault", "??")]));
    frames
}

fn script(line: u32) -> Frame {
    frame("main", SCRIPT, line)
}

/// The call of a module.
fn call() -> [Frame; 2] {
    let module = "nn/modules/module.py";
    [frame("_call_impl", module, 1885), frame("_wrapped_call_impl", module, 1779)]
}

/// The frames around a module, when `line` of the script calls a model.
fn in_model(inner: &[Frame], line: u32) -> Vec<Frame> {
    let container = frame("forward", "nn/modules/container.py", 253);
    [inner, &call(), &[container], &call(), &[script(line)]].concat()
}

fn frames(at: At) -> Vec<Frame> {
    let module = "nn/modules/module.py";
    let adam = "optim/adam.py";
    match at {
        At::Script(line) => vec![script(line)],
        At::Called(line, by) => {
            let launcher = frame("launch", "/home/ann/gpt/launch.py", 3);
            vec![frame("helper", SCRIPT, line), frame("main", SCRIPT, by), frame("<module>", SCRIPT, 999), launcher]
        }
        At::Placed(line) => vec![
            frame("<lambda>", module, 1097),
            frame("_apply", module, 965),
            frame("cuda", module, 1097),
            script(line),
        ],
        At::Linear(line) => in_model(&[frame("forward", "nn/modules/linear.py", 134)], line),
        At::Conv(line) => in_model(&[frame("_conv_forward", "nn/modules/conv.py", 548)], line),
        At::Relu(line) => in_model(
            &[frame("relu", "nn/functional.py", 1723), frame("forward", "nn/modules/activation.py", 143)],
            line,
        ),
        At::Hook(line) => in_model(&[frame("hook", SCRIPT, line), frame("inner", module, 1842)], 999),
        At::Loss(line) => vec![frame("cross_entropy", "nn/functional.py", 3504), script(line)],
        At::Backward => Vec::new(),
        At::State(line) => vec![frame("_init_group", adam, 180), frame("step", adam, 236), script(line)],
        At::Step(line) => vec![frame("_multi_tensor_adam", adam, 791), frame("step", adam, 236), script(line)],
        At::ZeroGrad(line) => vec![frame("zero_grad", "optim/optimizer.py", 1031), script(line)],
    }
}
