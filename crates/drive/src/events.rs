//! Events of runs. This crate prints nothing: a listener shows the events.

use std::sync::OnceLock;

use trace::Process;

/// An event.
#[derive(Clone, Copy, Debug)]
pub enum RunEvent<'a> {
    /// A sentence for the user, such as a warning.
    Remark(&'a str),
    /// The start of a program with hidden output: a sentence on the run.
    Started(&'a str),
    /// The running program, with the records of the first process so far.
    GoesOn(&'a Process),
    /// The end of the program.
    Ended,
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
pub(crate) fn tell(event: RunEvent) {
    if let Some(listener) = LISTENER.get() {
        listener.hear(event);
    }
}

/// Passes a sentence to the listener.
pub(crate) fn remark(text: &str) {
    tell(RunEvent::Remark(text));
}
