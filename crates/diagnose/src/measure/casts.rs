//! Weights that are moved to a device and cast there by a later call.
//!
//! # Note [Casts]
//! `Module._apply` allocates the successor of a parameter and then frees the parameter, by an assignment to `.data` (torch/nn/modules/module.py,
//! 2.11). So the last allocation before the free of a moved parameter is its successor. A smaller successor by another call is a cast: with
//! the cast first, the device has only the successors.

use std::collections::BTreeMap;

use trace::{Bytes, Moment};

use super::life::Life;
use super::view::View;

/// The cast of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cast {
    /// The number of the successor among the allocations.
    pub(crate) successor: usize,
    /// The size of the tensor.
    pub(crate) before_bytes: Bytes,
    /// The size of the successor.
    pub(crate) after_bytes: Bytes,
}

/// Returns the casts of a history, by the number of the tensor among the allocations. See Note [Casts].
pub(crate) fn find_casts(view: &View) -> BTreeMap<usize, Cast> {
    let lives = view.trace.history.lifetimes();
    let placed = lives.iter().enumerate().filter(|(_, life)| view.is_placed(life.stack));
    let cast = placed.filter_map(|(number, life)| {
        let freed = Moment::from(life.freed()?);
        let successor = lives.partition_point(|other| other.begun < freed).checked_sub(1)?;
        let other = lives.get(successor).filter(|other| view.is_placed(other.stack) && other.stack != life.stack)?;
        let is_smaller = number < successor && other.requested() < life.requested();
        is_smaller.then(|| (number, Cast { successor, before_bytes: life.requested(), after_bytes: other.requested() }))
    });
    cast.collect()
}
