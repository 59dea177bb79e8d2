//! The allocator's settings that suit a recorded program, by `tune`.

use trace::Run;

use crate::explain::{ExplainInput, InputContents};
use crate::tune::{Gpu, TuneCase, TuneError, tune};

/// The recommended `PYTORCH_CUDA_ALLOC_CONF` for the program of `run`, on `gpu`; `None` if nothing is better than the
/// present value, or if PyTorch keeps no history.
///
/// # Errors
/// A history that cannot be replayed.
pub fn settings_by_replay(run: Run, gpu: Gpu) -> Result<Option<String>, TuneError> {
    let input = ExplainInput { path: "the program".to_owned(), rank: None, contents: InputContents::Run(run, None) };
    match tune(&TuneCase { inputs: vec![input], device: Some(gpu), ..TuneCase::default() }, &()) {
        Ok(tuning) => Ok(tuning.recommended_conf().map(str::to_owned)),
        Err(TuneError::NoHistory(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
