//! Serializes numbers with all their fields. The bytes of a checkpoint have no names, so no field may be left out.

use crate::certificate::Certificate;
use crate::dual::Drift;
use crate::observe::{CacheStats, Totals};
use crate::problem::Quality;

/// [`Totals`] with every field.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(remote = "Totals")]
pub(super) struct TotalsByPlace {
    passes: u64,
    visits: u64,
    oracle_calls: u64,
    seconds: f64,
    oracle_seconds: f64,
    gap_seconds: f64,
    oracle_failures: u64,
    drift: Drift,
    cache: Option<CacheStats>,
}

/// [`Certificate`] with every field.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(remote = "Certificate")]
pub(crate) struct CertificateByPlace {
    lambda: f64,
    primal: f64,
    dual: f64,
    gap: f64,
    quality: Quality,
    missed: Option<f64>,
}
