//! optimizer-8bit: the class of bitsandbytes whose state has 8 bits, in place of PyTorch's.

use super::Patch;
use super::optimizers::{constructor, replace_class, trainer_argument};
use crate::edit::Edit;
use crate::site::ChangeSite;
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(|site| bitsandbytes(site, "", "8bit"), |_| code("", "8bit"))
    .with_argument(|site, trainer| trainer_argument(site, trainer, "\"adamw_bnb_8bit\""));

/// Keywords with the same name in bitsandbytes 0.49 and PyTorch 2.11, for each class.
const KEPT: [(&str, &[&str]); 5] = [
    ("Adam", &["lr", "betas", "eps", "weight_decay", "amsgrad"]),
    ("AdamW", &["lr", "betas", "eps", "weight_decay", "amsgrad"]),
    ("SGD", &["lr", "momentum", "dampening", "weight_decay", "nesterov"]),
    ("RMSprop", &["lr", "alpha", "eps", "weight_decay", "momentum", "centered"]),
    ("Adagrad", &["lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps"]),
];

/// The class `{prefix}{NAME}{suffix}` in place of `NAME`.
pub(super) fn bitsandbytes(site: &ChangeSite<'_>, prefix: &str, suffix: &str) -> Result<Vec<Edit>, Why> {
    if let Ok(Some(_)) = site.statement().map(|statement| done(statement, prefix, suffix)) {
        return Ok(Vec::new());
    }
    let name = constructor(site)?.called().unwrap_or_default();
    let kept = KEPT.iter().find(|(class, _)| *class == name).map(|(_, kept)| *kept);
    let kept = kept.ok_or_else(|| Why::Unfit(format!("bitsandbytes has no {name}")))?;
    let module = site.import_name("bitsandbytes");
    if module.is_none() && site.is_taken("bnb") {
        return Err(Why::NameTaken("bnb".to_owned()));
    }
    let import = module.is_none().then_some("import bitsandbytes as bnb");
    replace_class(site, &format!("{}.optim.{prefix}{name}{suffix}", module.unwrap_or("bnb")), kept, import)
}

/// The call of the class, if the line has it already.
fn done<'a>(statement: &'a crate::syntax::Node, prefix: &str, suffix: &str) -> Option<&'a crate::syntax::Node> {
    let is_it = |name: &str| KEPT.iter().any(|(class, _)| name == format!("{prefix}{class}{suffix}"));
    crate::site::own(statement).find(|node| node.called().is_some_and(is_it))
}

/// The same for a person.
pub(super) fn code(prefix: &str, suffix: &str) -> String {
    format!("import bitsandbytes as bnb\noptimizer = bnb.optim.{prefix}AdamW{suffix}(model.parameters(), ...)")
}
