//! A tensor that a loop joins with more at each pass, by the source or the frames of a message.

use causes::CauseId;
use report::{Finding, Remedy};
use trace::text::ClueKind;

use crate::rules::advice::advice;
use crate::rules::facts::input::{Facts, Failure};
use crate::rules::facts::known::{Known, Source, text};
use crate::rules::rule::{Cause, Rank};

/// The functions that join tensors.
const JOINS: [&str; 5] = ["torch.cat(", "torch.concat(", "torch.concatenate(", "torch.vstack(", "torch.hstack("];

/// Returns the cause of a message whose figures do not decide.
pub(super) fn find(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref()?;
    let (requested, allocated) = (failure.requested?.nearest(), failure.allocated.map(Known::nearest)?);
    let source = failure.clue(ClueKind::SourceLine);
    let (message, remedies) = match source.and_then(joined_name) {
        Some(name) => {
            let line = format!(
                "{name} is joined with more: each pass needs the old tensor and a new one of {requested} at once, beside {allocated} allocated"
            );
            (line, vec![collect_pieces()])
        }
        None if joins_predictions(failure) => {
            let line = format!(
                "the evaluation loop joins the predictions of all batches on the device: {requested} for the joined tensor, with {allocated} \
                 allocated"
            );
            (line, Vec::new())
        }
        None => return None,
    };
    let finding = Finding {
        without: None,
        rule: CauseId::GrowingCollection,
        severity: facts.severity(),
        message,
        location: failure.location.clone(),
        evidence: source.iter().map(|line| text("the line", (*line).to_owned(), Source::Traceback)).collect(),
        remedies,
    };
    Some(Cause { finding, bytes: Some(requested), rank: Rank::Fault, removal: None })
}

fn joins_predictions(failure: &Failure) -> bool {
    let functions = ["nested_concat", "torch_pad_and_concatenate"];
    failure.frames.iter().any(|frame| functions.contains(&frame.function.as_str()))
}

/// The name in `name = torch.cat([name, more])`.
fn joined_name(source: &str) -> Option<&str> {
    let (name, value) = source.split_once(" = ")?;
    let parts = JOINS.iter().find_map(|join| value.strip_prefix(join))?;
    let first = parts.strip_prefix(['[', '('])?.split(',').next()?.trim();
    (first == name.trim()).then_some(first)
}

fn collect_pieces() -> Remedy {
    advice(
        "keep the pieces in a list on the CPU, and join them once behind the loop",
        "pieces.append(x.detach().cpu()), then torch.cat(pieces); or write into one tensor made before the loop",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_joined_with_itself_has_a_name() {
        assert_eq!(joined_name("feats = torch.cat([feats, f], dim=0)"), Some("feats"));
        assert_eq!(joined_name("self.bank = torch.cat((self.bank, x.cpu()))"), Some("self.bank"));
        assert_eq!(joined_name("y = torch.cat([a, b])"), None);
        assert_eq!(joined_name("return torch.cat([a, b])"), None);
    }
}
