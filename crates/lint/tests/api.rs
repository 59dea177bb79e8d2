//! The public API: options, suppressions, notebooks, positions, and unreadable files.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use lint::{Finding, MemoryEffect, Options, Selection, SourceFile, Unreadable};

/// A loop with one mistake, on line 7.
const LEAK: &str = "import torch\n\ndef train(model, loader, optimizer):\n    for x in loader:\n        loss = model(x).mean()\n        optimizer.zero_grad()\n        loss.backward(retain_graph=True)\n        optimizer.step()\n";

fn check(text: &str, options: &Options) -> Vec<Finding> {
    lint::check(&SourceFile::python(text.as_bytes()).unwrap(), options).unwrap()
}

fn lines(text: &str) -> Vec<u32> {
    check(text, &Options::default()).iter().map(|finding| finding.start.line).collect()
}

#[test]
fn a_suppression_silences_its_line_only() {
    let marked = "loss.backward(retain_graph=True)";
    let cases = [
        (marked.to_owned(), vec![7]),
        (format!("{marked}  # oomph: ignore"), vec![]),
        (format!("{marked}  # oomph: ignore[retain-graph-in-loop]"), vec![]),
        (format!("{marked}  # oomph: ignore[missing-zero-grad, retain-graph-in-loop] wanted"), vec![]),
        (format!("{marked}  # oomph: ignore[missing-zero-grad]"), vec![7]),
        ("loss.backward(\n            retain_graph=True,\n        )  # oomph: ignore".to_owned(), vec![]),
        ("loss.backward(  # oomph: ignore\n            retain_graph=True,\n        )".to_owned(), vec![]),
        ("loss.backward(\n            # oomph: ignore\n            retain_graph=True,\n        )".to_owned(), vec![]),
        (format!("{marked}\n        # oomph: ignore"), vec![7]),
        (format!("# oomph: ignore\n        {marked}"), vec![8]),
        (format!("print('# oomph: ignore'); {marked}"), vec![7]),
    ];
    for (line, expected) in cases {
        assert_eq!(lines(&LEAK.replace(marked, &line)), expected, "{line}");
    }
    let options = Options { ignores_suppressions: true, ..Options::default() };
    assert_eq!(check(&LEAK.replace(marked, &format!("{marked}  # oomph: ignore")), &options).len(), 1);
}

#[test]
fn options_choose_rules() {
    let named = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let cases = [
        (Options::default(), 1),
        (Options::all(), 1),
        (Options { select: Selection::Only(named(&["missing-zero-grad"])), ..Options::default() }, 0),
        (Options { select: Selection::Only(named(&["retain-graph-in-loop"])), ..Options::default() }, 1),
        (Options { ignore: named(&["retain-graph-in-loop"]), ..Options::default() }, 0),
    ];
    for (options, expected) in cases {
        assert_eq!(check(LEAK, &options).len(), expected, "{options:?}");
    }
    let style = "import torch\nscaler = torch.cuda.amp.GradScaler()\n";
    assert_eq!((check(style, &Options::default()).len(), check(style, &Options::all()).len()), (0, 1));
}

#[test]
fn positions_count_lines_and_characters() {
    let place = |text: &str| {
        let found = check(text, &Options::default());
        let start = found[0].start;
        (start.cell, start.line, start.column)
    };
    assert_eq!(place(LEAK), (None, 7, 23));
    assert_eq!(place(&LEAK.replace('\n', "\r\n")), (None, 7, 23));
    assert_eq!(place(&format!("\u{feff}{LEAK}")), (None, 7, 23));
    assert_eq!(place(&LEAK.replace("        loss.b", "        a = 'é'; loss.b")), (None, 7, 32));
}

#[test]
fn a_help_query_in_a_notebook_is_no_forgotten_call() {
    let found = |text: &str| {
        let notebook = serde_json::json!({"cells": [{"cell_type": "code", "source": text}]});
        let source = SourceFile::notebook(format!("\u{feff}{notebook}").as_bytes()).unwrap();
        lint::check(&source, &Options::all()).unwrap().len()
    };
    assert_eq!(found("import torch\noptimizer.zero_grad"), 1);
    assert_eq!(found("import torch\noptimizer.zero_grad?"), 0);
    assert_eq!(found("import torch\nif x:\n  optimizer.zero_grad??\n"), 0);
}

#[test]
fn a_keyword_is_added_only_where_python_allows_one() {
    let cases = [
        ("", true),
        ("\"all\"", true),
        ("(\"all\")", false),
        ("name for name in names", false),
        ("(name for name in names)", true),
    ];
    for (arguments, expected) in cases {
        let text = format!("import torch\ntorch.cuda.memory._record_memory_history({arguments})\n");
        assert_eq!(check(&text, &Options::default())[0].fix.is_some(), expected, "{arguments}");
    }
}

#[test]
fn notebooks_are_read_cell_by_cell() {
    let cell = |kind: &str, source: &[&str]| {
        let lines: Vec<String> = source.iter().map(|line| format!("{line}\n")).collect();
        serde_json::json!({"cell_type": kind, "source": lines})
    };
    let notebook = serde_json::json!({"cells": [
        cell("markdown", &["# Training"]),
        cell("code", &["%matplotlib inline", "!pip install torch", "import torch", "loader = torch.utils.data.DataLoader(data)"]),
        cell("code", &["%%bash", "for x in *; do echo $x; done"]),
        cell("code", &["%%time", "for x in loader:", "    optimizer.zero_grad()", "    loss = model(x)", "    loss.backward(retain_graph=True)", "    optimizer.step()"]),
    ]});
    let source = SourceFile::notebook(notebook.to_string().as_bytes()).unwrap();
    let found = lint::check(&source, &Options::default()).unwrap();
    let places: Vec<_> = found.iter().map(|it| (it.start.cell, it.start.line, it.rule.0)).collect();
    assert_eq!(places, [(Some(4), 5, "retain-graph-in-loop")]);
    assert_eq!(found[0].report(&source, "a.ipynb").finding.location.unwrap().file, "a.ipynb:cell 4");
}

#[test]
fn an_unreadable_file_is_an_error_with_its_line() {
    let python = |bytes: &[u8]| match SourceFile::python(bytes) {
        Ok(source) => lint::check(&source, &Options::default()).unwrap_err(),
        Err(error) => error,
    };
    let deep =
        |open: &str, close: &str, n: usize| format!("import torch\nx = {}1{}\n", open.repeat(n), close.repeat(n));
    assert_eq!(python(b"import torch\n\xff\n"), Unreadable::Encoding { line: 2 });
    assert!(matches!(python(b"import torch\nprint 'x'\n"), Unreadable::Syntax { at, .. } if at.line == 2));
    for bomb in
        [deep("(", ")", 300), deep("-", "", 5000), deep("not ", "", 5000), deep("1+", "", 5000), deep("f(", ")", 5000)]
    {
        assert!(matches!(python(bomb.as_bytes()), Unreadable::Depth(_)));
    }
    assert_eq!(python(&vec![b'#'; (16 << 20) + 1]), Unreadable::Size { bytes: (16 << 20) + 1 });
    assert!(matches!(SourceFile::notebook(b"{}").unwrap_err(), Unreadable::Notebook(_)));
    assert!(matches!(SourceFile::notebook(b"[[[").unwrap_err(), Unreadable::Notebook(_)));
}

#[test]
fn a_file_at_the_depth_limit_is_read() {
    let nested =
        |open: &str, close: &str, n: usize| format!("import torch\nx = {}1{}\n", open.repeat(n), close.repeat(n));
    let blocks: String = (0..99).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect::<Vec<_>>().concat();
    let chain = format!("import torch\nx = y{}\n", ".a".repeat(490));
    for text in [
        nested("(", ")", 199),
        nested("[", "]", 199),
        nested("1+", "", 490),
        chain,
        format!("import torch\n{blocks}{}pass\n", " ".repeat(99)),
    ] {
        assert_eq!(check(&text, &Options::all()), []);
    }
}

#[test]
fn test_files_have_findings_only_with_a_selection() {
    let program =
        "import torch\nfor batch in loader:\n    loss = model(batch).mean()\n    loss.backward()\n    total += loss\n";
    let only = Options { select: Selection::Only(vec!["accumulated-graph".to_owned()]), ..Options::default() };
    let cases = [
        ("", true),
        ("import unittest\n", false),
        ("from pytest import mark\n", false),
        ("from torch.testing._internal.common_utils import run_tests\n", false),
        ("class TestLoss:\n    def test_mean(self):\n        pass\n", false),
        ("class Testing(nn.Module):\n    def forward(self, x):\n        return x\n", true),
    ];
    for (before, by_default) in cases {
        let text = format!("{before}{program}");
        assert_eq!(!check(&text, &Options::default()).is_empty(), by_default, "{before}");
        assert!(!check(&text, &only).is_empty(), "{before}");
    }
}

#[test]
fn rules_are_named_after_patterns_in_order() {
    let names: Vec<&str> = lint::rules().iter().map(|rule| rule.id.0).collect();
    assert!(names.is_sorted() && names.windows(2).all(|pair| pair[0] != pair[1]));
    for rule in lint::rules() {
        assert!(
            rule.id.0.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "{rule:?}"
        );
        assert!(
            !rule.summary.ends_with('.') && !rule.help.ends_with('.'),
            "{rule:?}: texts of one sentence have no full stop"
        );
    }
    assert!(lint::rules().iter().any(|rule| rule.effect == MemoryEffect::Grows));
}
