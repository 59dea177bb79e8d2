//! The moment at which oomph stopped a program, at the user's request or at its time limit.

use report::{Location, Stopped};
use trace::run::{Ended, StopRecord};
use trace::{Bytes, Mark, Process, Run};

use crate::measure::own::is_own;
use crate::measure::usage::find_peak;

/// Returns the moment of the stop, of the process `subject` if it was alive then, else of the first other process; `None` for a program that
/// ended by itself.
pub fn find_stop(run: &Run, ended: Option<&Ended>, subject: Option<&Process>) -> Option<Stopped> {
    let ended = ended?;
    let (by, after_seconds) = (ended.stop_cause()?, ended.seconds);
    let processes = || subject.into_iter().chain(&run.processes);
    let (mark, location) = processes().find_map(locate).unwrap_or_default();
    let (step, phase) = (mark.as_ref().map(|mark| mark.step), mark.as_ref().map(|mark| mark.phase));
    let module = mark.map(|mark| mark.module).filter(|module| !module.is_empty());
    Some(Stopped { by, after_seconds, step, phase, module, location })
}

/// The peak on the fullest device; `context`: the size of a CUDA context.
pub fn peak_on_device(run: &Run, context: Bytes) -> Bytes {
    find_peak(run, context).device_bytes
}

/// The position of a process at the stop.
fn locate(process: &Process) -> Option<(Option<Mark>, Option<Location>)> {
    let StopRecord { mark, frames, .. } = process.stop.as_ref()?;
    let own = frames.iter().find(|(_, file, _)| is_own(file, &process.identity.script_dir));
    let location = own.map(|(_, file, line)| Location { file: file.clone(), line: *line, column: None });
    Some((Mark::parse(mark), location))
}
