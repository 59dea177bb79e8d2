//! Events of runs. Nothing here prints: a listener shows the events.

use std::sync::OnceLock;

use diagnose::Variant;
use trace::{Bytes, Phase};

/// An event.
#[derive(Clone, Copy, Debug)]
pub enum RunEvent<'a> {
    /// A sentence for the user, such as a warning.
    Remark(&'a str),
    /// The start of a program, with a sentence if it is the only one, and its output is hidden.
    Started(Option<&'a str>),
    /// The variant of a search that is shown now; `None` while the program's packages are imported.
    Trial(Option<&'a Variant>),
    /// The running program.
    GoesOn(&'a Sight),
    /// The user asks for the end, and the command answers with what was seen.
    Asked,
    /// The end of the program.
    Ended,
}

/// A running program as it is seen from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// The step, counted from 1, and the phase; `None` before the program has used a GPU.
    pub position: Option<(u32, Phase)>,
    /// The innermost line of the user's own code, as of some seconds ago.
    pub line: Option<(String, u32)>,
    /// The bytes in use on the fullest device, and their peak; `None` before the program has used a GPU.
    pub memory: Option<(Bytes, Bytes)>,
}

/// Takes events, of any thread.
pub trait RunListener: Send + Sync {
    /// Takes an event.
    fn hear(&self, event: RunEvent);
}

/// The listener of the whole process: a destructor that removes a folder has no caller for a warning.
static LISTENER: OnceLock<Box<dyn RunListener>> = OnceLock::new();

/// Sets the listener. The first one stays.
pub fn set_listener(listener: Box<dyn RunListener>) {
    let _: Result<(), Box<dyn RunListener>> = LISTENER.set(listener);
}

/// Passes an event to the listener, if there is one.
pub fn tell(event: RunEvent) {
    if let Some(listener) = LISTENER.get() {
        listener.hear(event);
    }
}

/// Passes a sentence to the listener.
pub fn remark(text: &str) {
    tell(RunEvent::Remark(text));
}
