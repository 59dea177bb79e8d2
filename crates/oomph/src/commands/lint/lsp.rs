//! `--lsp`: a language server on standard input and output, for editors.
//!
//! One client and one thread of work need no runtime: `lsp-server` has the messages, `lsp-types` their contents, both without one. Diagnostics are
//! pushed, since every client takes these. A document is linted as the command line would lint its file in the folder of the
//! workspace, with the unsaved texts of all open documents.

mod actions;
mod documents;
mod feedback;
mod linting;
mod position;
mod server;
mod start;
mod transport;
mod uri;

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;

use super::STACK_BYTES;
use crate::args::Lint;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::output;
use server::LanguageServer;
use transport::{Incoming, TransportError};

/// The number of messages that wait while a document is linted; the client waits with more.
const MOST_WAITING: usize = 64;
/// The status of a session that ends otherwise than by `shutdown` and `exit`, as the protocol states.
const ABRUPT: ExitStatus = ExitStatus::Programs(1);

type Read = Result<Incoming, TransportError>;

/// Serves until the client ends the session.
pub(super) fn run(arguments: &Lint) -> Result<ExitStatus, Error> {
    let arguments = arguments.clone();
    let server = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || serve(&arguments))?;
    Ok(server.join().unwrap_or(ExitStatus::Failed))
}

fn serve(arguments: &Lint) -> ExitStatus {
    let (sender, inbox) = sync_channel(MOST_WAITING);
    // Not joined: at the end of the session it may wait for input that never comes.
    thread::spawn(move || read_all(&sender));
    let mut server = LanguageServer::new(arguments, io::stdout());
    loop {
        let step = match next(&inbox, &mut server) {
            Some(Ok(Incoming::Message(message))) => server.take(message),
            Some(Ok(Incoming::Malformed(problem))) => server.refuse(problem),
            Some(Err(error)) => {
                output::say(&format!("the session ends: {error}"));
                ControlFlow::Break(false)
            }
            None => ControlFlow::Break(false),
        };
        if let ControlFlow::Break(is_orderly) = step {
            return if is_orderly { ExitStatus::Fits } else { ABRUPT };
        }
    }
}

/// Returns the next message, after the work that waits for the last one; `None` at the end of the input.
fn next(inbox: &Receiver<Read>, server: &mut LanguageServer<io::Stdout>) -> Option<Read> {
    match inbox.try_recv() {
        Ok(message) => Some(message),
        Err(TryRecvError::Disconnected) => None,
        Err(TryRecvError::Empty) => server.lint_changed().is_continue().then(|| inbox.recv().ok()).flatten(),
    }
}

/// Reads messages until the input ends or cannot be read.
fn read_all(sender: &SyncSender<Read>) {
    let mut input = io::stdin().lock();
    loop {
        let Some(message) = transport::read(&mut input).transpose() else { return };
        let is_last = message.is_err();
        if sender.send(message).is_err() || is_last {
            return;
        }
    }
}
