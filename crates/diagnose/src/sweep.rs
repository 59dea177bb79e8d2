//! The runs of a sweep, and what they say of points that did not run.
//!
//! # Note [Lines]
//! A sweep's points fall into lines: points that differ in one number alone, such as the batch. Every request of a program is a line through
//! two sizes (`Program::scaled`); the peak is not, and a library may take another kernel at some size. So the ends of a line run, and its
//! middle; where a replay of the two ends foretells the middle to the byte, allocated and reserved, the points between are replayed from
//! their nearest neighbours. Where it does not, both halves are asked the same way. At the worst every point of a line runs.
//!
//! # Note [One run for many GPUs]
//! A run without a limit has the same need on all GPUs of one compute capability, but for the context: the kernels are the same, and no
//! request asks how much memory there is. GPUs with other numbers of multiprocessors are the exception that the first point of a sweep
//! looks for: kernels that split their work by them take other workspaces (`set_params_splitkv` in
//! aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp, 2.11).
//!
//! Whether a need above the memory still fits, because PyTorch releases its cache before it raises, is answered by a replay of the point's
//! own recording on a device of that size.

mod answer;
mod points;
mod setters;

pub use answer::{PointAnswer, SweepGpu};
pub use points::{LinePoint, SweepLine};
pub use setters::{Setter, SetterError, find_setters};
