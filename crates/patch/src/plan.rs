//! A plan of `fit` as a patch of the user's own files, with comments for the changes to make by hand.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use report::Change;
use report::fit::{FitReport, Mend, Plan};
use serde_json::Value;
use trace::run::RemedyAction;
use trace::source_file::is_user_file;

use crate::{PlacedEdit, Rewrite, Snippet, by_hand, patch};

/// Returns a unique name for a file, for any spelling by the command line or the interpreter.
pub type Canonical<'a> = &'a dyn Fn(&Path) -> PathBuf;

/// The edits of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanEdits {
    /// The files to write.
    pub files: Vec<FileEdit>,
    /// The changes to make by hand, as comments; empty if there are none.
    pub by_hand: String,
    /// True if some files do not lie below the user's folder: names in diffs are then relative to the root.
    pub is_of_root: bool,
}

/// A file with a plan's changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// The file.
    pub path: PathBuf,
    /// Its present text.
    pub before: String,
    /// Its text with the changes.
    pub after: String,
    /// The difference, as a unified diff for `patch -p1` and `git apply`.
    pub diff: String,
}

impl PlanEdits {
    /// The patch: comments, which `patch` and `git apply` skip, then all diffs.
    pub fn to_patch(&self) -> String {
        let mut text = self.by_hand.clone();
        if self.is_of_root {
            text.push_str("# Not all of these files lie below this folder: apply it with `patch -p1 -d /`.\n");
        }
        self.files.iter().for_each(|file| text.push_str(&file.diff));
        text
    }
}

/// Returns the edits of the mend of a mistake and of the first plan, in files whose texts `read` returns.
pub fn edit_plan<E>(
    report: &FitReport,
    script: Option<&Path>,
    canonical: Canonical,
    read: &dyn Fn(&Path) -> Result<String, E>,
) -> Result<PlanEdits, E> {
    let mend = report.cause.as_ref().and_then(|cause| Some((canonical(Path::new(&cause.file)), cause.mend.as_ref()?)));
    let plan = report.chosen_plan();
    let (files, nowhere) = plan.map(|plan| by_file(plan, script, canonical)).unwrap_or_default();
    let settings = plan.map(|plan| own_files(plan, canonical)).unwrap_or_default();
    let mended_path = mend.iter().map(|(path, _)| path);
    let base = base(files.keys().chain(settings.keys()).chain(mended_path), &canonical(Path::new(&report.folder)));
    let has_files = !files.is_empty() || !settings.is_empty() || mend.is_some();
    let is_of_root = has_files && base == Path::new("/");
    let show = |path: &Path| path.strip_prefix(&base).unwrap_or(path).display().to_string();
    let snippets: Vec<Snippet> =
        nowhere.iter().map(|placed| by_hand(placed, "no source file is known for it")).collect();
    let mut edits = PlanEdits { by_hand: comments(None, &snippets), is_of_root, ..PlanEdits::default() };
    let mut mended = None;
    if let Some((path, mend)) = mend {
        let shown = show(&path);
        match make_mend(path.clone(), &read(&path)?, mend, &shown) {
            Ok(edit) => mended = Some(edit),
            Err(why) => {
                let _ = writeln!(edits.by_hand, "# {shown}: the mistake is mended by hand ({why})");
            }
        }
    }
    // The plan is one of the mended program.
    let text_of = |path: &Path| match &mended {
        Some(edit) if edit.path == path => Ok(edit.after.clone()),
        _ => read(path),
    };
    for (path, placed) in files {
        let before = text_of(&path)?;
        let shown = show(&path);
        let outcome = patch(&before, &shown, &placed);
        edits.by_hand.push_str(&comments(Some(&shown), &outcome.snippets));
        if !outcome.diff.is_empty() {
            edits.files.push(FileEdit { path, before, after: outcome.source, diff: outcome.diff });
        }
    }
    for (path, values) in settings {
        edit_keys(&mut edits, path.clone(), read(&path)?, &values, &show(&path));
    }
    edits.files = put_first(mended, edits.files);
    Ok(edits)
}

/// Sets keys of a configuration file; a comment says which are set by hand.
fn edit_keys(edits: &mut PlanEdits, path: PathBuf, before: String, values: &Values, shown: &str) {
    match set_keys(&before, values) {
        Ok(after) => {
            let diff = crate::diff::unified(shown, &before, &after, line_by_line(&before, &after));
            edits.files.push(FileEdit { path, before, after, diff });
        }
        Err(why) => {
            let _ = writeln!(edits.by_hand, "# {shown} by hand ({why}):");
            for (key, value) in values {
                let _ = writeln!(edits.by_hand, "#     {key}: {value}");
            }
        }
    }
}

/// Makes the edits of a mend in a text.
fn make_mend(path: PathBuf, before: &str, mend: &Mend, shown: &str) -> Result<FileEdit, String> {
    let mut rewrite = Rewrite::new(before);
    rewrite.make(mend.edits.iter().map(|edit| (edit.start..edit.end, edit.text.as_str())))?;
    Ok(FileEdit { path, before: before.to_owned(), after: rewrite.text().to_owned(), diff: rewrite.diff(shown) })
}

/// Puts a mend before the edits of a plan. A plan's edits of the same file follow in the same patch: `patch` and `git apply` make both.
fn put_first(mended: Option<FileEdit>, plan: Vec<FileEdit>) -> Vec<FileEdit> {
    let Some(mended) = mended else { return plan };
    let (same, others): (Vec<FileEdit>, Vec<FileEdit>) = plan.into_iter().partition(|edit| edit.path == mended.path);
    let first = same.into_iter().fold(mended, |mended, edit| FileEdit {
        after: edit.after,
        diff: mended.diff + &edit.diff,
        ..mended
    });
    std::iter::once(first).chain(others).collect()
}

/// The keys of a file to set, with their values.
type Values = Vec<(String, Value)>;

/// Groups the plan's keys of configuration files by file.
fn own_files(plan: &Plan, canonical: Canonical) -> BTreeMap<PathBuf, Values> {
    let settings: BTreeMap<String, Value> =
        plan.settings.iter().map(|setting| (setting.key.clone(), setting.to.clone())).collect();
    let files = options::group_by_file(&settings).into_iter().map(|(file, values)| {
        let values = values.into_iter().map(|(key, value)| (key.to_owned(), value.clone())).collect();
        (canonical(Path::new(file)), values)
    });
    files.collect()
}

fn set_keys(text: &str, values: &Values) -> Result<String, options::EditError> {
    values.iter().try_fold(text.to_owned(), |text, (key, value)| options::edit(&text, key, value))
}

/// The new offset of each line that begins at an old offset: edits of scalars keep the lines.
fn line_by_line<'a>(before: &'a str, after: &'a str) -> impl Fn(usize) -> usize + 'a {
    move |offset| {
        let line = before.get(..offset).map_or(0, |text| text.matches('\n').count());
        after.split_inclusive('\n').take(line).map(str::len).sum()
    }
}

/// Groups the changes of a plan by file, each at the lines where it took effect; changes without a line belong to the script. The
/// second list has the changes without a file.
fn by_file(
    plan: &Plan,
    script: Option<&Path>,
    canonical: Canonical,
) -> (BTreeMap<PathBuf, Vec<PlacedEdit>>, Vec<PlacedEdit>) {
    let mut files: BTreeMap<PathBuf, Vec<PlacedEdit>> = BTreeMap::new();
    let mut nowhere = Vec::new();
    let mut place = |file: Option<&Path>, placed: PlacedEdit| match file {
        Some(file) => files.entry(canonical(file)).or_default().push(placed),
        None => nowhere.push(placed),
    };
    for change in plan.list_edits() {
        let places: Vec<_> = plan.places.iter().filter(|place| place.remedy == change.remedy).collect();
        if places.is_empty() {
            place(script, of(change, 0, RemedyAction::default()));
        }
        for at in places {
            let (file, line) = if is_editable(&at.file) { (Some(Path::new(&at.file)), at.line) } else { (script, 0) };
            place(file, of(change, line, at.action.clone().unwrap_or_default()));
        }
    }
    (files, nowhere)
}

/// Returns the folder that file names are relative to: the user's, or the root if some files lie elsewhere.
fn base<'a>(mut files: impl Iterator<Item = &'a PathBuf>, folder: &Path) -> PathBuf {
    let is_below = files.all(|file| file.starts_with(folder));
    if is_below { folder.to_owned() } else { PathBuf::from("/") }
}

/// True if a patch may edit the file: neither an installed package, nor Python itself, nor a cell of a notebook.
fn is_editable(file: &str) -> bool {
    is_user_file(file, "") && !file.starts_with('<')
}

fn of(change: &Change, line: u32, action: RemedyAction) -> PlacedEdit {
    PlacedEdit { change: change.clone(), line, action }
}

/// Lists each change to make by hand once, with all its lines and its code: `# train.py:7, 12: sdpa by hand (why):`.
fn comments(file: Option<&str>, snippets: &[Snippet]) -> String {
    let mut text = String::new();
    for (index, snippet) in snippets.iter().enumerate() {
        let same = |other: &&Snippet| other.remedy == snippet.remedy && other.code == snippet.code;
        if snippets[..index].iter().any(|earlier| same(&earlier)) {
            continue;
        }
        let lines: Vec<u32> = snippets.iter().filter(same).map(|same| same.line).filter(|line| *line > 0).collect();
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "# {}{} by hand ({}):", place(file, &lines), snippet.remedy, snippet.why);
        for line in snippet.code.lines() {
            let _ = writeln!(text, "{}", format!("#     {line}").trim_end());
        }
    }
    text
}

/// Returns `train.py:7, 12: `, as far as file and lines are known.
fn place(file: Option<&str>, lines: &[u32]) -> String {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    match file {
        Some(file) if lines.is_empty() => format!("{file}: "),
        Some(file) => format!("{file}:{}: ", lines.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by it")]

    use remedies::{TABLE, Trying};
    use report::Usage;
    use report::fit::{Cost, Exactness, TimeSource};

    use super::*;

    /// Two statements on a line: an edit cannot be made at either alone.
    const CROWDED: &str = "import torch; start(torch)\n";

    /// Prints a plan whose changes took effect at these sites: remedy, file, line.
    fn emitted(changes: &[&str], places: &[(&str, &Path, u32)], script: Option<&Path>, folder: &Path) -> String {
        let place = |(remedy, file, line): &(&str, &Path, u32)| report::fit::Placed {
            remedy: (*remedy).to_owned(),
            file: file.display().to_string(),
            line: *line,
            action: None,
            text: String::new(),
        };
        let plan = Plan {
            changes: changes.iter().map(|change| change.parse().unwrap()).collect(),
            peak: Usage::default(),
            fits: true,
            retries: false,
            cost: Cost { exactness: Exactness::Identical, time_ratio: 1.0, time_source: TimeSource::Typical },
            places: places.iter().map(place).collect(),
            settings: Vec::new(),
            command: Vec::new(),
        };
        let folder = folder.display().to_string();
        let report = FitReport { plans: vec![plan], folder, ..FitReport::default() };
        let canonical = |file: &Path| file.canonicalize().unwrap_or_else(|_| file.to_owned());
        edit_plan(&report, script, &canonical, &|file: &Path| std::fs::read_to_string(file)).unwrap().to_patch()
    }

    fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        file
    }

    #[test]
    fn what_cannot_be_put_in_is_left_to_the_user_with_its_place_and_its_code() {
        let folder = tempfile::tempdir().unwrap();
        let script = written(folder.path(), "train.py", CROWDED);
        let usual = TABLE.iter().filter(|spec| spec.trying == Trying::Usual && spec.has_agent);
        // Settings in the environment have no line that could be missed.
        for spec in usual {
            let text = emitted(&[spec.name], &[(spec.name, &script, 1)], Some(&script), folder.path());
            let first = format!("# train.py:1: {} by hand (", spec.name);
            assert!(text.starts_with(&first), "expected {first}…, found {text}");
            assert!(text.contains("\n#     ") && !text.contains("oomph remedy"), "no code for {}: {text}", spec.name);
        }
    }

    #[test]
    fn one_file_under_two_names_has_one_diff() {
        let folder = tempfile::tempdir().unwrap();
        let script = written(folder.path(), "train.py", "import torch\no = torch.optim.AdamW(p)\n");
        let changes = ["allocator-settings:conf=max_split_size_mb=64", "optimizer-fused"];
        let other = folder.path().join(".").join("train.py");
        let text = emitted(&changes, &[("optimizer-fused", &script, 2)], Some(&other), folder.path());
        assert_eq!(text.matches("--- a/train.py").count(), 1, "{text}");
        assert!(text.contains("fused=True") && text.contains("max_split_size_mb"), "{text}");
    }

    #[test]
    fn places_are_said_as_far_as_they_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let script = written(folder.path(), "train.py", CROWDED);
        let inside = Path::new("/usr/lib/python3.12/site-packages/a.py");
        let twice = [("sdpa", script.as_path(), 1), ("sdpa", script.as_path(), 1), ("sdpa", inside, 9)];
        let check = |places: &[(&str, &Path, u32)], script: Option<&Path>, folder: &Path, expected: &str| {
            let text = emitted(&["sdpa"], places, script, folder);
            assert!(text.contains(expected), "expected {expected}, found {text}");
        };
        check(&twice, Some(&script), folder.path(), "# train.py:1: sdpa by hand");
        check(&twice[2..], Some(&script), folder.path(), "# train.py: sdpa by hand");
        check(&twice[2..], None, folder.path(), "# sdpa by hand (no source file is known for it)");
        check(&[], None, folder.path(), "# sdpa by hand");
        check(&twice, None, Path::new("/elsewhere"), "`patch -p1 -d /`");
    }
}
