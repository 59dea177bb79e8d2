//! The files of forecasts: what checks keep for real runs (Note [Forecasts] in `crates/run/src/forecast.rs`).

use std::io;

use run::Forecast;

use crate::records;
pub use crate::records::digest;

/// The kind of these records.
const KIND: &str = "forecasts";

/// Keeps the forecast of the command `key`.
pub fn keep(key: &str, forecast: &Forecast) -> io::Result<()> {
    records::keep(KIND, key, forecast)
}

/// Returns the forecast of the command `key` if its files are unchanged.
pub fn find(key: &str) -> Option<Forecast> {
    let forecast: Forecast = records::find(KIND, key)?;
    (forecast.format == Forecast::FORMAT && records::are_unchanged(&forecast.sources)).then_some(forecast)
}
