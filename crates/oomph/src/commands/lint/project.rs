//! The files around a linted file, from the disk: imported modules, importing files. Each file is read once.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, RwLock};

use lint::{Project, ProjectFile};

/// A larger file is generated data.
const MOST_BYTES: u64 = 1 << 20;
/// The largest number of files searched for imports.
const MOST_LISTED: usize = 20_000;
/// The largest number of files beside a single linted file.
const MOST_NEIGHBOURS: usize = 200;
/// The largest number of folders between a file and the folder of its project.
const MOST_LEVELS: usize = 6;
/// Files that mark the folder of a project.
const MARKS: [&str; 6] = [".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "oomph.toml"];

/// A project on the disk.
pub(super) struct DiskProject {
    /// The files searched for the importers of a file.
    listed: Vec<PathBuf>,
    texts: RwLock<HashMap<PathBuf, Option<Arc<ProjectFile>>>>,
    roots: RwLock<HashMap<PathBuf, Vec<PathBuf>>>,
    /// The files with an import of a module, by the last part of the module's name.
    importers: OnceLock<HashMap<Box<str>, Vec<PathBuf>>>,
}

impl DiskProject {
    /// Makes the project of the linted files; a single file has its neighbours as well.
    pub(super) fn of(linted: &[&Path]) -> DiskProject {
        let mut files: Vec<PathBuf> = linted.iter().map(|path| path.to_path_buf()).collect();
        if let [only] = linted {
            files.extend(neighbours(only));
        }
        let shared = shared_folder(&files);
        files.retain(|path| {
            let within = shared.as_ref().and_then(|shared| path.strip_prefix(shared).ok()).unwrap_or(path);
            path.extension().is_some_and(|it| it == "py") && !is_of_tests(within)
        });
        files.sort();
        files.dedup();
        files.truncate(MOST_LISTED);
        DiskProject { listed: files, texts: RwLock::default(), roots: RwLock::default(), importers: OnceLock::new() }
    }

    fn index(&self) -> HashMap<Box<str>, Vec<PathBuf>> {
        let mut index: HashMap<Box<str>, Vec<PathBuf>> = HashMap::new();
        for path in &self.listed {
            let Some(text) = read(path) else { continue };
            let mut names: Vec<&str> = text.lines().flat_map(imported_names).collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                index.entry(name.into()).or_default().push(path.clone());
            }
        }
        index
    }
}

impl Project for DiskProject {
    fn read(&self, path: &Path) -> Option<Arc<ProjectFile>> {
        if let Ok(texts) = self.texts.read()
            && let Some(known) = texts.get(path)
        {
            return known.clone();
        }
        let text = read(path).and_then(ProjectFile::new).map(Arc::new);
        if let Ok(mut texts) = self.texts.write() {
            texts.insert(path.to_owned(), text.clone());
        }
        text
    }

    fn roots(&self, importer: &Path) -> Vec<PathBuf> {
        let Some(folder) = importer.parent() else { return Vec::new() };
        if let Ok(roots) = self.roots.read()
            && let Some(known) = roots.get(folder)
        {
            return known.clone();
        }
        let found = roots_above(folder);
        if let Ok(mut roots) = self.roots.write() {
            roots.insert(folder.to_owned(), found.clone());
        }
        found
    }

    fn importers(&self, path: &Path) -> Vec<PathBuf> {
        let Some(stem) = path.file_stem().and_then(|it| it.to_str()) else { return Vec::new() };
        let folder = path.parent();
        let name = match stem {
            "__init__" => folder.and_then(Path::file_name).and_then(|it| it.to_str()).unwrap_or(stem),
            stem => stem,
        };
        let index = self.importers.get_or_init(|| self.index());
        let mut found: Vec<PathBuf> = index.get(name).into_iter().flatten().filter(|it| *it != path).cloned().collect();
        found.sort_by_key(|it| (it.parent() != folder, it.clone()));
        found
    }
}

/// Returns the last parts of the modules imported by a line.
fn imported_names(line: &str) -> impl Iterator<Item = &str> {
    let line = line.trim_start();
    let modules = line.strip_prefix("from ").or_else(|| line.strip_prefix("import "));
    modules.unwrap_or_default().split([',', ' ', '.', '(', ')']).filter(|word| {
        !word.is_empty()
            && !matches!(*word, "import" | "as")
            && word.chars().all(|it| it.is_alphanumeric() || it == '_')
    })
}

/// Returns the folders from a folder up to the project's; the folder alone without a mark of a project.
fn roots_above(folder: &Path) -> Vec<PathBuf> {
    let above: Vec<&Path> = folder.ancestors().take(MOST_LEVELS).collect();
    let is_marked = |folder: &&Path| MARKS.iter().any(|mark| folder.join(mark).exists());
    let last = above.iter().position(is_marked).unwrap_or(0);
    let mut roots: Vec<PathBuf> = above.iter().take(last + 1).map(|it| it.to_path_buf()).collect();
    if let Some(source) = above.get(last).map(|it| it.join("src")).filter(|it| it.is_dir()) {
        roots.push(source);
    }
    roots
}

/// Returns the Python files beside a file and in the folder above, by name.
fn neighbours(path: &Path) -> Vec<PathBuf> {
    let folders = path.ancestors().skip(1).take(2);
    let entries = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "py"));
    files.sort();
    files.truncate(MOST_NEIGHBOURS);
    files
}

/// Returns the innermost folder with all files.
fn shared_folder(files: &[PathBuf]) -> Option<PathBuf> {
    let mut folders = files.iter().filter_map(|path| path.parent());
    let first = folders.next()?.to_owned();
    Some(folders.fold(first, |shared, folder| {
        shared.ancestors().find(|it| folder.starts_with(it)).unwrap_or(Path::new("")).to_owned()
    }))
}

/// Checks for a file of tests by its path within the linted files: its calls say nothing of how a program uses a function.
fn is_of_tests(path: &Path) -> bool {
    path.components().any(|part| {
        let part = part.as_os_str().to_string_lossy();
        part == "tests" || part == "test" || part.starts_with("test_") || part.ends_with("_test.py")
    })
}

fn read(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok()?;
    if !found.is_file() || found.len() > MOST_BYTES {
        return None;
    }
    fs::read_to_string(path).ok()
}
