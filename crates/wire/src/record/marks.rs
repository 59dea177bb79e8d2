//! The table of the agent's records: the lines of `*.marks.jsonl`. Note [Records] in `kinds.rs` reads it.

/// Calls the macro `$consumer` with the table. See Note `[Records]` in `crates/wire/src/record/kinds.rs`.
#[macro_export]
macro_rules! agent_records {
    ($consumer:ident) => {
        $consumer! {
            objects {
                /// A selection of `torch.cuda.memory_stats` of one device. Sizes are in bytes.
                DeviceStats "device_stats" {
                    /// The device.
                    device: u32,
                    /// `allocated_bytes.all.current`.
                    allocated_bytes: u64,
                    /// `allocated_bytes.all.peak` over the whole run, regardless of `reset_peak_memory_stats`.
                    allocated_peak_bytes: u64,
                    /// `reserved_bytes.all.current`.
                    reserved_bytes: u64,
                    /// `reserved_bytes.all.peak` over the whole run.
                    reserved_peak_bytes: u64,
                    /// `num_alloc_retries`: the requests for which the cache was released.
                    alloc_retries: u64,
                    /// `num_ooms`.
                    ooms: u64,
                } later {
                    /// `inactive_split_bytes.all.current`: free blocks in segments that have other blocks in use.
                    inactive_split_bytes: u64,
                }
                /// The time for which a program waited for its `DataLoader`s, and the settings of the last of them.
                LoaderWait "loader_wait" {
                    /// The time since the program's start.
                    wait_ns: u64,
                    /// `num_workers`.
                    workers: u32,
                    /// `pin_memory`.
                    pins_memory: bool,
                }
                /// The GPU work of operators, counted by `python/oomph/agent/position/work.py`.
                GpuWork "gpu_work" {
                    /// FLOPs of matrix products, convolutions and attention, by dtype, e.g. `float32`.
                    flops: counts,
                    /// Bytes that operators read and wrote on the device.
                    bytes: u64,
                    /// Bytes copied between host and device.
                    host_bytes: u64,
                    /// The number of operators.
                    operators: u64,
                }
                /// The statement that catches an error, in the function that the error reaches there. Lines are counted from 1, 0 for none.
                Guard "guard" {
                    /// The first line of the statements whose error is caught.
                    body_first: u32,
                    /// The last line of these statements.
                    body_last: u32,
                    /// The last line of the handler.
                    handler_last: u32,
                    /// The first line of the innermost loop around it.
                    loop_first: u32,
                    /// The last line of that loop.
                    loop_last: u32,
                    /// The way out after a success: `leave` the function, `break` the loop, `again` through the loop, or to the `next` statement.
                    success: text,
                    /// The way out after the error.
                    failure: text,
                }
            }
            records {
                /// The process; the first line.
                Process "process" => one identity: ProcessRecord {
                    /// The process id; joins the phantom's file.
                    pid: u32,
                    /// `RANK`, or 0.
                    rank: u32,
                    /// `LOCAL_RANK`, or 0.
                    local_rank: u32,
                    /// `WORLD_SIZE`, or 1.
                    world_size: u32,
                    /// `sys.argv`.
                    argv: texts,
                    /// The script's folder. Frames below it belong to the user's code.
                    script_dir: text,
                    /// The interpreter, e.g. `3.11.7`.
                    python: text,
                    /// `sys.executable`, the path of the interpreter.
                    executable: text,
                    /// PyTorch, e.g. `2.11.0+cu130`.
                    torch: text,
                    /// The CUDA version PyTorch was built for.
                    cuda: text_or_null,
                    /// The cuDNN version, as cuDNN numbers it.
                    cudnn: u64_or_null,
                } later {
                    /// The time at which the process began, by a clock that all processes of one machine share; 0 if unknown.
                    started_ns: u64,
                    /// The pids of the processes above, the parent first.
                    ancestors: pids,
                    /// The time of this record, by the same clock: the process begins to use CUDA.
                    monotonic_ns: u64,
                }
                /// The categories of allocations at one instant. The position in the trace is that of the mark with this number.
                Census "census" => many censuses: CensusRecord {
                    /// Counted from 1.
                    number: u32,
                    /// The current optimizer step, counted from 1.
                    step: u32,
                    /// The occasion of the census.
                    when: census_time,
                    /// Category, device, storage address, storage bytes.
                    tensors: storages,
                }
                /// An optimizer step ended.
                Step "step" => many steps: StepRecord {
                    /// Counted from 1.
                    step: u32,
                    /// `memory_stats` of each device after the step.
                    devices: all_stats,
                } later {
                    /// The time by a clock that all processes of one machine share; 0 in runs that were saved before it was recorded.
                    monotonic_ns: u64,
                    /// The backward passes since the program's start.
                    backwards: u64,
                } optional {
                    /// The work of all operators since the program's start, if counted.
                    work: work,
                    /// The user's line that called `step`.
                    at: site,
                    /// The user's line that called `zero_grad` last.
                    zeroed_at: site,
                    /// The time for which the program waited for its `DataLoader`s, if it has any.
                    loader: loader_wait,
                }
                /// The allocator is about to raise out of memory.
                Oom "oom" => many ooms: OomRecord {
                    /// The device.
                    device: u32,
                    /// The size to reserve, as in PyTorch's message.
                    requested_bytes: u64,
                    /// The total memory of the device.
                    total_bytes: u64,
                    /// The free memory of the device.
                    free_bytes: u64,
                    /// The current optimizer step, counted from 1.
                    step: u32,
                    /// The phase; `None` for a phase that this version does not know.
                    phase: phase,
                    /// The running module.
                    module: text,
                    /// `memory_stats` of the device.
                    stats: stats,
                    /// The Python stack, innermost first, as `(function, file, line)`; the script's own frames included.
                    frames: frames,
                } later {
                    /// The time by a clock that all processes of one machine share; 0 in runs that were saved before it was recorded.
                    monotonic_ns: u64,
                    /// True if the running root module is in evaluation mode, has parameters to train, and gradients are recorded.
                    records_in_eval: bool,
                    /// True if gradients are not recorded, as under `torch.no_grad()`.
                    without_grad: bool,
                } optional {
                    /// The file and line of the handler that will catch the error, if any (Note `[Handlers]` in `memory/handlers.py`).
                    caught_at: site,
                    /// The whole number that the handler makes smaller, such as `batch_size`.
                    lowers: text,
                    /// The statement that will catch the error.
                    guard: guard,
                }
                /// A shape depends on values that only a GPU would have computed.
                ValueShape "value_shape" => many value_shapes: ValueShapeRecord {
                    /// The operator, e.g. `aten::nonzero`.
                    op: text,
                    /// The script's file.
                    file: text,
                    /// The script's line.
                    line: u32,
                    /// The number of times.
                    count: u64,
                    /// The assumed share of selected elements.
                    fraction: f64,
                }
                /// The program read values that only a GPU would have computed (`.item()`, `.tolist()`, `.cpu()`), and got assumed ones.
                ValueRead "value_read" => many value_reads: ValueReadRecord {
                    /// The script's file.
                    file: text,
                    /// The script's line.
                    line: u32,
                    /// The number of times.
                    count: u64,
                } later {
                    /// The bytes of all reads.
                    bytes: u64,
                    /// The number of reads that may decide a size, by the source of the reading code (Note `[Sizes from reads]` in
                    /// `python/oomph/agent/values/sizes.py`).
                    sizes: u64,
                }
                /// PyTorch was built without kernels for the GPU: on the GPU itself the first kernel fails.
                KernelsMissing "kernels_missing" => last kernels_missing: KernelsMissingRecord {
                    /// The GPU's compute capability, e.g. `6.1`.
                    capability: text,
                    /// `torch.cuda.get_arch_list()`, separated by blanks.
                    built_for: text,
                }
                /// Parameters on GPUs that an optimizer holds and that no step trained; only where a step was made.
                Untrained "untrained" => many untrained: UntrainedRecord {
                    /// Why.
                    reason: untrained_reason,
                    /// Class of the optimizer.
                    optimizer: text,
                    /// File in which it was constructed; empty if no line of Python did.
                    file: text,
                    /// Line of the construction.
                    line: u32,
                    /// Number of these parameters.
                    count: u64,
                    /// Their size.
                    bytes: u64,
                }
                /// Work ahead of a stopped program, or never done, that may need more memory (Note `[Ahead]` in `python/oomph/agent/ahead/look.py`).
                Ahead "ahead" => many ahead: AheadRecord {
                    /// Why it may.
                    reason: ahead_reason,
                    /// The function that was not called, or the number that is larger later; may be empty.
                    what: text,
                    /// The script's file; empty where no line of the script is to blame.
                    file: text,
                    /// The script's line, or 0.
                    line: u32,
                } later {
                    /// Set if the line has a condition as well: an allocation there does not show that the call was made.
                    shares_line: bool,
                }
                /// The loop around the optimizer's steps, where the program was stopped after its steps.
                Course "course" => last course: CourseRecord {
                    /// The number of steps until the loop ends.
                    total_steps: u64_or_null,
                    /// The script's file; empty where the loop is a library's.
                    file: text,
                    /// The line of the loop, or 0.
                    line: u32,
                }
                /// A stage of the program's life begins for the first time.
                Stage "stage" => many stages: StageRecord {
                    /// The stage, as in the mark.
                    stage: text,
                    /// The current optimizer step, counted from 1.
                    step: u32,
                    /// The file of the user's line that begins it; empty if unknown.
                    file: text,
                    /// That line, or 0.
                    line: u32,
                }
                /// A loop of which a dry run left passes out.
                Shortened "shortened" => many shortened: ShortenedRecord {
                    /// The script's file.
                    file: text,
                    /// The first line of the loop.
                    line: u32,
                    /// The number of passes that ran.
                    passes: u64,
                    /// The number of passes of the whole loop, if known.
                    total: u64_or_null,
                    /// The relation of the other passes to those that ran.
                    reason: shortened_reason,
                }
                /// The sizes of the batches of a data loader, found without running the model.
                Batches "batches" => many batches_scanned: BatchesRecord {
                    /// The script's file.
                    file: text,
                    /// The line of the loop over the batches, or 0.
                    line: u32,
                    /// The number of batches whose sizes are known.
                    scanned: u64,
                    /// The number of batches of an epoch; `None` if unknown.
                    total: u64_or_null,
                    /// The position of the largest batch, counted from 0; `None` if unknown.
                    largest: u64_or_null,
                    /// The shapes of the largest batch.
                    shape: text,
                    /// The known bound where not all batches were scanned; else empty.
                    bound: text,
                }
                /// A loop around a line of the stack at the last out-of-memory error, outermost first (`python/oomph/agent/position/enclosing.py`).
                Loop "loop" => many loops: LoopRecord {
                    /// The frame of the user's code, counted from the outermost.
                    depth: u32,
                    /// The script's file.
                    file: text,
                    /// The first line of the loop.
                    line: u32,
                    /// The last line of its body.
                    last_line: u32,
                }
                /// A root module, as it is at the last out-of-memory error, else at the end (`python/oomph/agent/memory/living.py`).
                Root "root" => many roots: RootRecord {
                    /// The order in which the program's root modules became known, counted from 0.
                    number: u32,
                    /// The module's class.
                    name: text,
                    /// The ordinal of its last call among the calls of all root modules, counted from 1; 0 if it was never called.
                    last_call: u64,
                    /// True if a call of the module is under way.
                    is_running: bool,
                    /// The addresses of parameters, buffers, gradients and the optimizer's state; empty for a module that is gone.
                    addresses: addresses,
                } later {
                    /// True if gradients were recorded in no call.
                    is_without_grad: bool,
                }
                /// A backward that wrote gradients with a graph of their own, once for each line of the user's code
                /// (`backward(create_graph=True)`).
                GradientGraph "gradient_graph" => many gradient_graphs: GradientGraphRecord {
                    /// The script's file.
                    file: text,
                    /// The line of the call.
                    line: u32,
                }
                /// Tensors in the hands of a holder at the last out-of-memory error (`python/oomph/agent/memory/living.py`).
                Held "held" => many held: HeldRecord {
                    /// The holder: `traceback` of an exception, or `cycle` for unreachable objects.
                    holder: text,
                    /// The exception's type; empty for a cycle.
                    what: text,
                    /// The line of the user's code that raised the exception; empty for a cycle.
                    file: text,
                    /// That line, counted from 1; 0 for a cycle.
                    line: u32,
                    /// The addresses of the tensors.
                    addresses: addresses,
                }
                /// The reachable tensors at the last out-of-memory error; autograd or a library keeps the rest.
                Visible "visible" => last visible: VisibleRecord {
                    /// The addresses of their storages.
                    addresses: addresses,
                }
                /// A container with many tensors at the last out-of-memory error (`python/oomph/agent/memory/keepers.py`).
                Keeper "keeper" => many keepers: KeeperRecord {
                    /// The container's type, or `cache` of a function.
                    container: text,
                    /// The type of the object with the container as an attribute; empty for a variable.
                    owner: text,
                    /// The name of the attribute, the variable or the function; empty if unknown.
                    name: text,
                    /// The file of the statement that fills the container, or of the cached function; empty if unknown.
                    file: text,
                    /// The line of that statement, counted from 1; 0 if unknown.
                    line: u32,
                    /// The addresses of the tensors.
                    addresses: addresses,
                }
                /// A limit that the program set for itself.
                Fraction "fraction" => last fraction: FractionRecord {
                    /// The share of the device's memory.
                    fraction: f64,
                    /// The user's line that set it.
                    file: text,
                    /// That line, counted from 1.
                    line: u32,
                }
                /// A variable that keeps memory after the program has emptied PyTorch's cache (`python/oomph/agent/memory/leftovers.py`).
                Leftover "leftover" => many leftovers: LeftoverRecord {
                    /// The user's line that called `empty_cache`.
                    file: text,
                    /// That line, counted from 1.
                    line: u32,
                    /// The allocated bytes after the call.
                    allocated_bytes: u64,
                    /// The variable.
                    name: text,
                    /// The type of the variable's value, and whether autograd's graph of the value is alive.
                    what: text,
                    /// The bytes of the tensors that the variable keeps.
                    kept_bytes: u64,
                }
                /// The number that became smaller after out-of-memory errors (Note `[Attempts]` in `python/oomph/agent/memory/attempts.py`).
                Attempt "attempt" => many attempts: AttemptRecord {
                    /// The file of the statement that caught the errors.
                    file: text,
                    /// Its line, counted from 1.
                    line: u32,
                    /// The number, as the source has it, e.g. `self.batch_size`.
                    name: text,
                    /// Its values at the errors, oldest first.
                    tried: addresses,
                    /// Its value in the first forward or step after the last error.
                    now: u64,
                    /// True if a statement of the handler assigned it.
                    is_set: bool,
                }
                /// The operation whose request failed last, by the innermost line of the user's code (`python/oomph/agent/memory/operation.py`).
                Operation "operation" => last operation: OperationRecord {
                    /// The functions called on the way to PyTorch, from the user's line inwards, such as `cross_entropy`.
                    functions: texts,
                    /// The expression that was being computed, shortened; empty if the source is not there.
                    text: text,
                    /// The shapes of the named tensors in the expression.
                    shapes: shapes,
                    /// The shape of the result, as far as the source tells; empty if unknown.
                    result: addresses,
                    /// The shapes of the two operands with the largest growth by broadcasting, also in assignments of the named variables.
                    operands: shapes,
                    /// The shape of `input` in PyTorch's own function; empty if unknown.
                    input: addresses,
                    /// The number of output features of a linear layer; else 0.
                    out_features: u64,
                } later {
                    /// The shape of attention's scores, queries by keys; empty for other operations.
                    scores: addresses,
                    /// True if `scaled_dot_product_attention` runs.
                    is_sdpa: bool,
                }
                /// A GPU of a real run; the last record of a device counts.
                Gpu "gpu" => many gpus: GpuRecord {
                    /// The device.
                    device: u32,
                    /// The name that the driver states.
                    name: text,
                    /// `total_memory`, as in `cudaMemGetInfo`.
                    total_bytes: u64,
                    /// The free memory by `cudaMemGetInfo` and PyTorch's reserved memory; `None` before the first request, which makes the context.
                    free_bytes: u64_or_null,
                }
                /// The run of a tracker that a real program logs to (`python/oomph/agent/live/trackers.py`).
                Tracker "tracker" => many trackers: TrackerRecord {
                    /// The library: `wandb`, `mlflow` or `trackio`.
                    library: text,
                    /// The id of the run.
                    run: text,
                    /// The name of the run; empty if it has none.
                    name: text,
                    /// The project, or the address of the store.
                    place: text,
                }
                /// PyTorch's own snapshot of a real run was written: segments and blocks, without a history.
                Dump "dump" => last dump: DumpRecord {
                    /// The number of events in the recording by then.
                    events: u64,
                    /// The current optimizer step, counted from 1.
                    step: u32,
                }
                /// PyTorch records no history of the allocator in use, so there is no snapshot.
                Unrecorded "unrecorded" => last unrecorded: UnrecordedRecord {
                    /// PyTorch's message.
                    reason: text,
                }
                /// A part of the recording of a real run that is missing.
                Gap "gap" => many gaps: GapRecord {
                    /// The part, and the reason.
                    text: text,
                }
                /// Random initialisation of large host tensors that was skipped.
                InitializersSkipped "initializers_skipped" => last initializers_skipped: InitializersSkippedRecord {
                    /// The number of calls.
                    count: u64,
                    /// The bytes of the tensors.
                    bytes: u64,
                }
                /// An assumption of the agent, like the phantom's.
                Assumption "assumption" => many assumptions: AssumptionRecord {
                    /// A stable name, e.g. `absent-ranks`.
                    id: text,
                    /// The assumption in one sentence.
                    text: text,
                }
                /// A requested remedy (Note `[Remedies]` in `python/oomph/agent/remedies`) reached a site to which it applies.
                Remedy "remedy" => many remedies: RemedyRecord {
                    /// The remedy.
                    remedy: text,
                    /// Set if the remedy took effect.
                    applied: bool,
                    /// The edit as data; `None` if the remedy made none.
                    action: action,
                    /// The edit in words, or the reason why there is none: for people.
                    text: text,
                    /// The script's file; empty for an edit without a line.
                    file: text,
                    /// The script's line, or 0.
                    line: u32,
                } later {
                    /// Set if results of this program change by more than rounding, although the remedy in general changes none.
                    alters: bool,
                }
                /// The original batch size, sequence length or resolution of the program; recorded at the end for each remedy that changes it.
                Batch "batch" => many batches: BatchRecord {
                    /// The remedy: `batch-size`, `sequence-length` or `resolution`.
                    remedy: text,
                    /// The origin of the size: `option`, `training-arguments`, `tokenizer`, `transform`, `loader` or `constant`.
                    source: text,
                    /// The name, e.g. `--batch-size`; the setting `arg` selects it.
                    name: text,
                    /// The script's file; empty for an edit without a line.
                    file: text,
                    /// The script's line, or 0.
                    line: u32,
                    /// The program's size.
                    size: u64,
                    /// The changed size.
                    scaled: u64_or_null,
                }
                /// A setting that the program offers of its own; recorded on request (`python/oomph/agent/remedies/own_options.py`).
                OwnOption "own_option" => many own_options: OwnOptionRecord {
                    /// All spellings: `--batch-size`, `-b`; a key for `KEY=VALUE`; `$NAME` for a variable of the environment.
                    names: texts,
                    /// The present value as JSON; a flag is `true` or `false`.
                    value: text,
                    /// The word that switches it on, such as `True`; empty for a flag without a value.
                    on: text,
                    /// The values that the program takes; empty if unknown.
                    choices: texts,
                    /// The program's description.
                    help: text,
                }
                /// Weights of checkpoint files that were not read.
                CheckpointUnread "checkpoint_unread" => last checkpoint_unread: CheckpointUnreadRecord {
                    /// The number of tensors.
                    count: u64,
                    /// The bytes of the files.
                    bytes: u64,
                }
                /// A stand-in for a missing input of the program (Note `[Missing weights]` in `python/oomph/agent/scenery/weights`).
                StandIn "stand_in" => many stand_ins: StandInRecord {
                    /// What is missing: `weights`, a `tokenizer` or `data`.
                    what: text,
                    /// The name that the program loads it by: a model of a hub, a folder, an address.
                    name: text,
                    /// The origin of the stand-in: `headers`, `configuration`, `model` or `shapes`.
                    source: text,
                    /// The number of tensors.
                    tensors: u64,
                    /// The bytes that were not fetched.
                    bytes: u64,
                    /// The bytes that were fetched instead.
                    fetched_bytes: u64,
                }
                /// The longest text of a made-up tokenizer, where the length of a text is a guess that matters.
                LongestText "longest_text" => last longest_text: LongestTextRecord {
                    /// The number of tokens.
                    tokens: u64,
                    /// The most that the tokenizer allows; `None` without a bound.
                    allowed: u64_or_null,
                }
                /// A function of PyTorch or another library that the agent replaced (Note `[Replacements]` in `python/oomph/agent/hooks`): with
                /// parameters that the agent does not know, or, where `OOMPH_REPLACED` is set, any.
                Replaced "replaced" => many replaced: ReplacedRecord {
                    /// The module and the attribute, e.g. `torch.serialization:load`.
                    name: text,
                    /// The package with its version, e.g. `torch 2.11.0`.
                    library: text,
                    /// The names of the function's parameters; `absent` if the library does not have the name.
                    found: text,
                    /// True if the tests ran the replacement of a function with these parameters.
                    is_known: bool,
                    /// True if the program called the function.
                    is_run: bool,
                }
                /// Acts on the outside that a dry run suppressed, of one kind and library (Note `[Off line]` in `python/oomph/agent/scenery/outside`).
                Outside "outside" => many outside: OutsideRecord {
                    /// The library by the name of its package, e.g. `wandb`.
                    library: text,
                    /// The kind of act: a tracked `run`, a `message`, an `upload`, a `removal`, or another `change`.
                    action: text,
                    /// The number of acts.
                    count: u64,
                }
                /// An exception ended the program.
                Error "error" => many errors: ErrorRecord {
                    /// The qualified type, e.g. `torch.OutOfMemoryError`.
                    type_name as "type": text,
                    /// The message.
                    message: text,
                    /// Set for an out-of-memory error of a device.
                    oom: bool,
                    /// The file of the innermost line of the user's own code.
                    file: text_or_null,
                    /// The innermost line of the user's own code.
                    line: u32_or_null,
                    /// The traceback, as Python prints it.
                    traceback: text,
                    /// The time by a clock that all processes of one machine share: of several ranks' errors, the first is the cause.
                    monotonic_ns: u64,
                }
                /// oomph asked the process to end (Note `[Stop]` in `crates/wire/src/signal.rs`): the state at that moment.
                Stop "stop" => last stop: StopRecord {
                    /// The position, as in PyTorch's memory history.
                    mark: text,
                    /// `memory_stats` of each device, with peaks.
                    devices: all_stats,
                    /// The Python stack, innermost first, as `(function, file, line)`.
                    frames: frames,
                }
                /// The end of the process; the last line.
                End "end" => last end: EndRecord {
                    /// The reason.
                    reason: end_reason,
                    /// The number of optimizer steps done.
                    steps: u32,
                    /// `memory_stats` of each device at the end, with peaks.
                    devices: all_stats,
                    /// The snapshot's file name; `None` if CUDA was never used.
                    snapshot: text_or_null,
                } later {
                    /// The time by a clock that all processes of one machine share; 0 in runs that were saved before it was recorded.
                    monotonic_ns: u64,
                }
            }
        }
    };
}
