//! The errors of the parser of arguments, as clap has them.

use clap::error::{ContextKind, ContextValue};
use report::failure::{CommandError, ErrorKind};

/// Returns an error about the options of a command as it is written for programs.
pub(super) fn describe(error: &clap::Error, command: Option<&str>) -> CommandError {
    let rendered = error.render().to_string();
    // Clap writes the sentence first, and then advice and the usage, each after an empty line.
    let (message, _) = rendered.split_once("\n\n").unwrap_or((&rendered, ""));
    let message = message.trim_end();
    let next: Vec<String> = ["oomph"].into_iter().chain(command).chain(["--help"]).map(str::to_owned).collect();
    CommandError {
        kind: ErrorKind::BadArguments,
        message: message.strip_prefix("error: ").unwrap_or(message).to_owned(),
        file: None,
        line: None,
        hint: Some(find_suggestion(error).unwrap_or_else(|| format!("`{}` lists the options", next.join(" ")))),
        next: Some(next),
        output: None,
    }
}

/// The option, value or command that clap takes for the meant one.
fn find_suggestion(error: &clap::Error) -> Option<String> {
    let kinds = [ContextKind::SuggestedArg, ContextKind::SuggestedValue, ContextKind::SuggestedSubcommand];
    let suggested = kinds.into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(name) => Some(name.clone()),
        ContextValue::Strings(names) if !names.is_empty() => Some(names.join("` or `")),
        _ => None,
    });
    suggested.map(|name| format!("did you mean `{name}`?"))
}
