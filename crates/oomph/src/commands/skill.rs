//! `oomph skill`: the instructions for coding agents, with the commands and options of this version's command line.

mod placeholders;

use std::fs;
use std::path::Path;

use crate::args::{self, define};
use crate::effects::publish;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::output;

/// The instructions. `{{options COMMAND: NAMES}}` stands for a list of options, and `{{version}}` for oomph's own version.
const TEMPLATE: &str = include_str!("skill/SKILL.md");
const PARAGRAPH: &str = include_str!("skill/AGENTS.md");

/// Prints or writes the skill.
pub(crate) fn run(arguments: &args::Skill) -> Result<ExitStatus, Error> {
    match &arguments.install {
        Some(folder) => install(folder)?,
        None if arguments.paragraph => output::verbatim(PARAGRAPH)?,
        None => output::verbatim(&write())?,
    }
    Ok(ExitStatus::Fits)
}

/// Writes the skill into a folder of skills.
fn install(folder: &Path) -> Result<(), Error> {
    let place = folder.join("oomph");
    fs::create_dir_all(&place).map_err(|source| Error::Unwritable { path: place.clone(), source })?;
    let path = place.join("SKILL.md");
    publish::write_whole(&path, &write())?;
    output::answer(&format!("{}\n", path.display()))
}

/// Returns the skill with the options of the command line's definition.
fn write() -> String {
    let text = TEMPLATE.replace("{{version}}", env!("CARGO_PKG_VERSION"));
    placeholders::fill(&text, &define())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_skill_is_short_and_whole() {
        let skill = write();
        assert!(skill.lines().count() <= 150, "{} lines", skill.lines().count());
        assert!(!skill.contains("{{"), "a placeholder is left");
        assert!(skill.starts_with("---\nname: oomph\ndescription: "), "no front matter");
    }

    #[test]
    fn every_command_and_option_exists() {
        for text in [write(), PARAGRAPH.to_owned()] {
            assert_eq!(placeholders::list_unknown(&text, &define()), Vec::<String>::new());
        }
    }
}
