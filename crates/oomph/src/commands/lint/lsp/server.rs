//! The state of a session: answers requests, heeds notifications, and publishes diagnostics.

use std::io::Write;
use std::ops::ControlFlow;

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeActionParams, HoverParams, InitializeParams, LogMessageParams, MessageType, PublishDiagnosticsParams,
    ShowMessageParams, Uri,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::actions::{self, Client};
use super::documents::Documents;
use super::feedback::{hover, list_diagnostics};
use super::linting::{Linted, Linter};
use super::start;
use crate::args::Lint;

/// The state of a session. Documents are linted when no message waits: fast typing is linted once.
pub(super) struct LanguageServer<W> {
    output: W,
    stage: SessionStage,
    client: Client,
    linter: Linter,
    documents: Documents,
    /// The error that the client shows.
    shown: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionStage {
    /// Before the request `initialize`.
    New,
    Open,
    /// After the request `shutdown`.
    ShutDown,
}

/// The end of a session; true after `shutdown` and `exit` in this order.
pub(super) type Flow = ControlFlow<bool>;

/// The result of a request, or the code and the message of an error.
type LspReply = Result<Value, (ErrorCode, String)>;

impl<W: Write> LanguageServer<W> {
    pub(super) fn new(arguments: &Lint, output: W) -> LanguageServer<W> {
        let linter = Linter { arguments: arguments.clone(), folders: Vec::new() };
        let (client, documents) = (Client::default(), Documents::default());
        LanguageServer { output, stage: SessionStage::New, client, linter, documents, shown: None }
    }

    /// Takes a message. A client that reads no more ends the session.
    pub(super) fn take(&mut self, message: Message) -> Flow {
        match message {
            Message::Request(request) => {
                let (id, answer) = (request.id.clone(), self.answer(request));
                self.send(&Message::Response(respond(id, answer)))
            }
            Message::Notification(note) if note.method == notification::Exit::METHOD => {
                Flow::Break(self.stage == SessionStage::ShutDown)
            }
            Message::Notification(note) if self.stage == SessionStage::Open => self.heed(note),
            // Answers to requests of this server need no heed.
            Message::Notification(_) | Message::Response(_) => Flow::Continue(()),
        }
    }

    /// Reports a text that is no message.
    pub(super) fn refuse(&mut self, problem: String) -> Flow {
        self.log(problem)
    }

    /// Lints the documents that changed.
    pub(super) fn lint_changed(&mut self) -> Flow {
        for uri in self.documents.list_stale() {
            self.lint(&uri)?;
        }
        Flow::Continue(())
    }

    fn answer(&mut self, request: Request) -> LspReply {
        let Request { method, params, .. } = request;
        match (self.stage, method.as_str()) {
            (SessionStage::New, request::Initialize::METHOD) => parse(params).map(|params| self.initialize(&params)),
            (SessionStage::New, _) => {
                Err((ErrorCode::ServerNotInitialized, format!("`{method}` came before `initialize`")))
            }
            (SessionStage::ShutDown, _) => {
                Err((ErrorCode::InvalidRequest, format!("`{method}` came after `shutdown`")))
            }
            (SessionStage::Open, request::Initialize::METHOD) => {
                Err((ErrorCode::InvalidRequest, "`initialize` came a second time".to_owned()))
            }
            (SessionStage::Open, request::Shutdown::METHOD) => {
                self.stage = SessionStage::ShutDown;
                Ok(Value::Null)
            }
            (SessionStage::Open, request::CodeActionRequest::METHOD) => {
                parse(params).and_then(|it| self.list_actions(&it))
            }
            (SessionStage::Open, request::HoverRequest::METHOD) => parse(params).and_then(|it| self.hover(it)),
            (SessionStage::Open, _) => Err((ErrorCode::MethodNotFound, format!("there is no method `{method}`"))),
        }
    }

    fn initialize(&mut self, params: &InitializeParams) -> Value {
        self.client = start::read_client(params);
        self.linter.folders = start::list_folders(params);
        self.stage = SessionStage::Open;
        start::describe_server(self.client.encoding)
    }

    fn list_actions(&mut self, params: &CodeActionParams) -> LspReply {
        // The client may ask at once after an edit.
        let _ = self.lint_changed();
        let Some(document) = self.documents.get(&params.text_document.uri) else { return Ok(Value::Null) };
        let listed = actions::list(params, document, &self.documents, &self.linter, self.client);
        to_value(&listed.map_err(|error| (ErrorCode::RequestFailed, error.to_string()))?)
    }

    fn hover(&mut self, params: HoverParams) -> LspReply {
        let _ = self.lint_changed();
        let at = params.text_document_position_params;
        let document = self.documents.get(&at.text_document.uri);
        to_value(&document.and_then(|document| hover(document, at.position, self.client.encoding)))
    }

    fn heed(&mut self, note: Notification) -> Flow {
        let Notification { method, params } = note;
        let heeded = match method.as_str() {
            notification::Initialized::METHOD if self.client.watches_files => return self.send(&start::watch_files()),
            notification::DidOpenTextDocument::METHOD => parse(params).map(|it| self.open(it)),
            notification::DidChangeTextDocument::METHOD => parse(params).map(|it| self.change(it)),
            notification::DidCloseTextDocument::METHOD => match parse(params) {
                Ok(params) => return self.close(params),
                Err(problem) => Err(problem),
            },
            notification::DidSaveTextDocument::METHOD
            | notification::DidChangeWatchedFiles::METHOD
            | notification::DidChangeConfiguration::METHOD => {
                self.documents.mark_stale();
                Ok(())
            }
            notification::DidChangeWorkspaceFolders::METHOD => parse(params).map(|it| self.change_folders(&it)),
            _ => Ok(()),
        };
        match heeded {
            Ok(()) => Flow::Continue(()),
            Err((_, problem)) => self.log(format!("`{method}` was not heeded: {problem}")),
        }
    }

    fn open(&mut self, params: lsp_types::DidOpenTextDocumentParams) {
        self.documents.open(params.text_document);
    }

    fn change(&mut self, params: lsp_types::DidChangeTextDocumentParams) {
        let changed = params.text_document;
        self.documents.change(&changed.uri, changed.version, params.content_changes, self.client.encoding);
    }

    /// Closes a document; the client keeps no diagnostics of it.
    fn close(&mut self, params: lsp_types::DidCloseTextDocumentParams) -> Flow {
        let uri = params.text_document.uri;
        if !self.documents.close(&uri) {
            return Flow::Continue(());
        }
        self.notify::<notification::PublishDiagnostics>(PublishDiagnosticsParams::new(uri, Vec::new(), None))
    }

    fn change_folders(&mut self, params: &lsp_types::DidChangeWorkspaceFoldersParams) {
        let gone: Vec<_> = params.event.removed.iter().filter_map(start::path_of_folder).collect();
        self.linter.folders.retain(|folder| !gone.contains(folder));
        self.linter.folders.extend(params.event.added.iter().filter_map(start::path_of_folder));
        self.documents.mark_stale();
    }

    /// Lints a document and publishes the findings; without usable settings there are none.
    fn lint(&mut self, uri: &Uri) -> Flow {
        let Some(document) = self.documents.get(uri) else { return Flow::Continue(()) };
        let (linted, problem) = match self.linter.lint(document, &self.documents) {
            Ok(Linted::Text(linted)) => (linted, None),
            Ok(Linted::Panicked) => {
                (None, Some(format!("a rule failed on {}, which is a bug of oomph", document.path.display())))
            }
            Err(error) => (None, Some(error.to_string())),
        };
        self.documents.set_linted(uri, linted);
        self.show(problem)?;
        let Some(document) = self.documents.get(uri) else { return Flow::Continue(()) };
        let found = list_diagnostics(document, self.client.encoding);
        let published = PublishDiagnosticsParams::new(uri.clone(), found, Some(document.version));
        self.notify::<notification::PublishDiagnostics>(published)
    }

    /// Shows a problem to the user, once.
    fn show(&mut self, problem: Option<String>) -> Flow {
        let is_new = problem != self.shown;
        self.shown.clone_from(&problem);
        match problem.filter(|_| is_new) {
            Some(problem) => self.notify::<notification::ShowMessage>(ShowMessageParams {
                typ: MessageType::ERROR,
                message: format!("oomph lint: {problem}"),
            }),
            None => Flow::Continue(()),
        }
    }

    fn log(&mut self, message: String) -> Flow {
        self.notify::<notification::LogMessage>(LogMessageParams { typ: MessageType::WARNING, message })
    }

    fn notify<N: notification::Notification>(&mut self, params: N::Params) -> Flow {
        self.send(&Message::Notification(Notification::new(N::METHOD.to_owned(), params)))
    }

    fn send(&mut self, message: &Message) -> Flow {
        match message.write(&mut self.output) {
            Ok(()) => Flow::Continue(()),
            Err(_) => Flow::Break(false),
        }
    }
}

fn respond(id: RequestId, answer: LspReply) -> Response {
    match answer {
        Ok(result) => Response::new_ok(id, result),
        Err((code, message)) => Response::new_err(id, code as i32, message),
    }
}

fn parse<P: DeserializeOwned>(params: Value) -> Result<P, (ErrorCode, String)> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn to_value(result: &impl Serialize) -> LspReply {
    serde_json::to_value(result).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}
