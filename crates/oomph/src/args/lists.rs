//! The arguments of the commands that list what oomph knows.

use clap::Args;

pub(super) const GPUS_EXAMPLES: &str = "\
Examples:
  oomph gpus                 all GPUs
  oomph gpus 4090            one, with the source of each figure
  oomph gpus --json";

#[derive(Debug, Args)]
pub(crate) struct Gpus {
    /// Show this GPU
    pub(crate) name: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RemedyName {
    /// Print the page of this remedy, such as `gradient-accumulation`
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RuleName {
    /// Print the page of this rule, such as `graph-in-collection`
    pub(crate) name: Option<String>,
}
