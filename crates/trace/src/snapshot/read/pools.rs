//! The pools of a snapshot, each stored once.

use std::collections::HashMap;

use super::fields::FieldValue;
use super::record::Record;
use crate::ids::PoolId;
use crate::pickle::Slot;
use crate::snapshot::Pool;

#[derive(Default)]
pub(super) struct Pools {
    pub(super) list: Vec<Pool>,
    ids: HashMap<Pool, PoolId>,
    /// The pool of the previous event, which nearly always repeats.
    latest: Option<(Pool, PoolId)>,
}

impl Pools {
    /// The pool of a value: a tuple of two numbers, or a list in JSON, folded or not.
    #[inline]
    pub(super) fn of(&mut self, value: FieldValue<'_>) -> Option<PoolId> {
        match value.folded() {
            Some(Record::Pool(pool)) => Some(pool),
            _ => self.of_list(value),
        }
    }

    fn of_list(&mut self, value: FieldValue<'_>) -> Option<PoolId> {
        let mut items = value.items().ok()?.map(FieldValue::slot);
        let numbers = (items.next()?, items.next()?, items.next());
        if let (Slot::Int(first), Slot::Int(second), None) = numbers { self.intern(first, second) } else { None }
    }

    /// The pool's number; `None` once all numbers are used.
    #[inline]
    pub(super) fn intern(&mut self, first: i64, second: i64) -> Option<PoolId> {
        let pool = Pool { first: first.cast_unsigned(), second: second.cast_unsigned() };
        match self.latest {
            Some((latest, id)) if latest == pool => Some(id),
            _ => self.other(pool),
        }
    }

    fn other(&mut self, pool: Pool) -> Option<PoolId> {
        let id = match self.ids.get(&pool) {
            Some(&known) => known,
            None => PoolId::from_index(self.list.len())?,
        };
        if id.index() == self.list.len() {
            self.list.push(pool);
            self.ids.insert(pool, id);
        }
        self.latest = Some((pool, id));
        Some(id)
    }
}
