//! `oomph mcp`: a server of the Model Context Protocol over standard input and output, with the tools `check`, `fit`, `explain` and `gpus`.
//!
//! The server knows the protocol and no analysis: each call starts the binary itself, `oomph check --json …`, and passes the answer on. The guards
//! of a dry run, limits and cleanup are the command's, and a crash of a call leaves the server alive.

mod answers;
mod brief;
mod command;
mod confinement;
mod error;
mod inputs;
mod lines;
mod messages;
mod outline;
mod progress;
mod server;
mod tools;
mod transport;

use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

pub use crate::error::ServeError;

use crate::command::Launcher;
use crate::confinement::Confinement;
use crate::inputs::CallLimits;
use crate::server::ToolServer;
use crate::transport::StdioTransport;

/// The time for the last answers to reach a client that has closed its side.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The binary that performs the calls.
    pub program: PathBuf,
    /// The folder outside which no path of a call may lie.
    pub folder: PathBuf,
    /// The Python of calls without an own one; `None`: the command chooses.
    pub python: Option<PathBuf>,
    /// The version that clients are shown.
    pub version: &'static str,
    /// Ties a command to the life of this process, and sets its variables.
    pub prepare: fn(&mut Command),
}

/// The end of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServeEnd {
    /// The client closed a stream.
    Closed,
    /// A signal of this number came.
    Signal(i32),
}

/// Serves the client at standard input and output until the client closes one of them, or a signal comes. Running calls are ended first.
pub fn serve(settings: &ServerSettings) -> Result<ServeEnd, ServeError> {
    let confinement = Confinement::of(&settings.folder)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let closing = CancellationToken::new();
    let (transport, written) = StdioTransport::start(io::stdin(), io::stdout(), closing.clone())?;
    let launcher = Launcher {
        program: settings.program.clone(),
        folder: confinement.root().to_owned(),
        prepare: settings.prepare,
    };
    let limits = CallLimits { confinement, python: settings.python.clone() };
    let server = ToolServer::new(launcher, limits, settings.version, closing.clone());
    let end = runtime.block_on(async {
        let signalled = tokio::spawn(watch_signals(closing));
        // The handshake is a request like any other here: the SDK's own handshake ends the session at an earlier message.
        let running = rmcp::service::serve_directly(server, transport, None);
        running.waiting().await.map_err(io::Error::other)?;
        signalled.await.map_err(io::Error::other)?
    });
    drop(runtime);
    wait_for_answers(&written);
    Ok(end?)
}

/// Closes the session at the first signal; ends with the session in any case.
async fn watch_signals(closing: CancellationToken) -> io::Result<ServeEnd> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let kind = tokio::select! {
        _ = interrupt.recv() => SignalKind::interrupt(),
        _ = terminate.recv() => SignalKind::terminate(),
        _ = hangup.recv() => SignalKind::hangup(),
        () = closing.cancelled() => return Ok(ServeEnd::Closed),
    };
    closing.cancel();
    Ok(ServeEnd::Signal(kind.as_raw_value()))
}

/// Waits for the thread that writes, which may be stuck behind a client that reads nothing.
fn wait_for_answers(written: &Receiver<()>) {
    let _: Result<(), RecvTimeoutError> = written.recv_timeout(LAST_ANSWERS);
}
