//! The flat keys of `torch.cuda.memory_stats`, looked up in the model's counters.

use allocator::{Stat, StatArray, Stats};

/// How to read one statistic.
pub(crate) type Getter = Box<dyn Fn(&Stats) -> u64>;

/// How to read the statistic of that name: a flat key, or a name of the golden runs.
pub(crate) fn getter(name: &str) -> Result<Getter, String> {
    let full = match name {
        "reserved" | "allocated" | "active" | "requested" => format!("{name}_bytes.all.current"),
        "inactive_split_bytes" | "inactive_split" => format!("{name}.all.current"),
        "segments" => "segment.all.current".to_owned(),
        "alloc_retries" | "ooms" | "device_alloc" | "device_free" | "sync_all_streams" | "oom_rejections" => {
            format!("num_{name}")
        }
        _ => name.to_owned(),
    };
    let parts: Vec<&str> = full.split('.').collect();
    found(&parts).ok_or_else(|| format!("unknown statistic {name}"))
}

fn found(parts: &[&str]) -> Option<Getter> {
    match *parts {
        [name] => {
            let scalar = scalar(name)?;
            Some(Box::new(scalar))
        }
        [name, metric] => {
            let (stat, metric) = (stat(name)?, self::metric(metric)?);
            Some(Box::new(move |stats| metric(&stat(stats))))
        }
        [name, pool, metric] => {
            let (array, pool, metric) = (array(name)?, self::pool(pool)?, self::metric(metric)?);
            Some(Box::new(move |stats| metric(&pool(&array(stats)))))
        }
        _ => None,
    }
}

fn scalar(name: &str) -> Option<fn(&Stats) -> u64> {
    Some(match name {
        "num_alloc_retries" => |stats| stats.num_alloc_retries,
        "num_ooms" => |stats| stats.num_ooms,
        "num_sync_all_streams" => |stats| stats.num_sync_all_streams,
        "num_device_alloc" => |stats| stats.num_device_alloc,
        "num_device_free" => |stats| stats.num_device_free,
        "num_oom_rejections" => |stats| stats.num_oom_rejections,
        _ => return None,
    })
}

fn stat(name: &str) -> Option<fn(&Stats) -> Stat> {
    Some(match name {
        "oversize_allocations" => |stats| stats.oversize_allocations,
        "oversize_segments" => |stats| stats.oversize_segments,
        _ => return None,
    })
}

fn array(name: &str) -> Option<fn(&Stats) -> StatArray> {
    Some(match name {
        "allocation" => |stats| stats.allocation,
        "segment" => |stats| stats.segment,
        "active" => |stats| stats.active,
        "inactive_split" => |stats| stats.inactive_split,
        "allocated_bytes" => |stats| stats.allocated_bytes,
        "reserved_bytes" => |stats| stats.reserved_bytes,
        "active_bytes" => |stats| stats.active_bytes,
        "inactive_split_bytes" => |stats| stats.inactive_split_bytes,
        "requested_bytes" => |stats| stats.requested_bytes,
        _ => return None,
    })
}

fn pool(name: &str) -> Option<fn(&StatArray) -> Stat> {
    Some(match name {
        "all" => |array| array.all,
        "small_pool" => |array| array.small_pool,
        "large_pool" => |array| array.large_pool,
        _ => return None,
    })
}

fn metric(name: &str) -> Option<fn(&Stat) -> u64> {
    Some(match name {
        "current" => |stat| stat.current,
        "peak" => |stat| stat.peak,
        "allocated" => |stat| stat.allocated,
        "freed" => |stat| stat.freed,
        _ => return None,
    })
}
