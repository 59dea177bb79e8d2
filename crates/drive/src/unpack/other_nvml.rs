//! An NVML that is absent or old, for tests of monitors. See Note `[NVML failures]` in `crates/phantom/src/api/nvml/failures.rs`.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use run::environment::LIBRARY;
use wire::variable;

use super::{NVML, Unpacked};
use crate::environment;
use crate::error::{Error, SetupError};

/// The functions that the NVML of an old driver lacks, by the beginning and the end of their names.
const NEWER: [(&[u8], &[u8]); 2] = [(b"nvmlDeviceGetMemoryInfo", b"_v2\0"), (b"nvml", b"_v3\0")];

impl Unpacked {
    /// Makes the folders to search for libraries, if tests of monitors ask for an NVML that is absent or old: a folder with such a library, and
    /// the folder of the phantom. `None` if the phantom's own serves. See Note `[NVML failures]` in `crates/phantom/src/api/nvml/failures.rs`.
    pub fn find_other_nvml(&self) -> Result<Option<OsString>, Error> {
        let asked = environment::get(variable::NVML).unwrap_or_default().into_string().unwrap_or_default();
        let asked =
            asked.split(',').map(str::trim).find(|word| [variable::NVML_ABSENT, variable::NVML_OLD].contains(word));
        let Some(word) = asked else { return Ok(None) };
        let folder = self.library_dir.with_file_name(format!("nvml-{word}"));
        self.write_other_nvml(word, &folder)
            .map_err(|source| Error::from(SetupError::Cache { folder: folder.clone(), source }))?;
        Ok(std::env::join_paths([&folder, &self.library_dir]).ok())
    }

    fn write_other_nvml(&self, word: &str, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        // The loader refuses an empty file, and searches no further.
        let mut library = Vec::new();
        if word == variable::NVML_OLD {
            library = fs::read(self.library_dir.join(LIBRARY))?;
            hide_newer(&mut library);
        }
        // A process may have the file of an earlier run mapped.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&library)?;
        file.persist(folder.join(NVML))?;
        Ok(())
    }
}

/// Renames the functions that an old NVML lacks: a loader finds a name by its hash, which stays.
fn hide_newer(library: &mut [u8]) {
    for (start, end) in NEWER {
        let names: Vec<usize> =
            library.windows(start.len()).enumerate().filter(|(_, window)| *window == start).map(|(at, _)| at).collect();
        for name in names {
            let rest = &mut library[name..];
            let last = rest.iter().position(|byte| *byte == 0).filter(|length| rest[..=*length].ends_with(end));
            if let Some(last) = last {
                rest[last - 1] = b'-';
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, is_hidden: bool) {
        let mut library = format!("before\0{name}\0behind\0").into_bytes();
        let before = library.clone();
        hide_newer(&mut library);
        assert_eq!(library != before, is_hidden, "{name}");
        assert_eq!(library.len(), before.len());
    }

    #[test]
    fn newer_functions_are_hidden() {
        for name in ["nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetComputeRunningProcesses_v3"] {
            check(name, true);
        }
        for name in ["nvmlDeviceGetMemoryInfo", "nvmlInit_v2", "nvmlDeviceGetComputeRunningProcesses", "cuInit_v3"] {
            check(name, false);
        }
    }
}
