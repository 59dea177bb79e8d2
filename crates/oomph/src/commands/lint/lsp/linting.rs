//! Lints an open document, with the settings that the command line would use in the folder of the workspace.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::lint::{Finding, Project, ProjectFile, SourceFile};

use super::documents::{Documents, LintedText, OpenDocument};
use crate::args::{FixMode, Lint};
use crate::commands::lint::baseline;
use crate::commands::lint::files::is_left_out_of;
use crate::commands::lint::mend::{Again, Mended, mend};
use crate::commands::lint::project::DiskProject;
use crate::commands::lint::settings::LintSettings;
use crate::error::Error;
use crate::system::spell_path;

/// The linter of a session.
#[derive(Debug)]
pub(super) struct Linter {
    /// The command line, whose options come before the settings.
    pub(super) arguments: Lint,
    /// The folders of the workspace.
    pub(super) folders: Vec<PathBuf>,
}

/// The outcome for a document.
pub(super) enum Linted {
    /// The findings; `None` for a document without any: left out by the settings, or no Python at the moment.
    Text(Option<LintedText>),
    /// A rule panicked.
    Panicked,
}

impl Linter {
    /// Lints a document. A file of the project that is open has its unsaved text.
    pub(super) fn lint(&self, document: &OpenDocument, open: &Documents) -> Result<Linted, Error> {
        let settings = self.settings_of(document)?;
        if is_left_out_of(&settings, &document.path)? {
            return Ok(Linted::Text(None));
        }
        let Ok(source) = SourceFile::python(document.python().as_bytes()) else { return Ok(Linted::Text(None)) };
        let (options, project) = (settings.options(&self.arguments), OpenProject::new(document, open));
        // A mistake of a rule must not end the session.
        let linted = catch_unwind(AssertUnwindSafe(|| ::lint::check_in(&source, &options, &document.path, &project)));
        let Ok(checked) = linted else { return Ok(Linted::Panicked) };
        let Ok(findings) = checked else { return Ok(Linted::Text(None)) };
        let known = self.list_known(&settings, &source, &findings, &document.path)?;
        let new = findings.into_iter().zip(known).filter(|(_, is_known)| !is_known).map(|(finding, _)| finding);
        Ok(Linted::Text(Some(LintedText { findings: new.collect(), source })))
    }

    /// Returns the text of a document with all allowed fixes; `None` without a fix.
    pub(super) fn fix_all(&self, document: &OpenDocument, open: &Documents) -> Result<Option<String>, Error> {
        let Some(linted) = &document.linted else { return Ok(None) };
        let settings = self.settings_of(document)?;
        let FixMode::Write(allowed) = settings.fix_mode(&self.arguments.with_fixes()) else { return Ok(None) };
        let (options, project) = (settings.options(&self.arguments), OpenProject::new(document, open));
        let again = Again { options: &options, path: &document.path, project: &project };
        let spared = |source: &SourceFile, findings: &[Finding]| {
            let known = self.list_known(&settings, source, findings, &document.path);
            known.unwrap_or_else(|_| vec![true; findings.len()])
        };
        let mended =
            catch_unwind(AssertUnwindSafe(|| mend(&linted.source, linted.findings.clone(), &again, allowed, &spared)));
        Ok(mended.ok().and_then(|mended: Mended| (mended.fixed > 0).then(|| mended.rewrite.text().to_owned())))
    }

    fn settings_of(&self, document: &OpenDocument) -> Result<LintSettings, Error> {
        LintSettings::find(&self.arguments, &self.folder_of(&document.path))
    }

    /// The innermost folder of the workspace with the file; without one, the file's folder.
    fn folder_of(&self, path: &Path) -> PathBuf {
        let around = self.folders.iter().filter(|folder| path.starts_with(folder));
        let innermost = around.max_by_key(|folder| folder.components().count()).map(PathBuf::as_path);
        let beside = path.parent().filter(|folder| folder.is_absolute());
        let first = || self.folders.first().map(PathBuf::as_path);
        let folder = innermost.or(beside).or_else(first).map(Path::to_owned);
        folder.unwrap_or_else(|| std::env::current_dir().unwrap_or_default())
    }

    /// Marks the findings that the baseline hides.
    fn list_known(
        &self,
        settings: &LintSettings,
        source: &SourceFile,
        findings: &[Finding],
        path: &Path,
    ) -> Result<Vec<bool>, Error> {
        let Some(file) = settings.baseline_to_use(&self.arguments) else { return Ok(vec![false; findings.len()]) };
        let name = spell_path(path);
        let reported: Vec<_> = findings.iter().map(|finding| finding.report(source, &name)).collect();
        Ok(baseline::read(file)?.knows(&reported))
    }
}

/// The project of a document: the disk, with the texts of open documents in place of their files.
struct OpenProject<'a> {
    disk: DiskProject,
    open: &'a Documents,
}

impl OpenProject<'_> {
    fn new<'a>(document: &OpenDocument, open: &'a Documents) -> OpenProject<'a> {
        OpenProject { disk: DiskProject::of(&[&document.path]), open }
    }
}

impl Project for OpenProject<'_> {
    fn read(&self, path: &Path) -> Option<Arc<ProjectFile>> {
        match self.open.iter().find(|document| document.path == path) {
            Some(document) => ProjectFile::new(document.python().to_owned()).map(Arc::new),
            None => self.disk.read(path),
        }
    }

    fn roots(&self, importer: &Path) -> Vec<PathBuf> {
        self.disk.roots(importer)
    }

    fn importers(&self, path: &Path) -> Vec<PathBuf> {
        self.disk.importers(path)
    }
}
