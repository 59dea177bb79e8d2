//! The doors: one file or folder per library, exporting what its header declares.

pub mod cublas;
pub mod cublaslt;
pub mod cudnn;
pub mod cufft;
pub mod cufile;
pub mod curand;
pub mod cusolver;
pub mod cusparse;
pub mod cusparselt;
pub mod datatype;
pub mod driver;
pub mod nccl;
pub mod nvml;
pub mod nvshmem;
pub mod runtime;
pub mod testing;
