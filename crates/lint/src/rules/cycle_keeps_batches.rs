//! `itertools.cycle(loader)`: a copy of the dataset.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("cycle-keeps-batches"),
    effect: MemoryEffect::Grows,
    summary: "`itertools.cycle` of a DataLoader",
    help: "write `while True: yield from loader`",
    cause: Some(CauseId::GrowingCollection),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is("itertools.cycle")) {
        if call
            .syntax
            .arguments
            .args
            .first()
            .is_some_and(|loader| model.gives_batches(loader) || model.is_called_loader(loader))
        {
            matches.add(
                call.syntax,
                "`cycle` stores every item for later passes: all batches of the first pass stay in memory, and \
                later passes are not shuffled",
            );
        }
    }
}
