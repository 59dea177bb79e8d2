//! The pools of a snapshot, each once.

use std::collections::HashMap;

use crate::ids::PoolId;
use crate::snapshot::Pool;

#[derive(Default)]
pub(super) struct Pools {
    pub(super) list: Vec<Pool>,
    ids: HashMap<Pool, PoolId>,
    /// The pool of the event before, which nearly always is the same.
    latest: Option<(Pool, PoolId)>,
}

impl Pools {
    /// The pool's number; `None` beyond the number of pools that are told apart.
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
