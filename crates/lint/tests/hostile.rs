//! No input ends the linter: cases that are cut, spliced and broken, and bytes that are not text.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::path::Path;

use lint::{Options, SourceFile};

/// Returns the Python blocks of all cases.
fn cases() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut pages: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    let pages = pages.iter().map(|path| std::fs::read_to_string(path).unwrap());
    let blocks = |page: String| {
        let parts: Vec<String> =
            page.split("```python\n").skip(1).map(|part| part.split("```").next().unwrap().to_owned()).collect();
        parts
    };
    pages.flat_map(blocks).collect()
}

/// Lints a text: the result may be `Unreadable`, and every finding lies within the text.
fn survive(bytes: &[u8]) {
    for source in [SourceFile::python(bytes), SourceFile::notebook(bytes)].into_iter().flatten() {
        for finding in lint::check(&source, &Options::all()).unwrap_or_default() {
            assert!(source.text().get(finding.span.start..finding.span.end).is_some_and(|text| !text.is_empty()));
            let edits = finding.fix.into_iter().flat_map(|fix| fix.edits);
            assert!(edits.into_iter().all(|edit| source.text().get(edit.span.start..edit.span.end).is_some()));
        }
    }
}

#[test]
fn cases_without_a_line_are_survived() {
    for case in cases() {
        let lines: Vec<&str> = case.lines().collect();
        for left_out in 0..lines.len() {
            let kept = lines.iter().enumerate().filter(|(index, _)| *index != left_out).map(|(_, line)| *line);
            survive(kept.collect::<Vec<_>>().join("\n").as_bytes());
        }
    }
}

#[test]
fn cases_without_a_word_are_survived() {
    for case in cases().iter().step_by(3) {
        for (at, word) in case.match_indices(|next: char| !next.is_alphanumeric() && next != '\n') {
            let mut text = case.clone();
            text.replace_range(at..at + word.len(), "");
            survive(text.as_bytes());
        }
    }
}

#[test]
fn nested_cases_are_survived() {
    let cases = cases();
    for (index, case) in cases.iter().enumerate() {
        let other = &cases[(index * 7 + 3) % cases.len()];
        let inner: String = other.lines().map(|line| format!("        {line}\n")).collect::<Vec<_>>().concat();
        for head in [
            "def f(self, x):\n    while x:\n",
            "class A(B):\n    def training_step(self, batch, i):\n",
            "try:\n    with a as b:\n",
        ] {
            survive(format!("{case}\n{head}{inner}").as_bytes());
        }
    }
}

#[test]
fn random_bytes_are_survived() {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for length in 0..400 {
        let bytes: Vec<u8> =
            b"import torch\n".iter().copied().chain((0..length).map(|_| random().to_le_bytes()[3])).collect();
        survive(&bytes);
        let ascii: Vec<u8> = bytes.iter().map(|byte| byte & 0x7f).collect();
        survive(&ascii);
    }
}

#[test]
fn invalid_cells_are_survived() {
    // Texts that made the parser's notebook mode panic, and similar ones.
    for text in [
        "import torch\ndef |rain(model, lo   \n, optimizer, criterion):\n    return tor\n",
        "import torch\nx = (\n, y\n;z\n/w\n",
        "import torch\nf(\n?x\n%y\n!z\n",
    ] {
        let notebook = serde_json::json!({"cells": [{"cell_type": "code", "source": text}]});
        survive(notebook.to_string().as_bytes());
    }
}

#[test]
fn long_programs_are_survived() {
    let many = |line: &dyn Fn(usize) -> String, n: usize| (0..n).map(line).collect::<String>();
    let head = "import torch\nmodel = torch.nn.Linear(1, 1)\noptimizer = torch.optim.SGD(model.parameters())\n";
    let texts = [
        // A chain of calls, and a recursive function.
        many(&|n| format!("def f{n}(x):\n    return f{}(x)\n", n + 1), 3000) + "f0(model).backward()\nf1(f1)\n",
        // A value passed through many names.
        many(&|n| format!("x{} = x{n} / 2\n", n + 1), 3000) + "x3000.backward()\ntotal = x3000\n",
        many(&|_| "x /= 2\n".to_owned(), 3000) + "x.backward()\n",
        // Many joins of branches.
        many(&|n| format!("if a{n}:\n    x = model(x)\nelif b{n}:\n    x = x + 1\n"), 800)
            + "for y in x:\n    total += x\n    x.backward()\n",
        // Nested loops.
        (0..90)
            .map(|n| format!("{}for i{n} in x:\n{} total += model(x)\n", " ".repeat(n), " ".repeat(n)))
            .collect::<Vec<_>>()
            .concat()
            + &" ".repeat(90)
            + "total.backward(); optimizer.step()\n",
        // A long list.
        format!("x = [{}]\n", "model(x), ".repeat(20_000)),
    ];
    for text in texts {
        survive(format!("{head}{text}").as_bytes());
    }
}
