//! Runs made by hand: a program that allocates and frees, with the agent's records beside it and its own account.

use diagnose::{CheckCase, RecordedRun, Runs, Surroundings};
use trace::run::{
    CensusRecord, CensusTime, CourseRecord, DeviceStats, EndReason, EndRecord, Ended, ErrorRecord, MemoryChange,
    OomRecord, PhaseName, ProcessRecord, ShortenedRecord, StageRecord, StepRecord, Workspace,
};
use trace::{
    Action, Address, Bytes, Category, Event, Frame, Launch, LifeStage, Mark, PhantomRecord, Phase, Process, Run,
    ShortenedReason, Snapshot,
};

/// The script whose lines make tensors.
pub(crate) const SCRIPT: &str = "/home/ann/gpt/train.py";

/// A tensor in the program's hands: address and requested bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tensor(pub(crate) u64, pub(crate) u64);

/// A program on a single device, recorded as it runs.
pub(crate) struct Program {
    pub(crate) process: Process,
    snapshot: Snapshot,
    mark: Mark,
    next: u64,
    stats: DeviceStats,
    /// True while the script itself allocates, and no function of PyTorch's.
    pub(crate) is_plain: bool,
}

impl Program {
    /// A program of rank 0 that has done nothing yet.
    pub(crate) fn new() -> Program {
        Program::of_rank(0)
    }

    /// A program of some rank that has done nothing yet, and is no part of a job.
    pub(crate) fn of_rank(rank: u32) -> Program {
        Program::of_job(rank, 1)
    }

    /// A program of some rank of a job, all on the first device.
    pub(crate) fn of_job(rank: u32, world_size: u32) -> Program {
        let identity = ProcessRecord {
            pid: 100 + rank,
            rank,
            world_size,
            argv: vec![SCRIPT.to_owned()],
            script_dir: "/home/ann/gpt".to_owned(),
            executable: "/venv/bin/python".to_owned(),
            torch: "2.11.0+cu130".to_owned(),
            ..ProcessRecord::default()
        };
        Program {
            process: Process { identity, ..Process::default() },
            snapshot: Snapshot { traces: vec![Vec::new()], ..Snapshot::default() },
            mark: Mark { step: 1, ..Mark::default() },
            next: 1 << 30,
            stats: DeviceStats::default(),
            is_plain: false,
        }
    }

    /// Enters another phase.
    pub(crate) fn enter(&mut self, phase: Phase) {
        self.mark.phase = phase;
    }

    /// Enters a stage of the program's life at a line of the script.
    pub(crate) fn visit(&mut self, stage: LifeStage, line: u32) {
        self.mark.stage = Some(stage);
        let name = stage.name().to_owned();
        if self.process.stages.iter().all(|record| record.stage != name) {
            let (step, file) = (self.mark.step, SCRIPT.to_owned());
            self.process.stages.push(StageRecord { stage: name, step, file, line });
        }
    }

    /// Shortens a loop: `skipped` steps were left out so far, if the agent counts them.
    pub(crate) fn shorten(&mut self, line: u32, reason: ShortenedReason, skipped: Option<u32>) {
        self.mark.skipped = skipped;
        let (file, total) = (SCRIPT.to_owned(), Some(30_000));
        self.process.shortened.push(ShortenedRecord { file, line, passes: 4, total, reason });
    }

    /// Makes a tensor on a line of the script; on line 0 without any stack, as autograd's threads do.
    pub(crate) fn alloc(&mut self, line: u32, bytes: u64) -> Tensor {
        let tensor = Tensor(self.next, bytes);
        self.next += 1 << 32;
        self.event(Action::Alloc, tensor, line);
        self.stats.allocated_bytes += block(bytes);
        self.stats.allocated_peak_bytes = self.stats.allocated_peak_bytes.max(self.stats.allocated_bytes);
        self.stats.reserved_bytes = self.stats.allocated_peak_bytes;
        self.stats.reserved_peak_bytes = self.stats.allocated_peak_bytes;
        tensor
    }

    /// Frees a tensor.
    pub(crate) fn free(&mut self, tensor: Tensor) {
        self.event(Action::FreeRequested, tensor, 0);
        self.event(Action::FreeCompleted, tensor, 0);
        self.stats.allocated_bytes -= block(tensor.1);
    }

    /// Notes the categories of some tensors.
    pub(crate) fn census(&mut self, tensors: &[(Category, Tensor)]) {
        self.mark.census += 1;
        let tensors = tensors.iter().map(|&(category, Tensor(address, bytes))| (category, 0, address, bytes));
        self.process.censuses.push(CensusRecord {
            number: self.mark.census,
            step: self.mark.step,
            when: CensusTime::Optimizer,
            tensors: tensors.collect(),
        });
    }

    /// Notes that a tensor is a library's workspace.
    pub(crate) fn workspace(&mut self, tensor: Tensor) {
        let Tensor(address, bytes) = tensor;
        self.process.ledger.workspaces.push(Workspace { library: "cublas".to_owned(), address, bytes });
    }

    /// Notes how many bytes are in use on the device.
    pub(crate) fn ledger(&mut self, used_bytes: u64) {
        let owner = "pytorch".to_owned();
        let change = MemoryChange { device: 0, owner, delta: 0, used_bytes };
        self.process.ledger.take(PhantomRecord::Memory(change));
    }

    /// The allocator empties its cache to serve a request.
    pub(crate) fn empty_cache_and_retry(&mut self) {
        self.stats.alloc_retries += 1;
    }

    /// Ends the optimizer step.
    pub(crate) fn end_step(&mut self) {
        let devices = vec![self.stats.clone()];
        self.process.steps.push(StepRecord { step: self.mark.step, devices, ..StepRecord::default() });
        self.mark.step += 1;
        self.mark.phase = Phase::Data;
    }

    /// The allocator raises on a line of the script, with `cached` bytes reserved and free.
    pub(crate) fn oom(&mut self, line: u32, requested_bytes: u64, cached: u64) {
        // The history has no segments, so all that the program may take counts as free.
        self.event(Action::Oom, Tensor(1000 << 20, requested_bytes), line);
        let mut stats = self.stats.clone();
        stats.reserved_bytes = stats.allocated_bytes + cached;
        self.process.ooms.push(OomRecord {
            requested_bytes,
            step: self.mark.step,
            phase: PhaseName(Some(self.mark.phase)),
            module: self.mark.module.clone(),
            stats,
            frames: vec![
                ("linear".to_owned(), "/v/lib/python3.11/site-packages/torch/nn/functional.py".to_owned(), 9),
                ("main".to_owned(), SCRIPT.to_owned(), line),
            ],
            ..OomRecord::default()
        });
    }

    /// As `oom`, and the handler at `handler` catches the error and makes a number smaller if `lowers` names one.
    pub(crate) fn caught_oom(&mut self, line: u32, requested_bytes: u64, handler: u32, lowers: Option<&str>) {
        self.oom(line, requested_bytes, 0);
        let oom = self.process.ooms.last_mut().unwrap();
        oom.caught_at = Some((SCRIPT.to_owned(), handler));
        oom.lowers = lowers.map(str::to_owned);
    }

    /// Ends with an exception.
    pub(crate) fn raise(mut self, type_name: &str, message: &str, oom: bool) -> Run {
        self.process.errors.push(ErrorRecord {
            type_name: type_name.to_owned(),
            message: message.to_owned(),
            oom,
            file: Some(SCRIPT.to_owned()),
            line: Some(7),
            ..ErrorRecord::default()
        });
        self.end(EndReason::Exception)
    }

    /// Ends for `reason`, with a snapshot.
    pub(crate) fn end(mut self, reason: EndReason) -> Run {
        self.process.end = Some(EndRecord {
            reason,
            steps: self.mark.step - 1,
            devices: vec![self.stats.clone()],
            snapshot: Some("rank0.snapshot.pickle".to_owned()),
            ..EndRecord::default()
        });
        // The agent looks ahead where it stops a program, and finds nothing here.
        self.process.course =
            (self.process.end.as_ref().map(|end| &end.reason) == Some(&EndReason::Steps)).then(CourseRecord::default);
        self.process.snapshot = Some(self.snapshot);
        Run { processes: vec![self.process] }
    }

    fn event(&mut self, action: Action, tensor: Tensor, line: u32) {
        let mark = self.mark_index();
        let stack = self.stack(line);
        let Tensor(address, size) = tensor;
        let event = Event::new(action, Address(address), Bytes(size));
        self.snapshot.traces[0].push(Event { stack, mark: Some(mark), ..event });
    }

    fn mark_index(&mut self) -> u32 {
        let marks = &mut self.snapshot.marks;
        if marks.last() != Some(&self.mark) {
            marks.push(self.mark.clone());
        }
        u32::try_from(marks.len() - 1).unwrap()
    }

    fn stack(&mut self, line: u32) -> trace::StackId {
        let frames = [("linear", "/v/lib/python3.11/site-packages/torch/nn/functional.py", 9), ("main", SCRIPT, line)];
        let stacks = &mut self.snapshot.stacks;
        let shown = match line {
            0 => &[][..],
            _ => &frames[usize::from(self.is_plain)..],
        };
        let frame = |&(function, file, line): &(&str, &str, u32)| Frame {
            function: function.to_owned(),
            file: file.to_owned(),
            line,
        };
        let ids = shown.iter().map(frame).map(|frame| stacks.intern_frame(frame)).collect::<Vec<_>>();
        stacks.intern_stack(&ids)
    }
}

/// The allocator's block for a request: the next multiple of 512 bytes.
pub(crate) fn block(requested: u64) -> u64 {
    requested.div_ceil(512) * 512
}

/// `run` on a device of 1 GiB, of which a context takes 24 MiB.
pub(crate) fn case(run: Run) -> CheckCase {
    CheckCase {
        runs: Runs::of(RecordedRun { launch: launch(), run }),
        gpu_assumed: false,
        assumptions: Vec::new(),
        hint: None,
        next: None,
        larger: None,
        folder: "/home/ann/gpt".to_owned(),
        surroundings: Surroundings::default(),
        seconds: 1.0,
    }
}

/// The launch of a program that ends with status 0.
pub(crate) fn launch() -> Launch {
    Launch {
        format: Launch::FORMAT,
        oomph: "0.1.0".to_owned(),
        command: vec!["/venv/bin/python".to_owned(), SCRIPT.to_owned()],
        gpu_name: "GPU".to_owned(),
        device_total_bytes: 1 << 30,
        device_others_bytes: 0,
        device_context_bytes: 24 << 20,
        devices: 1,
        unlimited: false,
        steps: 3,
        job: None,
        slurm_job: None,
        ended: Some(Ended { exit_code: Some(0), ..Ended::default() }),
        host: None,
        effects: None,
    }
}
