//! The logits of a whole evaluation on the GPU.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::{Call, Model};
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("eval-logits-on-gpu"),
    effect: MemoryEffect::Wastes,
    summary: "a Hugging Face Trainer that gathers the logits of the whole evaluation on the GPU",
    help: "pass `preprocess_logits_for_metrics` to reduce the logits, or `eval_accumulation_steps`",
    cause: Some(CauseId::GrowingCollection),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let has_vocabulary = model.calls().iter().any(|call| call.path.as_deref().is_some_and(makes_language_model));
    let is_arguments = |call: &&Call<'_>| call.is_any(&["transformers.TrainingArguments"]);
    let Some(arguments) = model.calls().iter().find(is_arguments).filter(|_| has_vocabulary) else { return };
    let is_moved =
        ["eval_accumulation_steps", "prediction_loss_only"].iter().any(|name| arguments.keyword(name).is_some());
    for trainer in model.calls().iter().filter(|call| call.is("transformers.Trainer")) {
        let is_reduced = trainer.keyword("preprocess_logits_for_metrics").is_some() || trainer.has_unpacked();
        if trainer.keyword("compute_metrics").is_some() && !is_reduced && !is_moved && !arguments.has_unpacked() {
            matches.add(
                trainer.syntax,
                "the GPU collects logits as wide as the vocabulary for the whole evaluation before \
                `compute_metrics` runs",
            );
        }
    }
}

/// Checks for a model whose logits are as wide as its vocabulary.
fn makes_language_model(path: &str) -> bool {
    path.starts_with("transformers.")
        && ["ForCausalLM", "ForMaskedLM", "LMHeadModel"].iter().any(|it| path.contains(it))
}
