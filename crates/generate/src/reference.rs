//! The command line's reference in Markdown, from clap's definition.

use clap::builder::StyledStr;
use clap::{Arg, Command};

const INTRODUCTION: &str = "\
# Command reference

Written by `make generate` from the definition of the command line. The JSON of every report has a [schema](schema/README.md).
";

/// Returns the reference of all commands.
pub(crate) fn write_reference() -> String {
    let all = oomph::define_command_line();
    let commands: Vec<&Command> = all.get_subcommands().filter(|command| is_listed(command)).collect();
    let rows: String = commands.iter().map(|command| format_row(command)).collect();
    let sections: String = commands.into_iter().map(format_section).collect();
    format!("{INTRODUCTION}\n| command | purpose |\n|---|---|\n{rows}{sections}")
}

fn is_listed(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

fn format_row(command: &Command) -> String {
    let name = command.get_name();
    format!("| [`oomph {name}`](#oomph-{name}) | {} |\n", to_plain(command.get_about()).replace('|', "\\|"))
}

/// A command: purpose, usage, arguments, options under their headings, examples.
fn format_section(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let mut text = format!("\n## oomph {}\n\n{}.\n\n```text\n{usage}\n```\n", command.get_name(), describe(command));
    for (heading, arguments) in group_arguments(command) {
        text.extend([format!("\n**{heading}**\n\n")]);
        text.extend(arguments.into_iter().map(format_item));
    }
    let examples = to_plain(command.get_after_long_help().or(command.get_after_help()));
    if !examples.is_empty() {
        text.extend([format!("\n```text\n{examples}\n```\n")]);
    }
    text
}

fn describe(command: &Command) -> String {
    let about = to_plain(command.get_long_about().or(command.get_about()));
    about.trim_end_matches('.').to_owned()
}

/// Visible arguments by heading, positional ones first; `--help` and `--version` are left out.
fn group_arguments(command: &Command) -> Vec<(String, Vec<&Arg>)> {
    let mut groups: Vec<(String, Vec<&Arg>)> = Vec::new();
    let options = command.get_arguments().filter(|argument| !argument.is_positional());
    for argument in command.get_positionals().chain(options).filter(|argument| !argument.is_hide_set()) {
        if matches!(argument.get_id().as_str(), "help" | "version") {
            continue;
        }
        // A positional argument has the heading of whichever group of options stands before it.
        let heading = match argument.get_help_heading() {
            _ if argument.is_positional() => "Arguments",
            Some(heading) => heading,
            None => "Options",
        };
        match groups.iter_mut().find(|(known, _)| known == heading) {
            Some((_, arguments)) => arguments.push(argument),
            None => groups.push((heading.to_owned(), vec![argument])),
        }
    }
    groups
}

/// One argument as an item of a list.
fn format_item(argument: &Arg) -> String {
    let help = to_plain(argument.get_long_help().or(argument.get_help()));
    format!("- `{}`: {}{}\n", format_names(argument), help.replace('\n', " "), list_remarks(argument))
}

fn format_names(argument: &Arg) -> String {
    let value = format_values(argument);
    let long = argument.get_long().map(|long| format!("--{long}"));
    let short = argument.get_short().map(|short| format!("-{short}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    if names.is_empty() { value } else { format!("{} {value}", names.join(", ")).trim_end().to_owned() }
}

/// The placeholders of an argument's values, such as `<NAME>`.
fn format_values(argument: &Arg) -> String {
    if !argument.is_positional() && !argument.get_action().takes_values() {
        return String::new();
    }
    let id = argument.get_id().as_str().to_uppercase();
    let names = argument.get_value_names().map_or(vec![id], |names| names.iter().map(ToString::to_string).collect());
    names.iter().map(|name| format!("<{name}>")).collect::<Vec<_>>().join(" ")
}

/// Default, choices and variable of an argument, in brackets.
fn list_remarks(argument: &Arg) -> String {
    let mut remarks = Vec::new();
    let defaults = argument.get_default_values();
    if !defaults.is_empty() && argument.get_action().takes_values() {
        let defaults: Vec<String> = defaults.iter().map(|value| format!("`{}`", value.display())).collect();
        remarks.push(format!("default: {}", defaults.join(", ")));
    }
    let choices: Vec<String> =
        argument.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    if !choices.is_empty() && argument.get_action().takes_values() {
        remarks.push(format!("choices: {}", choices.join(", ")));
    }
    if let Some(variable) = argument.get_env() {
        remarks.push(format!("variable: `{}`", variable.display()));
    }
    if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join("; ")) }
}

fn to_plain(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}
