//! The command line's definition in the text of the skill.

use clap::{Arg, Command};

const OPEN: &str = "{{options ";
const CLOSE: &str = "}}";

/// Replaces each `{{options COMMAND: NAME NAME}}` by a list of these options with their help.
pub(super) fn fill(text: &str, all: &Command) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (wanted, after) = after.split_once(CLOSE).unwrap_or((after, ""));
        filled.push_str(before);
        filled.push_str(&list(wanted, all));
        rest = after;
    }
    filled + rest
}

fn list(wanted: &str, all: &Command) -> String {
    let (command, names) = wanted.split_once(": ").unwrap_or((wanted, ""));
    let command = all.find_subcommand(command);
    let options = names.split(' ').filter_map(|name| find(command?, name)).map(describe);
    options.collect::<Vec<_>>().join("\n")
}

fn find<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|option| option.get_long() == Some(name))
}

/// `- `--vram <SIZE>`: the first line of its help`.
fn describe(option: &Arg) -> String {
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let value = if option.get_action().takes_values() { option.get_value_names().and_then(<[_]>::first) } else { None };
    let value = value.map_or_else(String::new, |value| format!(" {value}"));
    format!("- `--{}{value}`: {}", option.get_long().unwrap_or_default(), help.lines().next().unwrap_or_default())
}

/// Lists the commands and options in the code of a text that the command line does not have: words behind `oomph`, up to a script or a `--`.
#[cfg(test)]
pub(super) fn list_unknown(text: &str, all: &Command) -> Vec<String> {
    let uses = text.split('`').skip(1).step_by(2).filter_map(|code| code.strip_prefix("oomph "));
    uses.filter(|code| !code.starts_with("COMMAND")).flat_map(|code| find_unknown(code, all)).collect()
}

#[cfg(test)]
fn find_unknown(code: &str, all: &Command) -> Vec<String> {
    let (name, rest) = code.split_once(' ').unwrap_or((code, ""));
    let Some(command) = all.find_subcommand(name) else { return vec![name.to_owned()] };
    let ours = rest.split(' ').take_while(|word| !word.contains(".py") && *word != "--");
    let options = ours.filter_map(|word| word.strip_prefix("--"));
    options
        .filter(|name| find(command, name).is_none())
        .map(|name| format!("{} --{name}", command.get_name()))
        .collect()
}
