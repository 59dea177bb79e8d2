//! Measures how a peak depends on the addresses of the driver: `addresses ORDERS FILE...`, each file a snapshot, for
//! example of a run by `oomph check --save DIR`. Replays each device's history under its own settings with rising
//! addresses, then with falling addresses, then with `ORDERS` random orders, and prints the allocated and reserved
//! peaks in bytes.
//!
//! Up to 2.11 PyTorch tries free blocks of equal size by address. The chosen block decides which neighbours can merge,
//! and with that the sizes of whole blocks, which PyTorch counts as allocated.

use std::collections::BTreeMap;
use std::process::ExitCode;

use allocator::replay::{Program, ReplayOutcome, recorded_by, recorded_settings, replay};
use allocator::{Device, Pages, Rules, Settings, SimulatedDevice, Space};
use trace::{Address, DeviceIndex, History, Snapshot, read_snapshot};

/// The first address, that of [`SimulatedDevice`], whose keys the addresses have to fit.
const FIRST: u64 = SimulatedDevice::FIRST_ALLOCATED.0;
const END: u64 = SimulatedDevice::FIRST_RESERVED.0;
/// The address space of each allocation; larger than any.
const SLOT_BYTES: u64 = 1 << 34;

/// The order of the driver's addresses.
#[derive(Clone, Copy, Debug)]
enum Order {
    Falling,
    /// Random, from a seed.
    Random(u64),
}

/// A device with unlimited memory that assigns each address once, in some order.
struct Ordered {
    order: Order,
    inner: SimulatedDevice,
    /// The assigned addresses, with their counterparts in `inner`.
    given: BTreeMap<u64, Address>,
}

impl Ordered {
    fn new(order: Order) -> Ordered {
        let inner = SimulatedDevice::new(SimulatedDevice::NEVER_FULL_BYTES, 0);
        Ordered { order, inner, given: BTreeMap::new() }
    }

    fn address(&self, bytes: u64) -> Option<u64> {
        match self.order {
            Order::Falling => Some(self.given.keys().next().copied().unwrap_or(END) - bytes),
            Order::Random(seed) => self.vacant_slot(seed),
        }
    }

    /// The first vacant slot behind a slot drawn from the seed and from the number of taken slots.
    fn vacant_slot(&self, seed: u64) -> Option<u64> {
        let slots = (END - FIRST) / SLOT_BYTES;
        let drawn = mixed(seed ^ mixed(self.given.len() as u64));
        let slot = |offset: u64| FIRST + (drawn.wrapping_add(offset) % slots) * SLOT_BYTES;
        (0..slots).map(slot).find(|address| !self.given.contains_key(address))
    }
}

/// The finaliser of `SplitMix64`.
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl Device for Ordered {
    fn total_bytes(&self) -> u64 {
        self.inner.total_bytes()
    }

    fn free_bytes(&self) -> u64 {
        self.inner.free_bytes()
    }

    fn allocate(&mut self, bytes: u64) -> Option<Address> {
        let address = self.address(bytes)?;
        let real = self.inner.allocate(bytes)?;
        self.given.insert(address, real);
        Some(Address(address))
    }

    fn release(&mut self, address: Address, bytes: u64) {
        if let Some(real) = self.given.remove(&address.0) {
            self.inner.release(real, bytes);
        }
    }

    fn reserve(&mut self, space: Space) -> Address {
        self.inner.reserve(space)
    }

    fn map(&mut self, address: Address, pages: Pages) -> bool {
        self.inner.map(address, pages)
    }

    fn unmap(&mut self, address: Address, pages: Pages) {
        self.inner.unmap(address, pages);
    }
}

fn line(name: &str, outcome: &ReplayOutcome) {
    println!("{name:>9}  {:>15}  {:>15}", outcome.peak_allocated_bytes().0, outcome.peak_reserved_bytes().0);
}

fn show(program: &Program, settings: &Settings, rules: Rules, orders: u64) {
    println!("{:>9}  {:>15}  {:>15}", "addresses", "allocated", "reserved");
    let endless = SimulatedDevice::new(SimulatedDevice::NEVER_FULL_BYTES, 0);
    line("rising", &replay(program, settings, rules, endless));
    let run = |order: Order| replay(program, settings, rules, Ordered::new(order));
    line("falling", &run(Order::Falling));
    let random: Vec<ReplayOutcome> = (0..orders).map(|seed| run(Order::Random(seed))).collect();
    let allocated = |outcome: &&ReplayOutcome| outcome.peak_allocated_bytes();
    let reserved = |outcome: &&ReplayOutcome| outcome.peak_reserved_bytes();
    let extremes = [random.iter().min_by_key(allocated), random.iter().max_by_key(allocated)];
    let others = [random.iter().min_by_key(reserved), random.iter().max_by_key(reserved)];
    for ((name, one), two) in ["lowest", "highest"].into_iter().zip(extremes).zip(others) {
        if let (Some(one), Some(two)) = (one, two) {
            println!("{name:>9}  {:>15}  {:>15}", one.peak_allocated_bytes().0, two.peak_reserved_bytes().0);
        }
    }
}

fn all(snapshot: &Snapshot, orders: u64) -> Result<(), String> {
    for (index, events) in (0..).zip(&snapshot.traces).filter(|(_, events)| !events.is_empty()) {
        let history = History::of(snapshot, DeviceIndex(index));
        let program = Program::of(snapshot, DeviceIndex(index), &history).map_err(|error| error.to_string())?;
        let settings = recorded_settings(&snapshot.settings, events, snapshot.torch.from);
        let (release, _) = recorded_by(&program, events, &settings, snapshot.torch);
        show(&program, &settings, Rules::of(release), orders);
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(Ok(orders)) = arguments.next().map(|number| number.parse()) else {
        eprintln!("usage: addresses ORDERS FILE...");
        return ExitCode::from(2);
    };
    for path in arguments {
        println!("{path}");
        let file = std::fs::File::open(&path).map_err(|error| error.to_string());
        let snapshot = file.and_then(|file| read_snapshot(file).map_err(|error| error.to_string()));
        if let Err(error) = snapshot.and_then(|snapshot| all(&snapshot, orders)) {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
