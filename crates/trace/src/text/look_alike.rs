//! Out-of-memory errors of other memories, and mentions of the error.

use serde::Serialize;

/// The author of a look-alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OtherFramework {
    /// Java and Spark: the heap of the virtual machine.
    Java,
    /// A mention in a program, a document or a question (`except torch.cuda.OutOfMemoryError:`).
    Mention,
}

/// An error of another framework, or a mention.
///
/// A text has at most one for each framework, the first, with the number of similar lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LookAlike {
    /// The framework.
    pub framework: OtherFramework,
    /// The first line, counted from 1.
    pub line: u32,
    /// The number of such lines.
    pub occurrences: u32,
    /// The line, without colours and shortened.
    pub text: String,
}

/// The look-alikes found so far.
#[derive(Default)]
pub(super) struct LookAlikes {
    found: Vec<LookAlike>,
    /// A mention on the current line. Dropped if the line turns out to hold an error.
    pending: Option<LookAlike>,
    /// The last line with a look-alike.
    last: Option<u32>,
}

impl LookAlikes {
    /// Records a look-alike on `line`. `text` is called only for the first of its framework.
    pub(super) fn add(&mut self, framework: OtherFramework, line: u32, text: impl FnOnce() -> String) {
        if self.pending.as_ref().is_some_and(|pending| pending.line != line) {
            self.settle();
        }
        if framework == OtherFramework::Mention && self.last == Some(line) {
            return;
        }
        self.last = Some(line);
        let text = if self.is_known(framework) { String::new() } else { shortened(&text()) };
        let new = LookAlike { framework, line, occurrences: 1, text };
        if framework == OtherFramework::Mention {
            self.pending.get_or_insert(new);
        } else {
            self.pending = None;
            self.count(new);
        }
    }

    /// Drops the mention on a line that holds an error.
    pub(super) fn forget_line(&mut self, line: u32) {
        self.pending.take_if(|pending| pending.line == line);
    }

    /// All look-alikes, the first of each framework.
    pub(super) fn finish(mut self) -> Vec<LookAlike> {
        self.settle();
        self.found
    }

    fn is_known(&self, framework: OtherFramework) -> bool {
        self.found.iter().any(|found| found.framework == framework)
    }

    fn settle(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.count(pending);
        }
    }

    fn count(&mut self, new: LookAlike) {
        match self.found.iter_mut().find(|found| found.framework == new.framework) {
            Some(found) => found.occurrences += 1,
            None => self.found.push(new),
        }
    }
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 400;
    text.trim().chars().take(LONGEST).collect()
}
