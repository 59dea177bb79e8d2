//! Findings that depend on the other files of a project: `check_in` with each file of a small project.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lint::{Options, Project, ProjectFile, SourceFile};

/// Files by path; an importer of a file has a line `from STEM import`.
struct Files(BTreeMap<PathBuf, Arc<ProjectFile>>);

impl Project for Files {
    fn read(&self, path: &Path) -> Option<Arc<ProjectFile>> {
        self.0.get(path).cloned()
    }

    fn roots(&self, importer: &Path) -> Vec<PathBuf> {
        importer.ancestors().skip(1).map(Path::to_owned).collect()
    }

    fn importers(&self, path: &Path) -> Vec<PathBuf> {
        let import = format!("from {} import", path.file_stem().unwrap().to_str().unwrap());
        self.0.iter().filter(|(_, file)| file.text().contains(&import)).map(|(path, _)| path.clone()).collect()
    }
}

/// Compares the findings of all files with the lines marked `# error: RULE`.
#[track_caller]
fn check(files: &[(&str, &str)]) {
    let prepared = files.iter().map(|(name, text)| {
        (Path::new("/project").join(name), Arc::new(ProjectFile::new((*text).to_owned()).unwrap()))
    });
    let project = Files(prepared.collect());
    for (name, text) in files {
        let file = SourceFile::python(text.as_bytes()).unwrap();
        let path = Path::new("/project").join(name);
        let findings = lint::check_in(&file, &Options::default(), &path, &project).unwrap();
        let found: Vec<String> = findings.iter().map(|it| format!("{}: {}", it.start.line, it.rule.0)).collect();
        let marked = text
            .lines()
            .zip(1..)
            .filter_map(|(line, number)| line.split_once("# error: ").map(|(_, rule)| format!("{number}: {rule}")));
        assert_eq!(found, marked.collect::<Vec<_>>(), "{name}");
    }
}

const TRAINING: &str = "\
import torch
from network import build

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for x in loader:
    optimizer.zero_grad()
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    losses.append(loss)  # error: graph-in-collection
";

#[test]
fn a_model_of_another_file_is_a_model() {
    check(&[
        ("train.py", TRAINING),
        ("network.py", "from torch import nn\n\ndef build():\n    return nn.Linear(4096, 4096)\n"),
    ]);
}

#[test]
fn a_list_of_another_file_is_a_list() {
    let log = "\
class Log:
    def __init__(self):
        self.rows = []

    def add(self, value):
        self.rows.append(value)
";
    let training = "\
import torch
from log import Log

model = torch.nn.Linear(4096, 4096).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
log = Log()
for x in loader:
    optimizer.zero_grad()
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    log.add(loss)  # error: graph-in-collection
";
    check(&[("train.py", training), ("log.py", log)]);
}

#[test]
fn a_script_that_evaluates_has_no_optimizer_on_its_first_gpu() {
    let evaluation = "\
import torch
from train import build

model = torch.nn.DataParallel(build())
model.eval()
with torch.no_grad():
    for x in loader:
        print(model(x).argmax())
";
    let training = "\
import torch
from torch import nn

def build():
    return nn.Linear(4096, 4096)

if __name__ == '__main__':
    model = nn.DataParallel(build())  # error: data-parallel
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
";
    check(&[("evaluate.py", evaluation), ("train.py", training)]);
}
