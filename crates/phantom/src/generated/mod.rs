//! Lists that `make generate` writes; see `crates/phantom/generate.py`.

pub mod absent_cublas;
pub mod absent_cublaslt;
pub mod absent_cudart;
pub mod absent_cudnn;
pub mod absent_cufft;
pub mod absent_cufile;
pub mod absent_curand;
pub mod absent_cusolver;
pub mod absent_cusparse;
pub mod absent_cusparselt;
pub mod absent_driver;
pub mod absent_nccl;
