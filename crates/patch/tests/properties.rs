//! Properties of any text, any line and any remedy.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use patch::{PlacedEdit, patch};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use report::Change;
use trace::run::RemedyAction;

/// Likely lines of programs, and some that no program has.
const LINES: [&str; 35] = [
    "import torch",
    "from torch import nn",
    "from __future__ import annotations",
    "\"\"\"Text",
    "over lines\"\"\"",
    "model = Net().cuda()",
    "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)",
    "optimizer = torch.optim.AdamW(",
    "    model.parameters(),  # all",
    ")",
    "loader = DataLoader(data, batch_size=64)",
    "parser.add_argument(\"--batch-size\", type=int, default=64)",
    "args = parser.parse_args()",
    "def evaluate(model):",
    "class Net(nn.Module):",
    "for x, y in loader:",
    "for i in range(10):",
    "while True:",
    "if x: y = 1; z = 2",
    "with torch.autocast(\"cuda\", enabled=False):",
    "for block in self.blocks:",
    "x = block(x)",
    "x = x + \\",
    "loss = model(x).mean()  # é",
    "loss = f'''{x}",
    "{y}'''",
    "loss.backward()",
    "model(x).sum().backward()",
    "scaler.scale(loss).backward()",
    "optimizer.step()",
    "optimizer.zero_grad(set_to_none=False)",
    "a, b = nn.ReLU(), [nn.ReLU() for _ in range(3)]",
    "BATCH_SIZE = 64",
    "\u{c}",
    "loss = cross_entropy(model(x), y)",
];

const CHANGES: [(&str, &str); 25] = [
    ("optimizer-fused", r#"{"kind": "set-argument", "callee": "AdamW", "keyword": "fused", "value": "True"}"#),
    ("optimizer-foreach-off", r#"{"kind": "set-argument", "callee": "AdamW", "keyword": "foreach", "value": "False"}"#),
    ("optimizer-8bit", APPLY),
    ("optimizer-adafactor", APPLY),
    ("optimizer-paged:bits=8", APPLY),
    ("allocator-settings:conf=a", APPLY),
    ("batch-size:size=8", r#"{"kind": "set-size", "name": "--batch-size", "size": 8, "previous": 64}"#),
    ("batch-size:size=8", r#"{"kind": "set-size", "name": "BATCH_SIZE", "size": 8, "previous": 64}"#),
    ("autocast", APPLY),
    ("autocast:dtype=fp16", APPLY),
    (
        "gradient-accumulation:steps=4",
        r#"{"kind": "divide-argument", "callee": "DataLoader", "keyword": "batch_size", "parts": 4}"#,
    ),
    ("gradient-accumulation:steps=4", r#"{"kind": "scale-loss", "steps": 4}"#),
    ("gradient-accumulation:steps=4", r#"{"kind": "gate-step", "optimizer": "AdamW", "steps": 4}"#),
    (
        "activation-checkpointing",
        r#"{"kind": "call-method", "model": "Net", "method": "gradient_checkpointing_enable"}"#,
    ),
    ("activation-checkpointing:blocks=2", r#"{"kind": "checkpoint-blocks", "classes": ["Block"]}"#),
    ("set-to-none:site=after-step", r#"{"kind": "move-zero-grad"}"#),
    ("set-to-none", APPLY),
    ("no-grad-in-eval", APPLY),
    ("activation-offload", APPLY),
    ("activation-memory-budget:budget=0.5", APPLY),
    ("inplace-activations", r#"{"kind": "set-argument", "callee": "ReLU", "keyword": "inplace", "value": "True"}"#),
    ("optimizer-offload", APPLY),
    ("weights-offload", APPLY),
    ("lora:rank=4", APPLY),
    ("chunked-cross-entropy", r#"{"kind": "chunk-loss", "chunks": 8}"#),
];

const APPLY: &str = r#"{"kind": "apply"}"#;

fn change() -> impl Strategy<Value = PlacedEdit> {
    (select(CHANGES.as_slice()), 0..40_u32).prop_map(|((change, action), line)| {
        let change: Change = change.parse().unwrap();
        PlacedEdit { change, line, action: serde_json::from_str(action).unwrap() }
    })
}

/// Lines at some indentation, with some line break.
fn program() -> impl Strategy<Value = String> {
    let line = (
        select(LINES.as_slice()),
        0..3_usize,
        select(["    ", "\t"].as_slice()),
        select(["\n", "\n", "\n", "\r\n", "\r"].as_slice()),
    );
    vec(line, 0..25).prop_map(|lines| {
        lines
            .iter()
            .flat_map(|(line, depth, unit, end)| [unit.repeat(*depth), (*line).to_owned(), (*end).to_owned()])
            .collect()
    })
}

/// Parsable programs: a loop with its usual statements in any order.
fn training() -> impl Strategy<Value = String> {
    let body = vec(prop_oneof![select(&LINES[23..24]), select(&LINES[26..31])], 1..8);
    (vec(select([5, 6, 10, 11, 32].as_slice()), 0..4), select(&LINES[15..17]), body, any::<bool>()).prop_map(
        |(head, header, body, ends)| {
            let head = head.iter().map(|&index| format!("{}\n", LINES[index]));
            let body = body.iter().map(|line| format!("\t{line}\n"));
            let text: String = ["import torch\n".to_owned()]
                .into_iter()
                .chain(head)
                .chain([format!("{header}\n")])
                .chain(body)
                .collect();
            if ends { text } else { text.trim_end().to_owned() }
        },
    )
}

fn parses(text: &str) -> bool {
    let outcome = patch(
        text,
        "x.py",
        &[PlacedEdit { change: Change::new("optimizer-fused"), line: 0, action: RemedyAction::default() }],
    );
    outcome.snippets.iter().all(|snippet| snippet.why.starts_with("no statement"))
}

fn check(text: &str, changes: &[PlacedEdit]) -> Result<(), TestCaseError> {
    let outcome = patch(text, "x.py", changes);
    prop_assert_eq!(outcome.diff.is_empty(), outcome.source == text);
    if parses(text) {
        prop_assert!(parses(&outcome.source), "{}", outcome.source);
    } else {
        prop_assert_eq!(&outcome.source, text);
    }
    let kept = text.split_inclusive('\n').count();
    let removed = outcome.diff.lines().filter(|line| line.starts_with('-') && !line.starts_with("---")).count();
    prop_assert!(removed <= kept);
    Ok(())
}

proptest! {
    #[test]
    fn any_text_is_left_readable(text in "\\PC*", changes in vec(change(), 1..3)) {
        check(&text, &changes)?;
    }

    #[test]
    fn any_program_is_left_readable(text in program(), changes in vec(change(), 1..4)) {
        check(&text, &changes)?;
    }

    #[test]
    fn any_loop_is_left_readable(text in training(), changes in vec(change(), 1..6)) {
        check(&text, &changes)?;
    }

    #[test]
    fn a_program_cut_anywhere_is_left_readable(text in training(), at in any::<Index>(), changes in vec(change(), 1..4)) {
        let cut = (0..=at.index(text.len() + 1)).rev().find(|&cut| text.is_char_boundary(cut)).unwrap();
        check(&text[..cut], &changes)?;
    }

    #[test]
    fn what_keeps_its_line_is_made_once(text in training(), line in 1..12_u32) {
        for name in ["optimizer-fused", "optimizer-foreach-off", "optimizer-adafactor"] {
            let change = PlacedEdit { change: Change::new(name), line, action: RemedyAction::default() };
            let once = patch(&text, "x.py", std::slice::from_ref(&change));
            let twice = patch(&once.source, "x.py", &[change]);
            prop_assert_eq!(twice.source, once.source);
        }
    }
}

#[test]
fn what_is_nested_too_deeply_is_refused() {
    let change = [PlacedEdit { change: Change::new("optimizer-fused"), line: 1, action: RemedyAction::default() }];
    let blocks: String = (0..150).flat_map(|depth| [" ".repeat(depth), "if x:\n".to_owned()]).collect();
    let texts = [
        "(".repeat(100_000),
        format!("x{}", ".a".repeat(100_000)),
        "-".repeat(100_000),
        format!("{blocks}{}pass", " ".repeat(150)),
    ];
    for text in texts {
        let outcome = patch(&text, "x.py", &change);
        assert_eq!(outcome.source, text);
        assert!(outcome.snippets[0].why.contains("nested too deeply"), "{}", outcome.snippets[0].why);
    }
}
