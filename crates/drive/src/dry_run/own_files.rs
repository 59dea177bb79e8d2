//! The program's configuration files with other values, written into the run directory.

use std::fs;
use std::path::{Path, absolute};

use base::Error;
use run::{Conditions, Environment};

/// The folder for the files, in the run directory.
const FOLDER: &str = "overlay";

/// Writes each file of `conditions` with its other values, and has the program read it in place of its own.
pub(crate) fn lay_over(conditions: &Conditions, folder: &Path, environment: &mut Environment) -> Result<(), Error> {
    let settings = conditions.own_settings();
    let mut others = conditions.overlay.clone();
    for (index, (file, values)) in options::group_by_file(&settings).into_iter().enumerate() {
        let unreadable = |source| Error::Unreadable { path: file.into(), source };
        let path = absolute(file).map_err(unreadable)?;
        let mut text = fs::read_to_string(&path).map_err(unreadable)?;
        for (key, value) in values {
            text = options::edit(&text, key, value).map_err(|reason| Error::OwnFile { path: path.clone(), reason })?;
        }
        let name = path.file_name().unwrap_or_default();
        let other = folder.join(FOLDER).join(index.to_string()).join(name);
        let failed = |source| Error::RunFolder { folder: other.clone(), source };
        fs::create_dir_all(other.parent().unwrap_or(folder)).map_err(failed)?;
        fs::write(&other, text).map_err(failed)?;
        others.insert(path, other);
    }
    if !others.is_empty() {
        // Paths that are no text cannot be keys of settings.
        environment.set_overlay(&serde_json::to_string(&others).unwrap_or_default());
    }
    Ok(())
}
