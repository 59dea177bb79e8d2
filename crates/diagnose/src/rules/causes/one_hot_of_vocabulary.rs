//! `one-hot-of-vocabulary`: an index is spread out into a one-hot matrix.
//!
//! Role request, order 103.

use causes::CauseId;

use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::families::operation::Failed;
use crate::rules::rule::{Cause, Check, Rule};

pub(super) const RULE: Rule = Rule { cause: CauseId::OneHotOfVocabulary, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let failed = Failed::of(facts)?;
    let is_one_hot = ["one_hot", "onehot", "eye("].iter().any(|word| failed.operation.text.contains(word));
    if !is_one_hot && !failed.calls(&["one_hot"]) {
        return None;
    }
    failed.cause(
        RULE.cause,
        "a one-hot matrix takes",
        advice(
            "keep the indices",
            "cross_entropy and nll_loss take indices (and label_smoothing), an embedding or gather selects rows; F.one_hot makes int64, \
             eight bytes for each zero",
        ),
    )
}
