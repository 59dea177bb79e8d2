//! The arguments of `oomph skill`.

use std::path::PathBuf;

use clap::Args;

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph skill                                  prints the skill
  oomph skill --install .claude/skills         writes .claude/skills/oomph/SKILL.md
  oomph skill --install ~/.codex/skills
  oomph skill --paragraph >> AGENTS.md         a paragraph for the instructions of a repository";

#[derive(Debug, Args)]
pub(crate) struct Skill {
    /// Write the skill to DIR/oomph/SKILL.md, over an older one
    #[arg(long, value_name = "DIR")]
    pub(crate) install: Option<PathBuf>,

    /// Print a paragraph for an AGENTS.md or CLAUDE.md in place of the skill
    #[arg(long, conflicts_with = "install")]
    pub(crate) paragraph: bool,
}
