//! Private pools of a recorded run: `torch.cuda.MemPool` and captures of CUDA graphs.

use std::collections::HashMap;

use allocator::{PoolOptions, PrivatePoolId, Route, Thread};
use serde::Deserialize as _;
use serde_json::Value;
use trace::Stream;

use crate::device::Model;
use crate::recorded::Operation;

#[derive(Default)]
pub(crate) struct Pools {
    /// By the names of pools and of graphs.
    named: HashMap<i64, PrivatePoolId>,
    /// PyTorch's ids.
    ids: HashMap<PrivatePoolId, [u64; 2]>,
    /// The number of captures with a pool of their own.
    captures: u64,
}

impl Pools {
    /// PyTorch's id of a pool; `(0, 0)` for the shared pool.
    pub(crate) fn id(&self, pool: Option<PrivatePoolId>) -> [u64; 2] {
        pool.and_then(|pool| self.ids.get(&pool)).copied().unwrap_or_default()
    }

    fn named(&self, name: i64) -> Result<PrivatePoolId, String> {
        self.named.get(&name).copied().ok_or_else(|| format!("no pool {name}"))
    }

    pub(crate) fn apply(&mut self, model: &mut Model, operation: &Operation, stream: Stream) -> Result<(), String> {
        let Operation { name, id, argument, result, thread, .. } = operation;
        match name.as_str() {
            "create_pool" => {
                let pool = model.create_pool(options(argument));
                self.named.insert(*id, pool);
                self.ids.insert(pool, pool_id(result)?);
            }
            "begin_pool" => model.begin_allocate_to_pool(self.named(*id)?, Route::Thread(Thread(*thread))),
            "end_pool" => {
                model.end_allocate_to_pool(self.named(*id)?);
                model.release_pool(self.named(*id)?);
            }
            "delete_pool" => model.delete_pool(self.named(*id)?),
            "begin_capture" => self.begin_capture(model, *id, argument, stream)?,
            "join_capture" => model.join_capture(self.named(*id)?, stream),
            "end_capture" => {
                model.end_allocate_to_pool(self.named(*id)?);
                self.compare_id(*id, result)?;
            }
            "destroy_graph" => model.release_pool(self.named(*id)?),
            _ => return Err(format!("unknown operation {name}")),
        }
        Ok(())
    }

    /// Begins a capture: into the pool of another graph or a `MemPool`, or into a new pool for this capture.
    fn begin_capture(&mut self, model: &mut Model, name: i64, shared: &Value, stream: Stream) -> Result<(), String> {
        let shared = shared.get(1).and_then(Value::as_i64).map(|other| self.named(other)).transpose()?;
        let pool = shared.unwrap_or_else(|| model.create_pool(PoolOptions::default()));
        self.named.insert(name, pool);
        model.begin_allocate_to_pool(pool, Route::Capture(stream));
        if shared.is_none() {
            self.captures += 1;
            self.ids.insert(pool, [self.captures, 0]);
            model.release_pool(pool);
        }
        Ok(())
    }

    fn compare_id(&self, name: i64, recorded: &Value) -> Result<(), String> {
        let (id, expected) = (self.id(Some(self.named(name)?)), pool_id(recorded)?);
        if id == expected { Ok(()) } else { Err(format!("pool {id:?}, recorded {expected:?}")) }
    }
}

fn options(argument: &Value) -> PoolOptions {
    let flag = |name: &str| argument.get(name) == Some(&Value::Bool(true));
    PoolOptions { custom: false, use_on_oom: flag("use_on_oom"), no_split: flag("no_split") }
}

fn pool_id(result: &Value) -> Result<[u64; 2], String> {
    <[u64; 2]>::deserialize(result).map_err(|error| error.to_string())
}
