//! The server: its answers to the requests of a client.

use std::pin::pin;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, ErrorCode, ErrorData,
    Implementation, InitializeRequestParams, InitializeResult, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::answers::{fail, read_answer, read_gpus};
use crate::brief::ReportLength;
use crate::command::{EndedCommand, Launcher};
use crate::error::CallError;
use crate::inputs::{CallLimits, CheckCall, CommandWords, ExplainCall, FitCall, GpusCall};
use crate::progress::{CallProgress, HEARTBEAT};
use crate::tools::ToolName;

const INSTRUCTIONS: &str = "oomph says before a GPU is touched whether a PyTorch program fits its memory. Call `check` before a long or paid run, \
                            `fit` if it does not fit, `explain` with the text of a CUDA out of memory error. Paths are relative to the served folder. \
                            The tools print one sentence; the structured content has the figures, sizes in bytes.";
/// Programs at a time: a dry run uses all cores as it is, and its memory is the user's.
const PROGRAMS: usize = 1;
/// Other commands at a time.
const LOOKS: usize = 4;

/// The server of one client.
pub(crate) struct ToolServer {
    launcher: Launcher,
    limits: CallLimits,
    version: String,
    tools: Vec<Tool>,
    programs: Semaphore,
    looks: Semaphore,
    closing: CancellationToken,
}

impl ToolServer {
    pub(crate) fn new(launcher: Launcher, limits: CallLimits, version: &str, closing: CancellationToken) -> ToolServer {
        ToolServer {
            launcher,
            limits,
            version: version.to_owned(),
            tools: ToolName::ALL.into_iter().map(ToolName::describe).collect(),
            programs: Semaphore::new(PROGRAMS),
            looks: Semaphore::new(LOOKS),
            closing,
        }
    }

    async fn call(
        &self,
        tool: ToolName,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, CallError> {
        let (line, detail) = self.read_arguments(tool, arguments)?;
        let mut progress = CallProgress::of(context);
        let semaphore = if tool.runs_a_program() { &self.programs } else { &self.looks };
        let _turn = tokio::select! {
            turn = wait_turn(semaphore, &mut progress) => turn?,
            () = self.stop(context) => return Err(CallError::Cancelled),
        };
        progress.tell(&format!("oomph {} runs", tool.name())).await;
        let ended = self.launcher.run(line, &mut progress, self.stop(context)).await?;
        let answer = if tool == ToolName::Gpus { read_gpus(&ended.answer) } else { read_answer(&ended.answer, detail) };
        answer.ok_or_else(|| report_silence(tool, &ended))
    }

    fn read_arguments(&self, tool: ToolName, arguments: Value) -> Result<(CommandWords, ReportLength), CallError> {
        match tool {
            ToolName::Check => {
                let input: CheckCall = parse(arguments)?;
                Ok((input.to_words(&self.limits)?, input.detail))
            }
            ToolName::Fit => {
                let input: FitCall = parse(arguments)?;
                Ok((input.to_words(&self.limits)?, input.detail))
            }
            ToolName::Explain => {
                let input: ExplainCall = parse(arguments)?;
                Ok((input.to_words(&self.limits)?, input.detail))
            }
            ToolName::Gpus => Ok((parse::<GpusCall>(arguments)?.to_words()?, ReportLength::Full)),
        }
    }

    /// Ends when the client cancels the call, or leaves.
    async fn stop(&self, context: &RequestContext<RoleServer>) {
        tokio::select! {
            () = context.ct.cancelled() => {}
            () = self.closing.cancelled() => {}
        }
    }
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("oomph", &self.version))
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let answer = self.negotiate_initialize(&request)?;
        // Later requests are answered in the words of this version, whichever was asked for.
        request.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(answer)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = ToolName::find(&request.name) else {
            let names = ToolName::ALL.map(ToolName::name).join("`, `");
            return Err(ErrorData::invalid_params(
                format!("there is no tool `{}`; there are `{names}`", request.name),
                None,
            ));
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let result = self.call(tool, arguments, &context).await;
        Ok(result.unwrap_or_else(|error| fail(error.to_string())).into())
    }

    /// Requests outside of the SDK's types: unknown methods, and known methods with wrong parameters.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        Err(match method.as_str() {
            "initialize" | "tools/call" => {
                ErrorData::invalid_params(format!("the parameters of `{method}` are not those of the protocol"), None)
            }
            _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}`"), None),
        })
    }
}

fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, CallError> {
    Ok(serde_json::from_value(arguments)?)
}

/// Waits for the calls before, with a sign of life.
async fn wait_turn<'a>(
    semaphore: &'a Semaphore,
    progress: &mut CallProgress,
) -> Result<SemaphorePermit<'a>, CallError> {
    if let Ok(turn) = semaphore.try_acquire() {
        return Ok(turn);
    }
    let mut turn = pin!(semaphore.acquire());
    progress.tell("waits for the end of another call").await;
    loop {
        tokio::select! {
            // The semaphore is never closed.
            turn = &mut turn => return turn.map_err(|_| CallError::Cancelled),
            () = sleep(HEARTBEAT) => progress.repeat().await,
        }
    }
}

fn report_silence(tool: ToolName, ended: &EndedCommand) -> CallError {
    let said = ended.said.trim();
    CallError::NoAnswer {
        command: tool.name().to_owned(),
        status: ended.status.to_string(),
        said: if said.is_empty() { String::new() } else { format!("\n{said}") },
    }
}
