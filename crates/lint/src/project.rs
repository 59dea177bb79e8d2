//! The files of a project around a linted file: the imported modules, and the importing files.
//!
//! # Note [Linked files]
//! A linked file is parsed behind a comment as long as all text before, so that its offsets follow those of the linted file, and one tree
//! holds all files: a name imported from a linked file is a name of the tree (Note `[Aliases]` in `semantics/build.rs`), and every query
//! follows it like a name of the linted file. Only findings in the linted file are reported.
//!
//! # Note [Budget]
//! Files are linked breadth first, nearest imports first, up to [`MOST_FILES`] files and [`MOST_BYTES`] bytes. What is not linked stays
//! unknown, as an imported library does.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt};
use ruff_python_ast::{ModModule, Stmt};
use ruff_python_parser::Parsed;
use rustc_hash::FxHashMap;

use crate::source;

/// The largest number of linked files.
const MOST_FILES: usize = 6;
/// The largest size of all linked files together, in bytes.
const MOST_BYTES: usize = 40 << 10;

/// The files of a project, asked for by path: the linter itself reads nothing.
pub trait Project: Sync {
    /// Returns a Python file, prepared once; `None` for a path without a Python file of the project.
    fn read(&self, path: &Path) -> Option<Arc<ProjectFile>>;
    /// Returns the folders of imported modules, the nearest first: from the importing file's up to the project's.
    fn roots(&self, importer: &Path) -> Vec<PathBuf>;
    /// Returns the files that import a file, the likeliest first.
    fn importers(&self, path: &Path) -> Vec<PathBuf>;
}

/// A file of a project, prepared for linking.
#[derive(Debug)]
pub struct ProjectFile {
    text: String,
    /// The dotted names of all modules that the file imports, and of all names that may be modules.
    imports: Vec<Box<str>>,
}

impl ProjectFile {
    /// Prepares a file; `None` for a text with a syntax error.
    pub fn new(text: String) -> Option<ProjectFile> {
        let parsed = source::parse_alone(&text)?;
        Some(ProjectFile { imports: imports_of(parsed.suite()), text })
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The files linked to a linted file.
#[derive(Debug, Default)]
pub(crate) struct LinkedFiles {
    /// The text of the linted file, followed by those of the linked files; empty if no file is linked.
    pub(crate) text: String,
    /// The offset of each linked file in the text.
    pub(crate) starts: Vec<usize>,
    /// The files that import the linted one.
    pub(crate) importers: Vec<ModuleId>,
    pub(crate) files: Vec<LinkedFile>,
    /// The modules that the linted file imports, by their dotted names.
    pub(crate) modules: ModuleNames,
}

/// Linked files by the dotted names under which a file imports them; a relative import keeps its leading dots.
pub(crate) type ModuleNames = FxHashMap<Box<str>, ModuleId>;

/// A file of the tree: 0 is the linted file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ModuleId(pub(crate) usize);

/// A parsed file.
#[derive(Debug)]
pub(crate) struct LinkedFile {
    pub(crate) parsed: Parsed<ModModule>,
    pub(crate) modules: ModuleNames,
}

/// Links the files around the linted file at `path`.
pub(crate) fn link(text: &str, body: &[Stmt], path: &Path, project: &dyn Project) -> LinkedFiles {
    let mut linker = Linker { project, ids: FxHashMap::default(), bytes: 0, queue: VecDeque::new(), count: 0 };
    linker.ids.insert(path.to_owned(), ModuleId(0));
    let mut links = LinkedFiles { modules: linker.modules_of(path, &imports_of(body)), ..LinkedFiles::default() };
    for importer in project.importers(path).into_iter().take(2) {
        links.importers.extend(linker.add(importer));
    }
    // The setup of a package pins versions.
    if text.contains("PYTORCH_ALLOC_CONF") {
        project.roots(path).into_iter().find_map(|root| linker.add(root.join("setup.py")));
    }
    if linker.queue.is_empty() {
        return links;
    }
    links.text.push_str(text);
    while let Some((path, file)) = linker.queue.pop_front() {
        links.text.push('\n');
        let start = links.text.len();
        links.starts.push(start);
        links.text.push_str(&file.text);
        let Some(parsed) = source::parse_behind(start, &file.text) else { break };
        let modules = linker.modules_of(&path, &file.imports);
        links.files.push(LinkedFile { parsed, modules });
    }
    links
}

struct Linker<'p> {
    project: &'p dyn Project,
    ids: FxHashMap<PathBuf, ModuleId>,
    bytes: usize,
    queue: VecDeque<(PathBuf, Arc<ProjectFile>)>,
    count: usize,
}

impl Linker<'_> {
    /// Resolves the imports of a file.
    fn modules_of(&mut self, path: &Path, imports: &[Box<str>]) -> ModuleNames {
        let mut modules = ModuleNames::default();
        let mut roots = None;
        for name in imports {
            if modules.contains_key(name) || is_foreign(name) {
                continue;
            }
            let found = candidates(path, name, || roots.get_or_insert_with(|| self.project.roots(path)).clone())
                .into_iter()
                .find_map(|candidate| self.add(candidate));
            if let Some(id) = found {
                modules.insert(name.clone(), id);
            }
        }
        modules
    }

    /// Links a file, if it exists and the budget allows it.
    fn add(&mut self, path: PathBuf) -> Option<ModuleId> {
        if let Some(&id) = self.ids.get(&path) {
            return Some(id);
        }
        if self.count >= MOST_FILES {
            return None;
        }
        let file = self.project.read(&path)?;
        if self.bytes + file.text.len() > MOST_BYTES {
            return None;
        }
        self.bytes += file.text.len();
        self.count += 1;
        let id = ModuleId(self.count);
        self.ids.insert(path.clone(), id);
        self.queue.push_back((path, file));
        Some(id)
    }
}

fn imports_of(body: &[Stmt]) -> Vec<Box<str>> {
    let mut imports = Imports::default();
    imports.visit_body(body);
    imports.imported.dedup();
    imports.imported
}

/// Checks whether other files can matter to the rules: the file trains, evaluates, or sets up devices and processes.
pub(crate) fn needs_links(text: &str) -> bool {
    let words = [
        "backward",
        ".eval()",
        "no_grad",
        "inference_mode",
        "ing_step",
        "loss",
        "torch.load",
        "process_group",
        "ALLOC_CONF",
        "empty_cache",
        "gc.collect",
        "DataLoader",
        "step(",
        "cuda",
        "Dataset",
        "collect",
        "environ",
        "cat(",
        "OutOfMemory",
        "out of memory",
        "cycle(",
        "loader",
        "non_blocking",
        "DataParallel",
        "from_pretrained",
        "new_group",
        "CUDAGraph",
        "autocast",
        "GradScaler",
        "checkpoint",
        "memmap",
        "mmap_mode",
        "np.load",
        "one_hot",
        "stack(",
    ];
    words.iter().any(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some())
}

/// Returns the paths at which a module may lie.
fn candidates(importer: &Path, name: &str, roots: impl FnOnce() -> Vec<PathBuf>) -> Vec<PathBuf> {
    let dotted = name.trim_start_matches('.');
    let level = name.len() - dotted.len();
    let folders = match level.checked_sub(1) {
        Some(up) => importer.ancestors().nth(up + 1).map(Path::to_owned).into_iter().collect(),
        None => roots(),
    };
    let forms = |folder: PathBuf| {
        let module = dotted.split('.').filter(|part| !part.is_empty()).fold(folder, |path, part| path.join(part));
        let package = module.join("__init__.py");
        if dotted.is_empty() { vec![package] } else { vec![module.with_extension("py"), package] }
    };
    folders.into_iter().flat_map(forms).collect()
}

/// Checks for a library that no project defines.
fn is_foreign(name: &str) -> bool {
    let first = name.split('.').next().unwrap_or(name);
    matches!(
        first,
        "torch"
            | "numpy"
            | "os"
            | "sys"
            | "time"
            | "math"
            | "json"
            | "re"
            | "argparse"
            | "typing"
            | "logging"
            | "pathlib"
            | "collections"
            | "functools"
            | "itertools"
            | "random"
            | "copy"
            | "dataclasses"
            | "torchvision"
            | "transformers"
            | "tqdm"
            | "matplotlib"
            | "PIL"
            | "cv2"
            | "scipy"
            | "pandas"
            | "sklearn"
            | "einops"
            | "timm"
            | "datasets"
            | "accelerate"
            | "wandb"
            | "yaml"
            | "gc"
            | "warnings"
            | "__future__"
            | "abc"
            | "contextlib"
            | "shutil"
            | "subprocess"
            | "datetime"
            | "pickle"
            | "enum"
            | "io"
            | "tensorboard"
            | "omegaconf"
            | "hydra"
    )
}

/// The dotted names of all modules that a file imports, and of all names that may be modules.
#[derive(Default)]
struct Imports {
    imported: Vec<Box<str>>,
}

impl StatementVisitor<'_> for Imports {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Import(it) => self.imported.extend(it.names.iter().map(|alias| alias.name.as_str().into())),
            Stmt::ImportFrom(it) => {
                let dots = ".".repeat(it.level as usize);
                let module = it.module.as_ref().map_or("", |module| module.as_str());
                if is_foreign(module) && it.level == 0 {
                    return;
                }
                let whole = format!("{dots}{module}");
                let separator = if module.is_empty() { "" } else { "." };
                self.imported.extend(it.names.iter().map(|alias| format!("{whole}{separator}{}", alias.name).into()));
                self.imported.push(whole.into());
            }
            _ => walk_stmt(self, statement),
        }
    }
}
