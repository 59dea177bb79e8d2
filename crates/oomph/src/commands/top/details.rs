//! A process in detail: the memory of a recorded program by line.

use diagnose::measure_now;
use drive::live::find::find_run;
use drive::live::now::read_now;
use report::render::terminal::Look;
use report::render::{Format, render};

use crate::environment::current_folder;

/// The text about a process.
pub(super) struct Details {
    pub(super) pid: u32,
    pub(super) text: String,
}

/// Reads the recording of a process.
pub(super) fn read_details(pid: u32) -> Details {
    let read = find_run(pid).and_then(|folder| read_now(&folder));
    let text = match read {
        Ok(all) => {
            let own: Vec<_> = all.into_iter().filter(|(process, _)| process.identity.pid == pid).collect();
            let report = measure_now(&own, env!("CARGO_PKG_VERSION"), &current_folder());
            render(&report, Format::Terminal, Look::default()).unwrap_or_default()
        }
        Err(error) => format!(
            "{error}\nPyTorch's view is known for programs under `oomph run`: start the program with `oomph run -- python train.py`.\n"
        ),
    };
    Details { pid, text }
}
