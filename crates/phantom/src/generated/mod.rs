//! Lists that a script made; see `crates/phantom/generate.py`.

pub mod absent_cudart;
pub mod absent_driver;
