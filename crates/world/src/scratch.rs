//! Removes the scratch folders of a world.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Removes a folder with all below. An overlay's work folder, and folders of the program, may be closed to the owner.
pub fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            if let Some(parent) = folder.parent() {
                // The folder above may be an overlay's work folder.
                let _: io::Result<()> = fs::set_permissions(parent, Permissions::from_mode(0o700));
            }
            open(folder)?;
            fs::remove_dir_all(folder)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Lets the owner into a folder and all folders below.
fn open(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn closed_folders_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let closed = folder.path().join("world/work/work");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("file"), "x").unwrap();
        fs::set_permissions(&closed, Permissions::from_mode(0o0)).unwrap();
        remove(&folder.path().join("world")).unwrap();
        assert!(!folder.path().join("world").exists());
        remove(&folder.path().join("world")).unwrap();
    }
}
