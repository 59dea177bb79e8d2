//! The files of a wheel's `share` folder: a man page for each command, and the scripts that complete the command line in shells.
//!
//! The repository keeps none of them: `make share` writes the files, and maturin packs the folder as data of the wheel.

use std::path::Path;
use std::{fs, io, iter};

use clap_complete::Shell;

use crate::error::GenerateError;
use crate::man;

/// Each shell that reads a folder of completions without a setting, and the file there.
const SCRIPTS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/oomph"),
    (Shell::Zsh, "zsh/site-functions/_oomph"),
    (Shell::Fish, "fish/vendor_completions.d/oomph.fish"),
];

/// Writes the files below `folder`, and removes older ones.
pub(crate) fn write(folder: &Path) -> Result<(), GenerateError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| GenerateError::Io { path, source }
    };
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(folder)(error)),
        _ => {}
    }
    let files = list_files();
    for (name, content) in &files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(at(parent))?;
        fs::write(&path, content).map_err(at(&path))?;
    }
    Ok(())
}

/// The paths below the folder, with their content.
fn list_files() -> Vec<(String, Vec<u8>)> {
    let all = oomph::define_command_line();
    let commands = iter::once(&all).chain(man::list_commands(&all));
    let pages = commands.map(|command| (format!("man/man1/{}.1", man::name_page(command)), man::write_page(command)));
    pages.chain(SCRIPTS.map(|(shell, path)| (path.to_owned(), write_script(shell)))).collect()
}

fn write_script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut oomph::define_completed_line(), "oomph", &mut script);
    script
}
