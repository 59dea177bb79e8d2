//! The GPUs of a machine and their processes by now, as values, and as lines. The serialised form is the contract of `oomph top --once --json`
//! (docs/schema/README.md).

mod columns;
mod gpu_lines;
mod machine_report;
mod process_lines;
mod screen;
mod screen_line;
mod sentences;
mod words;

pub use self::machine_report::{TopGpu, TopMig, TopProcess, TopRecorded, TopReport, TopUse};
pub use self::screen::Screen;
pub(crate) use self::screen::write_text;
pub use self::screen_line::{ScreenLine, Tone};
pub(crate) use self::sentences::{headline, list_sentences};
