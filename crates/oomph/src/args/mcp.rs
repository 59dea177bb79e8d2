//! The arguments of `oomph mcp`.

use std::path::PathBuf;

use clap::Args;

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph mcp                                       for the current folder
  oomph mcp --folder ~/project --python ~/project/.venv/bin/python

In the configuration of an agent, as most read it:
  {\"mcpServers\": {\"oomph\": {\"command\": \"oomph\", \"args\": [\"mcp\", \"--folder\", \"DIR\"]}}}

The tools are check, fit, explain and gpus; they do what the commands of these names do with --json. Paths of calls lie within the folder.
An agent may start the server without your environment: name the Python that has PyTorch with --python.
Exit status: 0 the client closed the connection, 2 oomph could not serve; after a signal 128 and its number.";

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// The folder that holds the programs and logs; no path of a call may lie outside
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,

    /// The Python that runs scripts [default: the active environment's, else `python3`]
    #[arg(long, value_name = "PATH", env = crate::environment::PYTHON)]
    pub(crate) python: Option<PathBuf>,
}
