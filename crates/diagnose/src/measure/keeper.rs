//! The container that keeps the tensors of earlier iterations, as the agent saw it at the error.

use std::collections::BTreeSet;

use report::{Keeper, Location};
use trace::run::KeeperRecord;
use trace::{EventIndex, LifetimeId};

use super::growth::stays;
use super::life::Life;
use super::view::View;

/// A container with fewer tensors may have them by chance.
const MANY: usize = 8;

/// Returns the container with most of the `kept` tensors, each with the last event of its iteration; `None` unless the container has a tensor for
/// every other iteration at least. What a graph keeps may all hang on small results in a container; a container of few tensors must keep them itself.
pub(crate) fn find_keeper(view: &View, kept: &[(LifetimeId, EventIndex)]) -> Option<Keeper> {
    let lives = view.trace.history.lifetimes();
    let addresses = kept.iter().filter_map(|(id, _)| Some(lives.get(id.0 as usize)?.address().0));
    let addresses: BTreeSet<u64> = addresses.collect();
    let iterations = kept.iter().map(|(_, end)| *end).collect::<BTreeSet<EventIndex>>().len();
    let count = |record: &KeeperRecord| record.addresses.iter().filter(|address| addresses.contains(address)).count();
    let lasting = list_lasting(view);
    let is_state = |record: &KeeperRecord| {
        record.addresses.iter().filter(|address| lasting.contains(address)).count() * 2 > record.addresses.len()
    };
    let keepers = view.trace.process.keepers.iter().filter(|record| !is_state(record));
    let most = keepers.max_by_key(|record| (count(record), record.addresses.len()))?;
    let tensors = if most.addresses.len() < MANY { count(most) } else { most.addresses.len() };
    (tensors * 2 >= iterations && iterations > 0).then(|| Keeper {
        container: describe(most),
        location: (!most.file.is_empty()).then(|| Location { file: most.file.clone(), line: most.line, column: None }),
    })
}

/// The addresses of parameters, gradients and the optimizer's state at the error: an optimizer keeps the same in every step.
fn list_lasting(view: &View) -> BTreeSet<u64> {
    let Some(error) = view.trace.last_oom() else { return BTreeSet::new() };
    let live = view.live_after(error).filter(|(_, contents)| stays(*contents));
    live.map(|(life, _)| life.address().0).collect()
}

/// "the dict `features` of Extractor".
fn describe(record: &KeeperRecord) -> String {
    let KeeperRecord { container, owner, name, .. } = record;
    match (container.as_str(), name.as_str(), owner.as_str()) {
        ("cache", name, _) => format!("the cache of `{name}`"),
        (container, name, "") => format!("the {container} `{name}`"),
        (container, name, owner) => format!("the {container} `{name}` of {owner}"),
    }
}
