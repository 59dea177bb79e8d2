//! Errors of other programs that say "out of memory" too, and words about the error.

use serde::Serialize;

/// Who speaks of memory that ran out, when it is not PyTorch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OtherFramework {
    /// TensorFlow.
    TensorFlow,
    /// JAX and XLA.
    Jax,
    /// MXNet.
    MxNet,
    /// CuPy.
    CuPy,
    /// Numba.
    Numba,
    /// PaddlePaddle.
    Paddle,
    /// llama.cpp and what is built on ggml.
    LlamaCpp,
    /// ONNX Runtime.
    OnnxRuntime,
    /// vLLM's own checks, made before PyTorch is asked.
    Vllm,
    /// TensorRT.
    TensorRt,
    /// RAPIDS (RMM, cuDF).
    Rapids,
    /// Ray's own monitor of the host's memory.
    Ray,
    /// Java and Spark: the heap of the virtual machine.
    Java,
    /// Python's `MemoryError`, NumPy's included: memory of the host, asked for by something else than PyTorch.
    Python,
    /// C++: `std::bad_alloc`.
    Cpp,
    /// Another CUDA program or library that names the error of the driver.
    OtherCuda,
    /// No error: a program, a document or a question that speaks of one (`except torch.cuda.OutOfMemoryError:`).
    Mention,
}

/// An error of another framework, or words about one.
///
/// A text has at most one for each framework, the first, with the number of lines that are like it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LookAlike {
    /// Whose it is.
    pub framework: OtherFramework,
    /// The line of the text on which the first stands, counted from 1.
    pub line: u32,
    /// How many lines of the text are like it.
    pub occurrences: u32,
    /// The line, without colours and shortened.
    pub text: String,
}

/// The look-alikes of a text, as they are found.
#[derive(Default)]
pub(super) struct LookAlikes {
    found: Vec<LookAlike>,
    /// A mention on the line that is being read: it does not count if that line turns out to hold more.
    pending: Option<LookAlike>,
    /// The last line that one was found on.
    last: Option<u32>,
}

impl LookAlikes {
    /// Notes one on `line`, whose `text` is asked for only if it is the first of its framework.
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

    /// The line holds an error: what was noted of it as words is part of that.
    pub(super) fn forget_line(&mut self, line: u32) {
        self.pending.take_if(|pending| pending.line == line);
    }

    /// All of them, the first of each framework.
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
