//! The beginning of a session: what the client can do, and what this server does.

use std::path::PathBuf;

use lsp_server::{Message, Request, RequestId};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, DidChangeWatchedFilesRegistrationOptions,
    FileSystemWatcher, GlobPattern, HoverProviderCapability, InitializeParams, InitializeResult, OneOf, Registration,
    RegistrationParams, SaveOptions, ServerCapabilities, ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WorkspaceFolder, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities,
};
use serde_json::{Value, json};

use super::actions::{Client, FIX_ALL};
use super::position::PositionEncoding;
use super::uri::to_path;

/// The files that change the findings in open documents.
const WATCHED: [&str; 3] = ["**/oomph.toml", "**/pyproject.toml", "**/*.py"];

/// Reads the abilities of the client.
pub(super) fn read_client(params: &InitializeParams) -> Client {
    let general = params.capabilities.general.as_ref();
    let offered = general.and_then(|general| general.position_encodings.as_deref()).unwrap_or_default();
    let workspace = params.capabilities.workspace.as_ref();
    let edits = workspace.and_then(|workspace| workspace.workspace_edit.as_ref());
    let watches = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
    Client {
        encoding: PositionEncoding::choose(offered),
        takes_versions: edits.and_then(|edits| edits.document_changes).unwrap_or_default(),
        watches_files: watches.and_then(|watches| watches.dynamic_registration).unwrap_or_default(),
    }
}

/// The folders of the workspace.
pub(super) fn list_folders(params: &InitializeParams) -> Vec<PathBuf> {
    let folders = params.workspace_folders.iter().flatten().filter_map(path_of_folder);
    let folders: Vec<PathBuf> = folders.collect();
    if !folders.is_empty() {
        return folders;
    }
    #[expect(deprecated, reason = "older clients send this alone")]
    let root = params.root_uri.as_ref();
    root.and_then(|uri| to_path(uri.as_str())).into_iter().collect()
}

pub(super) fn path_of_folder(folder: &WorkspaceFolder) -> Option<PathBuf> {
    to_path(folder.uri.as_str())
}

/// The answer to `initialize`.
pub(super) fn describe_server(encoding: PositionEncoding) -> Value {
    let synchronization = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions::default())),
        ..TextDocumentSyncOptions::default()
    };
    let actions = CodeActionOptions {
        code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, FIX_ALL]),
        ..CodeActionOptions::default()
    };
    let folders =
        WorkspaceFoldersServerCapabilities { supported: Some(true), change_notifications: Some(OneOf::Left(true)) };
    let capabilities = ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(synchronization)),
        code_action_provider: Some(CodeActionProviderCapability::Options(actions)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        workspace: Some(WorkspaceServerCapabilities { workspace_folders: Some(folders), file_operations: None }),
        ..ServerCapabilities::default()
    };
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let server_info = Some(ServerInfo { name: "oomph lint".to_owned(), version: Some(version) });
    json!(InitializeResult { capabilities, server_info })
}

/// The request to tell of changes of files.
pub(super) fn watch_files() -> Message {
    let watcher =
        |pattern: &str| FileSystemWatcher { glob_pattern: GlobPattern::String(pattern.to_owned()), kind: None };
    let options = DidChangeWatchedFilesRegistrationOptions { watchers: WATCHED.map(watcher).to_vec() };
    let registration = Registration {
        id: "oomph-files".to_owned(),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: Some(json!(options)),
    };
    let params = RegistrationParams { registrations: vec![registration] };
    let id = RequestId::from("oomph-files".to_owned());
    Message::Request(Request::new(id, request::RegisterCapability::METHOD.to_owned(), params))
}
