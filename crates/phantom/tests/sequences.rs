//! Random sequences of memory calls against the plainest model of a device: the bytes in use, and the content of each
//! byte.
//!
//! The device is the default and its state is the process's, so every sequence ends by freeing everything, and the next
//! sequence must find the device as empty as the first did.

#[path = "sequences/model.rs"]
mod model;

use std::ffi::c_void;
use std::ptr::null_mut;

use oomph_phantom::testing::{CudaStatus, In, Out, PAGE_BYTES, Status, driver, pool, runtime};
use proptest::prelude::*;
use wire::limit::KEPT_BYTES;

use model::{Block, Model, Place};

/// A call. Numbers that choose among live objects are taken modulo their count.
#[derive(Clone, Debug)]
enum Call {
    Malloc { bytes: usize },
    MallocAsync { bytes: usize },
    Free { which: usize },
    FreeAgain { which: usize },
    Write { which: usize, at: usize, bytes: usize, value: u8 },
    WriteLarge { which: usize },
    Fill { which: usize, at: usize, bytes: usize, value: u8 },
    Copy { to: usize, from: usize, bytes: usize },
    Read { which: usize, at: usize, bytes: usize },
    Threshold { bytes: u64 },
    Trim { bytes: u64 },
    Create { pages: usize },
    Map { which: usize },
    Unmap { which: usize },
    Release { which: usize },
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let small = 1usize..6 << 20;
    let sizes = prop_oneof![4 => 1usize..4096, 4 => small, 2 => 1usize << 30..9 << 30, 1 => Just(usize::MAX - 100)];
    let (which, at, bytes) = (0usize..1000, prop_oneof![Just(0usize), 0usize..1024], 1usize..512);
    let written = (which.clone(), at.clone(), bytes.clone(), 1u8..);
    let call = prop_oneof![
        4 => sizes.clone().prop_map(|bytes| Call::Malloc { bytes }),
        3 => sizes.prop_map(|bytes| Call::MallocAsync { bytes }),
        4 => which.clone().prop_map(|which| Call::Free { which }),
        1 => which.clone().prop_map(|which| Call::FreeAgain { which }),
        6 => written.clone().prop_map(|(which, at, bytes, value)| Call::Write { which, at, bytes, value }),
        1 => which.clone().prop_map(|which| Call::WriteLarge { which }),
        2 => written.prop_map(|(which, at, bytes, value)| Call::Fill { which, at, bytes, value: value & 3 }),
        3 => (which.clone(), which.clone(), bytes.clone()).prop_map(|(to, from, bytes)| Call::Copy { to, from, bytes }),
        6 => (which.clone(), at, bytes).prop_map(|(which, at, bytes)| Call::Read { which, at, bytes }),
        1 => (0u64..64 << 20).prop_map(|bytes| Call::Threshold { bytes }),
        1 => (0u64..64 << 20).prop_map(|bytes| Call::Trim { bytes }),
        2 => (0usize..6000).prop_map(|pages| Call::Create { pages }),
        2 => which.clone().prop_map(|which| Call::Map { which }),
        2 => which.clone().prop_map(|which| Call::Unmap { which }),
        2 => which.prop_map(|which| Call::Release { which }),
    ];
    prop::collection::vec(call, 1..120)
}

/// The same sequences on every machine; a failure is printed, not written beside the sources.
fn config() -> ProptestConfig {
    let rng_seed = prop::test_runner::RngSeed::Fixed(1);
    ProptestConfig { cases: 1024, failure_persistence: None, rng_seed, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_sequence_of_calls_agrees_with_the_model(calls in calls()) {
        let (free_bytes, total_bytes) = free_and_total();
        prop_assert_eq!(free_bytes, total_bytes, "the last sequence left something behind");
        let mut model = Model::new(total_bytes);
        for call in &calls {
            perform(&mut model, call);
            prop_assert_eq!(total_bytes - free_and_total().0, model.used_bytes(), "after {:?}", call);
        }
        give_everything_back(&mut model);
    }
}

fn perform(model: &mut Model, call: &Call) {
    match *call {
        Call::Malloc { bytes } => allocate(model, bytes, Place::Device),
        Call::MallocAsync { bytes } => allocate(model, bytes, Place::Pool),
        Call::Free { which } => free(model, which),
        Call::FreeAgain { which } => {
            let stale = model.freed.get(which % model.freed.len().max(1)).copied();
            assert!(stale.is_none_or(|address| runtime::cudaFree(address) != CudaStatus::SUCCESS));
        }
        Call::Write { which, at, bytes, value } => write(model, which, at, &vec![value; bytes]),
        Call::WriteLarge { which } => write(model, which, 0, &vec![1; KEPT_BYTES + 1]),
        Call::Fill { which, at, bytes, value } => fill(model, which, at, bytes, value),
        Call::Copy { to, from, bytes } => copy(model, to, from, bytes),
        Call::Read { which, at, bytes } => read(model, which, at, bytes),
        Call::Threshold { bytes } => {
            model.pool.threshold = bytes;
            let mut bytes = bytes;
            succeeded(pool::cudaMemPoolSetAttribute(default_pool(), 4, Out::to_value(&mut bytes)));
        }
        Call::Trim { bytes } => {
            model.pool.shrink(bytes);
            succeeded(pool::cudaMemPoolTrimTo(default_pool(), bytes as usize));
        }
        Call::Create { pages } => create(model, pages),
        Call::Map { which } => map(model, which),
        Call::Unmap { which } => unmap(model, which),
        Call::Release { which } => release(model, which),
    }
}

fn allocate(model: &mut Model, bytes: usize, place: Place) {
    let mut address = 0;
    let status = match place {
        Place::Device => runtime::cudaMalloc(Out::to(&mut address), bytes),
        Place::Pool => pool::cudaMallocAsync(Out::to(&mut address), bytes, null_mut()),
    };
    assert_eq!(status == CudaStatus::SUCCESS, model.take(bytes, place), "{bytes} bytes from {place:?}: {status:?}");
    if status == CudaStatus::SUCCESS {
        assert!(
            model.blocks.iter().all(|block| address >= block.address + block.bytes || address + bytes <= block.address)
        );
        model.blocks.push(Block::new(address, bytes, place));
    }
}

fn free(model: &mut Model, which: usize) {
    if model.blocks.is_empty() {
        return;
    }
    let block = model.blocks.swap_remove(which % model.blocks.len());
    let status = match block.place {
        Place::Device => runtime::cudaFree(block.address),
        Place::Pool => pool::cudaFreeAsync(block.address, null_mut()),
    };
    succeeded(status);
    model.give_back(&block);
}

/// The block with this number, if it has `bytes` bytes from `at`.
fn chosen(model: &mut Model, which: usize, at: usize, bytes: usize) -> Option<&mut Block> {
    let count = model.blocks.len().max(1);
    model.blocks.get_mut(which % count).filter(|block| at + bytes <= block.bytes)
}

fn write(model: &mut Model, which: usize, at: usize, bytes: &[u8]) {
    let Some(block) = chosen(model, which, at, bytes.len()) else { return };
    succeeded(runtime::cudaMemcpy(block.address + at, bytes.as_ptr() as usize, bytes.len(), 1));
    if bytes.len() > KEPT_BYTES { block.forget(at, bytes.len()) } else { block.write(at, bytes) }
}

fn fill(model: &mut Model, which: usize, at: usize, bytes: usize, value: u8) {
    let Some(block) = chosen(model, which, at, bytes) else { return };
    succeeded(runtime::cudaMemset(block.address + at, i32::from(value), bytes));
    if value == 0 { block.forget(at, bytes) } else { block.write(at, &vec![value; bytes]) }
}

fn copy(model: &mut Model, to: usize, from: usize, bytes: usize) {
    let Some(source) = chosen(model, from, 0, bytes) else { return };
    // Partly known bytes are copied as unknown.
    let (address, content) = (source.address, source.is_known(bytes).then(|| source.read(0, bytes)));
    let Some(target) = chosen(model, to, 0, bytes) else { return };
    succeeded(runtime::cudaMemcpy(target.address, address, bytes, 3));
    match content {
        Some(content) => target.write(0, &content),
        None => target.forget(0, bytes),
    }
}

fn read(model: &mut Model, which: usize, at: usize, bytes: usize) {
    let Some(block) = chosen(model, which, at, bytes) else { return };
    let mut found = vec![0xee; bytes];
    succeeded(runtime::cudaMemcpy(found.as_mut_ptr() as usize, block.address + at, bytes, 2));
    assert_eq!(found, block.read(at, bytes), "{bytes} bytes at {at} of {block:?}");
}

fn create(model: &mut Model, pages: usize) {
    let bytes = pages * PAGE_BYTES as usize;
    let prop = driver::AllocationProp {
        kind: 1,
        requested_handle_types: 0,
        location_kind: 1,
        location_id: 0,
        win32_meta_data: null_mut(),
        flags: [0; 8],
    };
    let mut handle: *mut c_void = null_mut();
    let status = driver::cuMemCreate(Out::to(&mut handle), bytes, In::to(&prop), 0);
    let fits = bytes > 0 && model.create(handle as usize, bytes);
    assert_eq!(status.0 == 0, fits, "{pages} pages: {status:?}");
}

fn map(model: &mut Model, which: usize) {
    let count = model.physical.len().max(1);
    let Some(physical) = model.physical.get_mut(which % count).filter(|physical| !physical.is_released) else { return };
    let mut address = 0;
    assert_eq!(driver::cuMemAddressReserve(Out::to(&mut address), physical.bytes, 0, 0, 0).0, 0);
    assert_eq!(driver::cuMemMap(address, physical.bytes, 0, physical.handle as *mut c_void, 0).0, 0);
    assert_ne!(driver::cuMemMap(address, physical.bytes, 0, physical.handle as *mut c_void, 0).0, 0, "mapped twice");
    physical.mapped_at.push(address);
}

fn unmap(model: &mut Model, which: usize) {
    let count = model.physical.len().max(1);
    let Some(physical) = model.physical.get_mut(which % count) else { return };
    let Some(address) = physical.mapped_at.pop() else { return };
    assert_eq!(driver::cuMemUnmap(address, physical.bytes).0, 0);
    assert_eq!(driver::cuMemAddressFree(address, physical.bytes).0, 0);
    model.collect();
}

fn release(model: &mut Model, which: usize) {
    let count = model.physical.len().max(1);
    let Some(physical) = model.physical.get_mut(which % count).filter(|physical| !physical.is_released) else { return };
    assert_eq!(driver::cuMemRelease(physical.handle as *mut c_void).0, 0);
    physical.is_released = true;
    model.collect();
}

fn give_everything_back(model: &mut Model) {
    while !model.blocks.is_empty() {
        free(model, 0);
    }
    for index in (0..model.physical.len()).rev() {
        release(model, index);
    }
    while !model.physical.is_empty() {
        unmap(model, 0);
    }
    perform(model, &Call::Threshold { bytes: 0 });
    perform(model, &Call::Trim { bytes: 0 });
    assert_eq!(model.used_bytes(), 0);
}

fn free_and_total() -> (u64, u64) {
    let (mut free_bytes, mut total_bytes) = (0, 0);
    succeeded(runtime::cudaMemGetInfo(Out::to(&mut free_bytes), Out::to(&mut total_bytes)));
    (free_bytes as u64, total_bytes as u64)
}

fn default_pool() -> usize {
    let mut found = 0;
    succeeded(pool::cudaDeviceGetDefaultMemPool(Out::to(&mut found), 0));
    found
}

fn succeeded(status: CudaStatus) {
    assert_eq!(status, CudaStatus::SUCCESS);
}
