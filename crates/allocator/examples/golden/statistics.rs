//! The flat keys of `torch.cuda.memory_stats`, looked up in the model's counters.

use allocator::{Settings, Stat, StatArray, Stats};
use trace::Bytes;

use crate::recorded::{Operation, Recorded};

/// The recorded statistics so far, and the getters of the model's.
pub(crate) struct Statistics {
    named: Vec<(String, Getter)>,
    are_changes: bool,
    expected: Vec<Option<i64>>,
}

/// Reads one statistic.
type Getter = Box<dyn Fn(&Stats) -> i64>;

impl Statistics {
    pub(crate) fn new(recorded: &Recorded, settings: &Settings) -> Result<Statistics, String> {
        let named = recorded.stat_names.iter().map(|name| Ok((name.clone(), getter(name, settings)?)));
        Ok(Statistics {
            named: named.collect::<Result<_, String>>()?,
            are_changes: recorded.is_of_driver(),
            expected: vec![Some(0); recorded.stat_names.len()],
        })
    }

    /// Compares all statistics after an operation. A statistic that the version does not report is `None`.
    pub(crate) fn compare(&mut self, operation: &Operation, stats: &Stats) -> Result<(), String> {
        let Some(recorded) = &operation.stats else { return Ok(()) };
        if self.are_changes {
            self.change(recorded)?;
        } else {
            self.expected.clone_from(recorded);
        }
        let pairs = self.named.iter().zip(&self.expected);
        let differences: Vec<String> =
            pairs.filter_map(|((name, getter), expected)| difference(name, getter(stats), *expected)).collect();
        if differences.is_empty() { Ok(()) } else { Err(differences.join("; ")) }
    }

    fn change(&mut self, changes: &[Option<i64>]) -> Result<(), String> {
        for change in changes.chunks(2) {
            let [Some(index), value] = *change else { return Err(format!("no change of a statistic: {change:?}")) };
            let place = usize::try_from(index).ok().and_then(|index| self.expected.get_mut(index));
            *place.ok_or_else(|| format!("no statistic {index}"))? = value;
        }
        Ok(())
    }
}

fn difference(name: &str, got: i64, expected: Option<i64>) -> Option<String> {
    expected.filter(|expected| *expected != got).map(|expected| format!("{name} {got}, recorded {expected}"))
}

/// The getter of a statistic. `max_split_size` is that of the settings at the start.
fn getter(name: &str, settings: &Settings) -> Result<Getter, String> {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    if name == "max_split_size" {
        let size = settings.max_split_size.map_or(-1, |Bytes(bytes)| signed(bytes));
        return Ok(Box::new(move |_| size));
    }
    let counter = counter(name)?;
    Ok(Box::new(move |stats| signed(counter(stats))))
}

/// Reads one counter.
type Counter = Box<dyn Fn(&Stats) -> u64>;

/// The getter of a counter, by its flat key or by its name in the golden runs.
fn counter(name: &str) -> Result<Counter, String> {
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
    find_counter(&parts).ok_or_else(|| format!("unknown statistic {name}"))
}

fn find_counter(parts: &[&str]) -> Option<Counter> {
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
