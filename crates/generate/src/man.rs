//! The man page of a command, from clap's definition.

use std::io::{self, Write};

use clap::Command;
use clap::builder::StyledStr;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

/// The line above the examples in the help of a command.
const HEADING: &str = "Examples:\n";

/// Returns the page of a command of a built definition.
pub(crate) fn write_page(command: &Command) -> Vec<u8> {
    let mut page = Vec::new();
    // Writing to a vector cannot fail.
    let _: io::Result<()> = render(command, &mut page);
    page
}

/// The commands that have a page.
pub(crate) fn list_commands(all: &Command) -> impl Iterator<Item = &Command> {
    all.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

/// The name of a page, such as `oomph-check`.
pub(crate) fn name_page(command: &Command) -> &str {
    command.get_display_name().unwrap_or(command.get_name())
}

fn render(command: &Command, page: &mut dyn Write) -> io::Result<()> {
    let (name, version) = (name_page(command).to_uppercase(), command.get_version().unwrap_or_default());
    // `Man` drops the empty date, and the version would stand in its place.
    writeln!(page, ".TH \"{name}\" \"1\" \"\" \"oomph {version}\" \"User Commands\"")?;
    let man = Man::new(command.clone());
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    let mut rest = Roff::new();
    add_commands(command, &mut rest);
    add_examples(command, &mut rest);
    rest.to_writer(page)
}

/// The commands of `oomph`, each by the name of its page.
fn add_commands(command: &Command, roff: &mut Roff) {
    if command.has_subcommands() {
        roff.control("SH", ["COMMANDS"]);
    }
    for command in list_commands(command) {
        roff.control("TP", []);
        roff.text([bold(name_page(command)), roman("(1)")]);
        roff.text([roman(to_plain(command.get_about()))]);
    }
}

/// The examples and the exit status, line by line: `Man` itself would fill them into a paragraph.
fn add_examples(command: &Command, roff: &mut Roff) {
    let text = to_plain(command.get_after_help());
    if text.is_empty() {
        return;
    }
    roff.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in text.strip_prefix(HEADING).unwrap_or(&text).lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
}

fn to_plain(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}
