//! One device of one process, with all that follows from its history: the input of every measure.

use report::{Contents, Location, Place, SiteFrame};
use trace::run::LoopRecord;
use trace::source_file::is_generated;
use trace::{Bytes, DeviceIndex, Frame, Lifetime, LifetimeId, Moment, Phase, Process, Snapshot, StackId};

use super::contents::classify;
use super::device_trace::DeviceTrace;
use super::guessed_loops::guess_loops;
use super::infer::phases::infer_timeline;
use super::life::Life;
use super::own::{calls_module, is_agent, is_entry_point, is_own};
use super::paths::{in_torch, posix};
use super::roles::Role;
use super::timeline::Timeline;

/// A report shows at most this many frames of a stack.
const FRAMES: usize = 6;

/// A device's history, with the step, the phase and the category of everything in it.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// The recorded history.
    pub(crate) trace: DeviceTrace<'a>,
    /// The step and phase of each event.
    pub(crate) timeline: Timeline,
    /// The category of each allocation, in the order of the lifetimes.
    pub(crate) contents: Vec<Contents>,
}

impl<'a> View<'a> {
    /// Walks the history; empty without a snapshot.
    pub(crate) fn new(process: &'a Process, device: DeviceIndex) -> View<'a> {
        View::of(DeviceTrace::new(process, device))
    }

    /// Walks the history of each device that the process used.
    pub(crate) fn list(process: &'a Process) -> impl Iterator<Item = View<'a>> {
        process.devices().into_iter().map(|device| View::new(process, device))
    }

    /// Walks the history of a snapshot without a run.
    pub(crate) fn bare(snapshot: &'a Snapshot, device: DeviceIndex) -> View<'a> {
        let trace = DeviceTrace::bare(snapshot, device);
        let loops = guess_loops(&trace);
        View::of(trace.with_loops(loops))
    }

    fn of(trace: DeviceTrace<'a>) -> View<'a> {
        let timeline = find_timeline(&trace);
        let contents = classify(&trace, &timeline);
        View { trace, timeline, contents }
    }

    /// Returns the place of an event in the program.
    pub(crate) fn place(&self, at: impl Into<Moment>) -> Place {
        let Some(event) = at.into().event_before() else {
            return Place::default();
        };
        let mark = self.trace.mark(event);
        let module = mark.map(|mark| mark.module.clone()).filter(|module| !module.is_empty());
        let root = module.as_deref().and_then(|module| find_root(self.trace.process, module));
        let place = Place { module, root, ..self.timeline.place(event) };
        let Some(mark) = mark else { return place };
        Place { step: self.trace.program_steps.find_marked(mark), stage: mark.stage, ..place }
    }

    /// Returns the place of an allocation in the program, as far as known.
    pub(crate) fn place_of(&self, life: &Lifetime) -> Place {
        life.begun().map_or_else(Place::default, |event| self.place(event))
    }

    /// Returns the step of an allocation; `None` if the allocation is older than the history, or the step is unknown.
    pub(crate) fn step_of(&self, life: &Lifetime) -> Option<u32> {
        self.timeline.step_of(life)
    }

    /// Returns the phase of an allocation; `None` as for [`View::step_of`].
    pub(crate) fn phase_of(&self, life: &Lifetime) -> Option<Phase> {
        self.timeline.phase_of(life)
    }

    /// Returns the allocations live right after `at`, each with its category.
    pub(crate) fn live_after(&self, at: impl Into<Moment>) -> impl Iterator<Item = (&Lifetime, Contents)> {
        let at = at.into();
        let all = self.trace.history.lifetimes().iter().zip(self.contents.iter().copied());
        all.filter(move |(life, _)| life.is_live_after(at))
    }

    /// Returns the allocations live right after `at`, each with its number and category.
    pub(crate) fn live_with_ids(
        &self,
        at: impl Into<Moment>,
    ) -> impl Iterator<Item = (LifetimeId, &Lifetime, Contents)> {
        let at = at.into();
        let all = (0..).map(LifetimeId).zip(self.trace.history.lifetimes()).zip(self.contents.iter().copied());
        all.filter(move |((_, life), _)| life.is_live_after(at)).map(|((id, life), contents)| (id, life, contents))
    }

    /// Returns the bytes of category `contents` live right after `at`.
    pub(crate) fn live_bytes(&self, at: impl Into<Moment>, contents: Contents) -> Bytes {
        let live = self.live_after(at).filter(|&(_, held)| held == contents);
        live.map(|(life, _)| life.block()).sum()
    }

    /// Returns the innermost frame of the user's code in `stack`.
    pub(crate) fn own_frame(&self, stack: StackId) -> Option<&'a Frame> {
        self.trace.python(stack).find(|frame| is_own(&frame.file, self.trace.script_dir))
    }

    /// Returns the innermost line of the user's code in `stack`.
    pub(crate) fn own_line(&self, stack: StackId) -> Option<Location> {
        let frame = self.own_frame(stack)?;
        let library = self.library_line(stack).filter(|_| is_entry_point(frame));
        let (file, line) = library.unwrap_or((frame.file.as_str(), frame.line));
        Some(Location { file: file.to_owned(), line, column: None })
    }

    /// Returns the most informative frames of `stack`, innermost first: Python frames up to the user's line, without
    /// machinery.
    pub(crate) fn frames(&self, stack: StackId) -> Vec<SiteFrame> {
        let telling = self.trace.python(stack).filter(|frame| !is_machinery(frame));
        shortened(telling.map(|frame| self.site_frame(frame)).collect())
    }

    /// Returns the innermost frame outside PyTorch and the user's code, if the user's line called a library.
    pub(crate) fn library_line(&self, stack: StackId) -> Option<(&'a str, u32)> {
        let mut inner = self.trace.python(stack).take_while(|frame| !is_own(&frame.file, self.trace.script_dir));
        let frame = inner.find(|frame| !frame.file.contains("/torch/") && !is_machinery(frame))?;
        Some((frame.file.as_str(), frame.line))
    }

    /// Returns the Python frames of a stack, innermost first.
    pub(crate) fn frames_of(&self, stack: StackId) -> impl Iterator<Item = &'a Frame> {
        self.trace.python(stack)
    }

    /// Returns the innermost Python frame of a stack.
    pub(crate) fn innermost(&self, stack: StackId) -> Option<(String, u32)> {
        let frame = self.trace.python(stack).next()?;
        Some((frame.file.clone(), frame.line))
    }

    /// Returns the line that called the outermost module, else the user's innermost line.
    pub(crate) fn call_line(&self, stack: StackId) -> Option<(String, u32)> {
        let frames: Vec<&Frame> = self.trace.python(stack).collect();
        let module = frames.iter().rposition(|frame| calls_module(frame));
        let outside = module.map_or(0, |module| module + 1);
        let mut rest = frames.get(outside..)?.iter();
        let own = rest.find(|frame| is_own(&frame.file, self.trace.script_dir))?;
        Some((own.file.clone(), own.line))
    }

    /// Checks that the loop made an allocation: a frame outside every module stands in its lines, and no constructor is at work.
    pub(crate) fn is_in_loop(&self, stack: StackId, one: &LoopRecord) -> bool {
        let frames: Vec<&Frame> = self.trace.python(stack).collect();
        let module = frames.iter().rposition(|frame| calls_module(frame));
        let outside = frames.get(module.map_or(0, |module| module + 1)..).unwrap_or_default();
        outside.iter().any(|frame| is_body(frame, one)) && frames.iter().all(|frame| frame.function != "__init__")
    }

    /// Checks that no module and none of `loops` made an allocation.
    pub(crate) fn is_outside(&self, stack: StackId, loops: &[LoopRecord]) -> bool {
        let mut frames = self.trace.python(stack);
        !frames.any(|frame| calls_module(frame) || loops.iter().any(|one| is_body(frame, one)))
    }

    /// Checks that a convolution may allocate: its module, or a backward, whose operator is unknown.
    pub(crate) fn may_be_convolution(&self, stack: StackId) -> bool {
        if matches!(self.trace.roles.get(stack.0 as usize), Some(Role::Backward | Role::Frameless)) {
            return true;
        }
        let inner = self.trace.python(stack).next();
        inner.is_some_and(|frame| in_torch(&posix(&frame.file)) == Some("nn/modules/conv.py"))
    }

    /// Checks that the second of two stacks is the first, or comes later in the same call of the outermost module.
    pub(crate) fn is_same_call(&self, first: StackId, second: StackId) -> bool {
        let [one, other] = [first, second].map(|stack| self.trace.python(stack).collect::<Vec<&Frame>>());
        let is_as_deep = one.len() == other.len();
        let pairs: Vec<(&Frame, &Frame)> = one.into_iter().rev().zip(other.into_iter().rev()).collect();
        let Some(differ) = pairs.iter().position(|(one, other)| one != other) else { return is_as_deep };
        let (common, rest) = pairs.split_at(differ);
        let is_in_module = common.iter().any(|(frame, _)| calls_module(frame));
        let goes_back = |(one, other): &(&Frame, &Frame)| {
            one.file == other.file && one.function == other.function && one.line > other.line
        };
        is_in_module && !rest.first().is_some_and(goes_back)
    }

    /// Returns [`View::call_line`] as a location.
    pub(crate) fn call_location(&self, stack: StackId) -> Option<Location> {
        let (file, line) = self.call_line(stack)?;
        Some(Location { file, line, column: None })
    }

    /// Checks for a module's call, or a function of `torch.nn.functional`, in the stack.
    pub(crate) fn is_made_by_module(&self, stack: StackId) -> bool {
        matches!(self.trace.roles.get(stack.0 as usize), Some(Role::Forward | Role::Functional))
    }

    /// Checks that a module's tensors were made, moved or loaded by the stack.
    pub(crate) fn is_placed(&self, stack: StackId) -> bool {
        matches!(self.trace.roles.get(stack.0 as usize), Some(Role::Placed))
    }

    /// Returns the total of the bytes live right after `at`.
    pub(crate) fn live_total(&self, at: impl Into<Moment>) -> Bytes {
        self.trace.history.live_after(at).map(Life::block).sum()
    }

    /// Checks that a module ran the user's innermost line: a `forward` of the user's code, or a hook.
    pub(crate) fn own_line_is_inside_module(&self, stack: StackId) -> bool {
        let mut frames = self.trace.python(stack);
        frames.any(|frame| is_own(&frame.file, self.trace.script_dir)) && frames.any(calls_module)
    }

    fn site_frame(&self, frame: &Frame) -> SiteFrame {
        SiteFrame {
            function: frame.function.clone(),
            file: frame.file.clone(),
            line: frame.line,
            own: is_own(&frame.file, self.trace.script_dir),
        }
    }
}

/// Returns the class of the root of a module whose name begins with a number; `None` if several classes come into question.
pub(crate) fn find_root(process: &Process, module: &str) -> Option<String> {
    let called = process.roots.iter().filter(|root| root.last_call > 0);
    let mut names: Vec<&str> = called.map(|root| root.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let [name] = names[..] else { return None };
    module.starts_with(|letter: char| letter.is_ascii_digit()).then(|| name.to_owned())
}

/// Returns the step and phase of each event: by marks if the history has marks, else by stacks.
fn find_timeline(trace: &DeviceTrace) -> Timeline {
    match trace.snapshot {
        Some(snapshot) if trace.is_marked() => Timeline::marked(trace.events, &snapshot.marks),
        Some(snapshot) => infer_timeline(trace.events, &trace.roles, &trace.history, &snapshot.stacks),
        None => Timeline::default(),
    }
}

/// Returns at most [`FRAMES`] frames, including the user's line.
fn shortened(mut frames: Vec<SiteFrame>) -> Vec<SiteFrame> {
    let own = frames.iter().position(|frame| frame.own).unwrap_or_default();
    if own >= FRAMES {
        frames.drain(FRAMES - 1..own);
    }
    frames.truncate(FRAMES);
    frames
}

/// Checks that a frame stands in the lines of a loop.
fn is_body(frame: &Frame, one: &LoopRecord) -> bool {
    frame.file == one.file && (one.line..=one.last_line).contains(&frame.line)
}

/// Checks that a frame is machinery: a frame between a module's call and its `forward`, generated code, or a wrapper
/// of oomph.
fn is_machinery(frame: &Frame) -> bool {
    let between = ["_call_impl", "_wrapped_call_impl", "inner"].contains(&frame.function.as_str());
    let in_module = frame.file.ends_with("/torch/nn/modules/module.py");
    (between && in_module) || frame.file.starts_with('<') || is_generated(&frame.file) || is_agent(&frame.file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, own: bool) -> SiteFrame {
        SiteFrame { function: function.to_owned(), file: String::new(), line: 1, own }
    }

    fn names(frames: &[&str], own: &str) -> Vec<String> {
        let frames = frames.iter().map(|name| frame(name, *name == own)).collect();
        shortened(frames).into_iter().map(|frame| frame.function).collect()
    }

    #[test]
    fn long_stacks_keep_the_innermost_frames_and_the_users_own() {
        let long = ["a", "b", "c", "d", "e", "f", "g", "own", "main"];
        let cases: [(&[&str], &str, &[&str]); 3] = [
            (&["a", "own", "main"], "own", &["a", "own", "main"]),
            (&long, "own", &["a", "b", "c", "d", "e", "own"]),
            (&long, "none", &["a", "b", "c", "d", "e", "f"]),
        ];
        for (frames, own, kept) in cases {
            assert_eq!(names(frames, own), kept);
        }
    }

    #[test]
    fn frames_that_every_module_call_has_say_nothing() {
        let module = "/v/site-packages/torch/nn/modules/module.py";
        let cases = [
            ("_call_impl", module, true),
            ("inner", module, true),
            ("cuda", module, false),
            ("inner", "/home/ann/train.py", false),
            ("<module>", "<string>", true),
            ("wrapper", "/cache/_oomph_agent/modules.py", true),
        ];
        for (function, file, expected) in cases {
            let frame = Frame { function: function.to_owned(), file: file.to_owned(), line: 1 };
            assert_eq!(is_machinery(&frame), expected, "{function} in {file}");
        }
    }
}
