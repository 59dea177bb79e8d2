//! The transport over standard input and output: one message a line, damaged lines answered here.
//!
//! The SDK's transport drops a line without JSON, and answers nothing; this transport answers with the error of JSON-RPC. Two threads read and write,
//! since standard streams block. Their channels are short: from a client that reads no answers, no further line is read.

use std::collections::HashSet;
use std::future::Future;
use std::io::{self, Read, Write};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorCode, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_util::sync::CancellationToken;

use crate::lines::{LineSplitter, StreamLine};
use crate::messages::{Decoded, MOST_BYTES, decode, refuse};

/// Lines and answers on their way.
const WAITING: usize = 16;
/// Requests without an answer; a client with more is out of order.
const MOST_REQUESTS: usize = 64;
/// The code for a server that is busy, from the range that JSON-RPC leaves to servers.
const BUSY: ErrorCode = ErrorCode(-32000);
const CHUNK_BYTES: usize = 64 << 10;

/// The transport. Ends the session, by `closing`, when the client closes a stream.
#[derive(Debug)]
pub(crate) struct StdioTransport {
    lines: Receiver<StreamLine>,
    answers: Option<Sender<String>>,
    unanswered: Unanswered,
    closing: CancellationToken,
}

impl StdioTransport {
    /// Starts the threads. The second value is closed when all answers are written, after the end of this transport.
    pub(crate) fn start(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        closing: CancellationToken,
    ) -> io::Result<(StdioTransport, mpsc::Receiver<()>)> {
        let (line_sender, lines) = channel(WAITING);
        let (answers, answer_receiver) = channel(WAITING);
        thread::Builder::new().name("mcp-read".to_owned()).spawn(move || read_lines(input, &line_sender))?;
        let (writing, written) = mpsc::channel::<()>();
        let ended = closing.clone();
        let write = move || {
            // A client that reads no answers has left.
            let _: io::Result<()> = write_lines(output, answer_receiver);
            ended.cancel();
            drop(writing);
        };
        thread::Builder::new().name("mcp-write".to_owned()).spawn(write)?;
        let unanswered = Unanswered::default();
        Ok((StdioTransport { lines, answers: Some(answers), unanswered, closing }, written))
    }

    /// Takes the next line. The answer to a damaged line goes out at once. A caller may drop the future: both waits lose nothing.
    async fn take_line(&mut self) -> Option<Decoded> {
        let answer = self.answers.as_ref()?.reserve().await.ok()?;
        let line = tokio::select! {
            line = self.lines.recv() => line?,
            () = self.closing.cancelled() => return None,
        };
        Some(match self.unanswered.check(decode(line)) {
            Decoded::Refused(text) => {
                answer.send(text);
                Decoded::Ignored
            }
            decoded => decoded,
        })
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.unanswered.note_answer(&message);
        let text = serde_json::to_string(&message);
        let answers = self.answers.clone();
        async move {
            let answers = answers.ok_or(io::ErrorKind::NotConnected)?;
            answers.send(text?).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            match self.take_line().await {
                Some(Decoded::Message(message)) => return Some(*message),
                Some(_) => {}
                None => {
                    self.closing.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.answers = None;
        Ok(())
    }
}

/// The ids of requests without an answer.
#[derive(Clone, Debug, Default)]
struct Unanswered(Arc<Mutex<HashSet<RequestId>>>);

impl Unanswered {
    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses a request whose id is in use, and one above the bound. The SDK would answer one of two requests with the same id.
    fn check(&self, decoded: Decoded) -> Decoded {
        let Decoded::Message(message) = &decoded else { return decoded };
        let mut ids = self.ids();
        match &**message {
            JsonRpcMessage::Request(request) if ids.contains(&request.id) => {
                let text = "a request with this id has no answer yet; each request needs an id of its own";
                Decoded::Refused(refuse(Some(&request.id), ErrorCode::INVALID_REQUEST, text))
            }
            JsonRpcMessage::Request(request) if ids.len() >= MOST_REQUESTS => {
                let text = format!("{MOST_REQUESTS} requests have no answer yet; send this one after the next answer");
                Decoded::Refused(refuse(Some(&request.id), BUSY, &text))
            }
            JsonRpcMessage::Request(request) => {
                ids.insert(request.id.clone());
                decoded
            }
            JsonRpcMessage::Notification(notification) => {
                // A cancelled request has no answer.
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    ids.remove(id);
                }
                decoded
            }
            _ => decoded,
        }
    }

    fn note_answer(&self, message: &TxJsonRpcMessage<RoleServer>) {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = id {
            self.ids().remove(id);
        }
    }
}

/// Sends the lines of `input` until its end, or the end of the session.
fn read_lines(mut input: impl Read, lines: &Sender<StreamLine>) {
    let mut splitter = LineSplitter::new(MOST_BYTES);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match input.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => {
                for line in splitter.push(&chunk[..count]) {
                    if lines.blocking_send(line).is_err() {
                        return;
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

fn write_lines(mut output: impl Write, mut answers: Receiver<String>) -> io::Result<()> {
    while let Some(mut answer) = answers.blocking_recv() {
        answer.push('\n');
        output.write_all(answer.as_bytes())?;
        output.flush()?;
    }
    Ok(())
}
