//! The arguments of `oomph completions`, and the command line as a shell completes it.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command, ValueHint};
use clap_complete::Shell;

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph completions bash > ~/.local/share/bash-completion/completions/oomph
  oomph completions zsh > ~/.zfunc/_oomph      with fpath+=~/.zfunc before compinit in ~/.zshrc
  oomph completions fish > ~/.config/fish/completions/oomph.fish
  oomph completions powershell >> $PROFILE     in PowerShell
  oomph completions elvish >> ~/.config/elvish/rc.elv

A wheel puts those of bash, zsh and fish below the `share` folder of its environment.";

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell that completes
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// Adds the values that a shell offers where a parser takes more than a list: names of GPUs, rules and remedies.
///
/// The scripts of `clap_complete` list hidden commands, so that the definition is made anew without them.
pub(crate) fn add_offers(all: &Command) -> Command {
    let commands = all.get_subcommands().filter(|command| !command.is_hide_set());
    Command::new("oomph").version(env!("CARGO_PKG_VERSION")).propagate_version(true).subcommands(commands.map(
        |command| {
            let name = command.get_name().to_owned();
            command.clone().mut_args(|argument| offer(&name, argument))
        },
    ))
}

fn offer(command: &str, argument: Arg) -> Arg {
    if argument.is_trailing_var_arg_set() {
        return argument.value_hint(ValueHint::AnyPath);
    }
    let names = match (command, argument.get_id().as_str()) {
        ("gpus", "name") | (_, "gpu") => gpus::list_names(),
        ("lint", "select" | "ignore") => list_lint_rules().collect(),
        ("rule", "name") => list_rules(),
        ("remedy", "name") | (_, "with" | "allow" | "deny") => list_remedies(),
        _ => return argument,
    };
    argument.value_parser(PossibleValuesParser::new(names))
}

fn list_lint_rules() -> impl Iterator<Item = String> {
    lint::rules().iter().map(|rule| rule.id.0.to_owned())
}

/// The rules of `lint`, then the causes of runs. Some names are both.
fn list_rules() -> Vec<String> {
    let causes = causes::TABLE.iter().map(|cause| cause.name.to_owned());
    let mut names: Vec<String> = list_lint_rules().chain(causes).collect();
    names.sort();
    names.dedup();
    names
}

fn list_remedies() -> Vec<String> {
    remedies::TABLE.iter().map(|remedy| remedy.name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_offered_where_a_command_takes_them() {
        let all = add_offers(&super::super::define());
        for (command, argument, expected) in [
            ("check", "gpu", "rtx-4090"),
            ("sweep", "gpu", "h100-sxm"),
            ("gpus", "name", "rtx-4090"),
            ("rule", "name", "graph-in-collection"),
            ("lint", "ignore", "graph-in-collection"),
            ("remedy", "name", "gradient-accumulation"),
            ("fit", "deny", "gradient-accumulation"),
        ] {
            let command = all.find_subcommand(command).expect("a command of oomph");
            let argument = command.get_arguments().find(|it| it.get_id() == argument).expect("an argument of it");
            let offered = argument.get_possible_values();
            assert!(offered.iter().any(|value| value.get_name() == expected), "{expected}: {offered:?}");
        }
    }
}
