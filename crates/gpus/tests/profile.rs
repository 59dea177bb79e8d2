//! Profiles: the text for the phantom, and figures given by the user.
#![expect(clippy::unwrap_used, reason = "test")]

use gpus::{Field, Provenance, find};
use trace::Bytes;
use wire::profile;

#[test]
fn the_device_variable_states_every_figure_of_the_model() {
    let text = find("a100-sxm4-80gb").unwrap().device_variable();
    assert!(text.starts_with("name=NVIDIA A100-SXM4-80GB;total_bytes=85167439872;context_bytes="), "{text}");
    let expected = "compute_capability=8.0;multiprocessors=108;l2_bytes=41943040;\
        shared_memory_per_block_bytes=49152;shared_memory_per_block_optin_bytes=166912;\
        shared_memory_per_multiprocessor_bytes=167936;reserved_shared_memory_per_block_bytes=1024;\
        registers_per_multiprocessor=65536;threads_per_multiprocessor=2048;blocks_per_multiprocessor=32;\
        clock_khz=1410000;memory_clock_khz=1593000;memory_bus_bits=5120";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn the_device_variable_has_the_keys_that_the_phantom_reads() {
    let text = find("4090").unwrap().device_variable();
    let keys: Vec<&str> = text.split(profile::SEPARATOR).filter_map(|figure| Some(figure.split_once('=')?.0)).collect();
    assert_eq!(keys, profile::ALL);
}

#[test]
fn two_models_may_share_the_name_that_cuda_gives_them() {
    let text = find("RTX 3080 12GB").unwrap().device_variable();
    assert!(text.starts_with("name=NVIDIA GeForce RTX 3080;"), "{text}");
}

#[test]
fn a_total_of_the_user_replaces_that_of_the_model_and_says_so() {
    let card = find("4090").unwrap();
    let smaller = card.with_total(Bytes::from_gib(16));
    assert_eq!(smaller.total_bytes, Bytes::from_gib(16));
    assert_eq!(smaller.provenance(Field::TotalBytes).0, Provenance::Given);
    assert_eq!(smaller.multiprocessors, card.multiprocessors);
    assert_eq!(smaller.usable() + smaller.context_bytes, Bytes::from_gib(16));
}
