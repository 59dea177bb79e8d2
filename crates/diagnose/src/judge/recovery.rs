//! The ways in which a program lives with an out-of-memory error that it caught.
//!
//! # Note [Recoveries]
//! An error is recovered from if the failed work was done again with less. The requests after the error show it:
//! - *again*: the guard is left for good after a success and comes again after an error, as in a list of sizes; the next
//!   requests are the guard's. Or the function of the guard calls itself.
//! - *another way*: code that runs only after the error makes requests: the handler, the statements behind a guard that
//!   returns. In a loop that comes again after a success, too, they add up to the failed request: a skipped
//!   batch also cleans up.
//! - *left*: the function that failed is called outside the guard from then on, and optimizer steps follow. If the guarded
//!   statements call no function of the user, some of their passes were served, before any step outside.
//! - *in parts*: the guarded statements only moved modules to the device, and modules of as many bytes are moved there later,
//!   outside the guard: layer by layer, as offloading does.
//! - *measured*: blocks of one line were allocated until the device was full, and all were freed before any other line asked.
//!
//! A repetition of the same requests is no recovery: a block that the program wanted to keep did not fit beside them.
//! Whatever is not certain is none.

use report::Recovery;
use trace::run::{Guard, OomRecord};
use trace::{Bytes, Phase, Process};

use super::requests::{Guarded, Request, Requester, Section};

/// The least size of requests that replace others; a handler's cleaning up, such as a loss of zero, takes less.
const LEAST: Bytes = Bytes(1 << 20);
/// Another way takes at least this part of the failed request.
const LEAST_PART: u64 = 64;
/// The least number of blocks with which a program measures a device.
const LEAST_BLOCKS: usize = 4;
/// The allocator's rounding (`kMinBlockSize` in `c10/core/AllocatorConfig.h`, 2.11).
const ROUNDING: u64 = 512;

/// Returns the way in which the program lives with the last error of a guard. See Note [Recoveries].
pub(super) fn find_recovery(process: &Process, oom: &OomRecord) -> Option<Recovery> {
    let guarded = Guarded::of(process, oom)?;
    let (before, after) = (guarded.before(), guarded.after());
    if is_measured(&guarded, &before, &after) {
        return Some(Recovery::Measured);
    }
    if is_placed_in_parts(&guarded, &before, &after) {
        return Some(Recovery::OtherWay);
    }
    if is_same_again(&guarded, &before, &after) {
        return None;
    }
    if is_again(&guarded, &after) && !is_repeated_error(&guarded, process) {
        return Some(Recovery::Smaller);
    }
    if is_other_way(&guarded, &after) {
        return Some(Recovery::OtherWay);
    }
    has_left(&guarded, process, &before, &after).then_some(Recovery::Smaller)
}

fn is_again(guarded: &Guarded, after: &[Request]) -> bool {
    let mut active = list_active(after);
    active.clone().any(|request| section(request) == Section::Deeper)
        || is_retry(guarded.guard) && active.any(|request| section(request) == Section::Body)
}

/// True for a loop that ends with a success, and goes on after an error.
fn is_retry(guard: &Guard) -> bool {
    guard.loop_first > 0 && guard.failure == "again" && matches!(guard.success.as_str(), "leave" | "break")
}

fn is_other_way(guarded: &Guarded, after: &[Request]) -> bool {
    let guard = guarded.guard;
    let is_in_loop = guard.loop_first > 0;
    let only_after_error = |request: &&Request| match section(request) {
        Section::Handler => true,
        Section::Rest => guard.success == "leave",
        _ => false,
    };
    let bytes: Bytes = list_active(after).filter(only_after_error).map(|request| request.bytes).sum();
    let refused = Bytes(guarded.oom.requested_bytes);
    let repeats_data = is_in_loop && !is_retry(guard);
    let least = if repeats_data { refused } else { LEAST.max(Bytes(refused.0 / LEAST_PART)) };
    let is_repeated =
        |request: &Request| section(request) == Section::Rest && request.stack.is_some_and(|seen| seen.is_callee);
    bytes >= least || !is_in_loop && list_active(after).any(is_repeated)
}

/// True if the failed work is done outside the guard from some request on, and steps follow.
fn has_left(guarded: &Guarded, process: &Process, before: &[Request], after: &[Request]) -> bool {
    let is_guarded = |request: &Request| request.stack.is_some_and(|seen| seen.is_guarded);
    let outside = after.iter().rposition(is_guarded).map_or(0, |last| last + 1);
    let (inside, outside) = after.split_at(outside);
    let step =
        |requests: &[Request]| requests.iter().filter_map(|request| request.mark).map(|mark| mark.step).next_back();
    let makes_steps = step(outside) > step(inside).or(Some(guarded.oom.step));
    if guarded.is_in_thread() {
        return false;
    }
    if guarded.callee().is_some() {
        let calls = outside.iter().any(|request| request.stack.is_some_and(|seen| seen.is_callee));
        return calls && (makes_steps || process.steps.is_empty());
    }
    let is_step = |request: &Request| request.mark.is_some_and(|mark| mark.phase == Phase::Optimizer);
    let trained_before = before.iter().any(|request| is_step(request) && !is_guarded(request));
    let is_smaller = |request: &Request| {
        let line = request.stack.and_then(|seen| seen.own);
        line.is_some() && line == guarded.own() && request.bytes < guarded.refused_bytes()
    };
    let was_served = inside.iter().any(is_guarded) || before.iter().any(is_smaller);
    makes_steps && was_served && !trained_before
}

/// True if the guarded statements only moved modules to the device, and as many bytes of modules are moved there outside the guard.
fn is_placed_in_parts(guarded: &Guarded, before: &[Request], after: &[Request]) -> bool {
    let is_guarded = |request: &&Request| request.stack.is_some_and(|seen| seen.is_guarded);
    let is_placement = |request: &Request| request.stack.is_some_and(|seen| seen.requester == Requester::Placement);
    let placed: Vec<&Request> = before.iter().filter(is_guarded).collect();
    let again = after.iter().filter(|request| is_placement(request) && !is_guarded(request));
    let wanted: u64 = placed.iter().map(|request| size(request)).sum::<u64>() + guarded.refused_bytes().0;
    guarded.guard.loop_first == 0
        && guarded.is_placement()
        && placed.iter().all(|request| is_placement(request))
        && again.map(size).sum::<u64>() >= wanted
}

/// True if blocks of the failed line, none smaller than the failed request, were allocated one after the other, and freed before any other
/// line asked. The temporaries of a single expression are fewer.
fn is_measured(guarded: &Guarded, before: &[Request], after: &[Request]) -> bool {
    let Some(line) = guarded.own() else { return false };
    let is_of_line = |request: &&Request| {
        request.stack.is_some_and(|seen| seen.requester == Requester::Line && seen.own == Some(line))
    };
    let filled: Vec<&Request> = before.iter().rev().take_while(is_of_line).collect();
    let is_large = |request: &&Request| size(request) >= guarded.refused_bytes().0;
    let more: Vec<&Request> = after.iter().take_while(is_of_line).collect();
    let Some(next) = after.get(more.len()) else { return false };
    let end = guarded.index(next.event);
    filled.len() >= LEAST_BLOCKS
        && filled.iter().all(is_large)
        && filled.iter().chain(&more).all(|request| guarded.is_freed_before(request, end))
}

/// True if the requests up to the error are repeated with equal sizes.
fn is_same_again(guarded: &Guarded, before: &[Request], after: &[Request]) -> bool {
    let own = guarded.own();
    let is_in_python =
        before.last().is_none_or(|request| request.stack.is_some()) || guarded.oom.phase.0 != Some(Phase::Backward);
    let line = own.filter(|_| is_in_python);
    let is_of_line = |request: &&Request| request.stack.and_then(|seen| seen.own) == line;
    let mut failed: Vec<u64> = before.iter().rev().take_while(is_of_line).map(size).collect();
    failed.reverse();
    failed.push(guarded.refused_bytes().0.next_multiple_of(ROUNDING));
    let again = after.iter().skip_while(|request| !is_of_line(request)).take_while(is_of_line);
    again.map(size).take(failed.len()).collect::<Vec<_>>() == failed
}

fn size(request: &Request) -> u64 {
    request.bytes.0.next_multiple_of(ROUNDING)
}

/// True if the guard's last two errors are of one request, and nothing else ran in between: the program tried the same again.
fn is_repeated_error(guarded: &Guarded, process: &Process) -> bool {
    let errors = process.ooms.iter().filter(|other| other.caught_at == guarded.oom.caught_at);
    let earlier = errors.take_while(|other| !std::ptr::eq(*other, guarded.oom)).last();
    let Some(earlier) = earlier.and_then(|earlier| Guarded::of(process, earlier)) else { return false };
    let between = earlier.after();
    let end = guarded.refused_index();
    let mut between = between.iter().take_while(|request| earlier.index(request.event) < end);
    let is_one = earlier.oom.requested_bytes == guarded.oom.requested_bytes && earlier.oom.frames == guarded.oom.frames;
    is_one && between.all(|request| request.stack.is_none_or(|seen| seen.section == Section::Body))
}

/// Lists the requests up to the return of the function that caught the error.
fn list_active<'a>(after: &'a [Request<'a>]) -> impl Iterator<Item = &'a Request<'a>> + Clone {
    let known = after.iter().filter(|request| request.stack.is_some());
    known.take_while(|request| section(request) != Section::Outside)
}

fn section(request: &Request) -> Section {
    request.stack.map_or(Section::Outside, |seen| seen.section)
}

#[cfg(test)]
mod tests {
    use trace::run::{ProcessRecord, StepRecord};
    use trace::{Action, Address, Event, Frame, FrameId, Mark, Snapshot};

    use super::*;

    const SCRIPT: &str = "/home/ann/train.py";

    /// The lines of the guard, its handler and its loop, and the ways out.
    fn guard(body: (u32, u32), handler_last: u32, in_loop: (u32, u32), success: &str, failure: &str) -> Guard {
        Guard {
            body_first: body.0,
            body_last: body.1,
            handler_last,
            loop_first: in_loop.0,
            loop_last: in_loop.1,
            success: success.to_owned(),
            failure: failure.to_owned(),
        }
    }

    /// Makes a process of lines such as `8 step:27 pick:36 main:46`: MiB and stack, innermost first. `oom` before the size is an error that
    /// the guard catches in the line `caught`, `free` before it frees the latest blocks of that size, `step` ends an optimizer step.
    fn run(caught: u32, guard: &Guard, lines: &[&str]) -> Process {
        let identity = ProcessRecord { script_dir: "/home/ann".to_owned(), ..ProcessRecord::default() };
        let mut process = Process { identity, ..Process::default() };
        let mut snapshot = Snapshot::default();
        let (mut events, mut live, mut step) = (Vec::new(), Vec::new(), 1);
        for (number, line) in (1..).zip(lines) {
            let words: Vec<&str> = line.split(' ').collect();
            snapshot.marks.push(Mark { step, ..Mark::default() });
            match words[..] {
                ["step"] => {
                    process.steps.push(StepRecord { step, ..StepRecord::default() });
                    step += 1;
                }
                ["free"] => events
                    .extend(live.drain(..).map(|(address, size)| Event::new(Action::FreeRequested, address, size))),
                ["oom", mib, ref stack @ ..] => {
                    let (frames, stack) = intern(&mut snapshot, stack);
                    let bytes = Bytes::from_mib(mib.parse().expect("a size"));
                    events.push(Event { stack, ..Event::new(Action::Oom, Address(0), bytes) });
                    let frames = frames.into_iter().map(|frame| (frame.function, frame.file, frame.line)).collect();
                    let caught_at = Some((SCRIPT.to_owned(), caught));
                    process.ooms.push(OomRecord {
                        requested_bytes: bytes.0,
                        step,
                        frames,
                        caught_at,
                        guard: Some(guard.clone()),
                        ..OomRecord::default()
                    });
                }
                [mib, ref stack @ ..] => {
                    let (_, stack) = intern(&mut snapshot, stack);
                    let (address, size) = (Address(number << 40), Bytes::from_mib(mib.parse().expect("a size")));
                    let mark = u32::try_from(snapshot.marks.len() - 1).ok();
                    events.push(Event { stack, mark, ..Event::new(Action::Alloc, address, size) });
                    live.push((address, size));
                }
                [] => {}
            }
        }
        snapshot.traces = vec![events];
        process.snapshot = Some(snapshot);
        process
    }

    fn intern(snapshot: &mut Snapshot, stack: &[&str]) -> (Vec<Frame>, trace::StackId) {
        let frame = |word: &&str| {
            let (function, line) = word.split_once(':').expect("a line");
            Frame { function: function.to_owned(), file: SCRIPT.to_owned(), line: line.parse().expect("a line") }
        };
        let frames: Vec<Frame> = stack.iter().map(frame).collect();
        let ids: Vec<FrameId> = frames.iter().map(|frame| snapshot.stacks.intern_frame(frame.clone())).collect();
        (frames, snapshot.stacks.intern_stack(&ids))
    }

    fn found(caught: u32, guard: &Guard, lines: &[&str]) -> Option<Recovery> {
        let process = run(caught, guard, lines);
        find_recovery(&process, process.ooms.last().expect("an error"))
    }

    #[test]
    fn a_loop_that_ends_with_a_success_is_a_search() {
        // for size in sizes: (34)  try: step(size); return size (36, 37)  except: (38, 40)
        let list = guard((36, 37), 40, (34, 40), "leave", "again");
        let smaller = [
            "oom 16 step:27 pick:36 main:46",
            "oom 8 step:27 pick:36 main:46",
            "4 step:27 pick:36 main:46",
            "4 step:27 main:48",
        ];
        assert_eq!(found(38, &list, &smaller), Some(Recovery::Smaller));
        // A pass with the same requests, and the same request three times.
        let same = ["oom 8 step:27 pick:36 main:46", "8 step:27 pick:36 main:46"];
        assert_eq!(found(38, &list, &same), None);
        let thrice = ["oom 8 step:27 pick:36 main:46", "oom 8 step:27 pick:36 main:46", "4 step:27 pick:36 main:46"];
        assert_eq!(found(38, &list, &thrice), None);
        // The list has come to its end.
        assert_eq!(found(38, &list, &["oom 8 step:27 pick:36 main:46", "4 other:3 main:50"]), None);
    }

    #[test]
    fn a_loop_that_goes_on_after_a_success_skips() {
        let skip = guard((20, 22), 25, (19, 26), "again", "again");
        let batches = [
            "2 step:9 main:21",
            "step",
            "oom 8 step:9 main:21",
            "1 step:9 main:21",
            "step",
            "2 step:9 main:21",
            "step",
        ];
        assert_eq!(found(23, &skip, &batches), None);
        // The handler replaces the loss by a zero; it does the batch in parts.
        assert_eq!(found(23, &skip, &["oom 8 step:9 main:21", "1 main:24", "2 step:9 main:21"]), None);
        let parts = ["oom 8 step:9 main:21", "4 step:9 main:24", "4 step:9 main:24", "2 step:9 main:21"];
        assert_eq!(found(23, &skip, &parts), Some(Recovery::OtherWay));
    }

    #[test]
    fn a_function_that_calls_itself_is_a_search() {
        let once = guard((30, 36), 40, (0, 0), "next", "next");
        assert_eq!(
            found(37, &once, &["oom 8 train:34 main:50", "2 train:34 train:44 main:50"]),
            Some(Recovery::Smaller)
        );
    }

    #[test]
    fn code_that_runs_only_after_the_error_is_another_way() {
        let tried = guard((27, 27), 29, (0, 0), "leave", "leave");
        let chunks = ["oom 8192 attend:16 answer:27 main:35", "512 attend:16 chunks:20 answer:30 main:35"];
        assert_eq!(found(28, &tried, &chunks), Some(Recovery::OtherWay));
        let other_lines = ["oom 8192 attend:16 answer:27 main:35", "512 slow:3 answer:29 main:35"];
        assert_eq!(found(28, &tried, &other_lines), Some(Recovery::OtherWay));
        // A cleaning up; the next call; an optional part whose lines nobody repeats.
        assert_eq!(found(28, &tried, &["oom 8192 attend:16 answer:27 main:35", "1 answer:29 main:35"]), None);
        assert_eq!(
            found(28, &tried, &["oom 8192 attend:16 answer:27 main:35", "512 attend:16 answer:27 main:36"]),
            None
        );
        let optional = guard((5, 5), 7, (0, 0), "next", "next");
        assert_eq!(found(6, &optional, &["oom 8192 preview:2 main:5", "512 step:9 main:12", "step"]), None);
        // An evicted cache.
        assert_eq!(found(28, &tried, &["oom 4096 load:21 get:27 main:35", "4096 load:21 get:30 main:35"]), None);
    }

    #[test]
    fn a_guard_that_is_left_for_good_was_a_search() {
        // def fits(size): try: step(size); return True  except: return False
        let fits = guard((11, 12), 14, (0, 0), "leave", "leave");
        let search = [
            "oom 64 step:5 fits:11 main:20",
            "16 step:5 fits:11 main:20",
            "step",
            "16 step:5 main:30",
            "step",
            "16 step:5 main:30",
        ];
        assert_eq!(found(13, &fits, &search), Some(Recovery::Smaller));
        assert_eq!(found(13, &fits, &search[..3]), None, "nothing was done outside");
        // The guarded statements ask themselves; the training came before.
        let inline = ["2 fits:11 main:20", "step", "oom 64 fits:11 main:20", "2 main:30", "step", "2 main:30"];
        assert_eq!(found(13, &fits, &inline), Some(Recovery::Smaller));
        assert_eq!(
            found(13, &fits, &["oom 64 fits:11 main:20", "2 main:30", "step", "2 main:30"]),
            None,
            "no size was found"
        );
    }

    #[test]
    fn blocks_that_fill_the_device_and_are_freed_measure_it() {
        let fill = guard((14, 15), 17, (0, 0), "next", "next");
        let block = "256 measure:15 main:36";
        let refused = "oom 256 measure:15 main:36";
        assert_eq!(
            found(16, &fill, &[block, block, block, block, refused, "free", "64 main:40"]),
            Some(Recovery::Measured)
        );
        assert_eq!(
            found(16, &fill, &[block, block, block, block, refused, "64 main:40", "free"]),
            None,
            "they are used"
        );
        assert_eq!(found(16, &fill, &[block, block, refused, "free", "64 main:40"]), None, "temporaries");
    }
}
