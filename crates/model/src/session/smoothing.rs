//! `smoothing` of a session, a policy or an access right: a rate that rises and falls in steps.

use serde::Deserialize;
use serde_json::Value;

use crate::json_path::JsonPath;
use crate::number::whole;
use crate::problem::Findings;

/// `smoothing`. The rate is between `threshold` and the `rate` beside it.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Smoothing {
    /// Whether it applies.
    pub enabled: bool,
    /// The rate that it starts with, and the lowest one.
    #[serde(deserialize_with = "whole")]
    pub threshold: i64,
    /// How near to the present rate the requests come before it rises, in steps.
    pub trigger: f64,
    /// By how much the rate rises or falls.
    #[serde(deserialize_with = "whole")]
    pub step: i64,
    /// Seconds between two changes.
    #[serde(deserialize_with = "whole")]
    pub delay: i64,
}

impl Smoothing {
    /// What a document says; `None` if it does not apply, or is not usable.
    pub fn of(written: &Value) -> Option<Smoothing> {
        Smoothing::read(written).ok().flatten()
    }

    fn read(written: &Value) -> Result<Option<Smoothing>, String> {
        if written.is_null() {
            return Ok(None);
        }
        let read = Smoothing::deserialize(written).map_err(|error| error.to_string())?;
        if !read.enabled {
            return Ok(None);
        }
        let numbers = [
            ("threshold", read.threshold > 0),
            ("trigger", read.trigger > 0.0),
            ("step", read.step > 0),
            ("delay", read.delay > 0),
        ];
        match numbers.into_iter().find(|(_, is_positive)| !is_positive) {
            Some((name, _)) => Err(format!("{name} must be more than 0")),
            None => Ok(Some(read)),
        }
    }

    /// Adds the problems of a `smoothing` at a place to `findings`. As in Tyk, one that is not usable does not apply.
    pub(crate) fn check(written: &Value, at: &JsonPath, findings: &mut Findings) {
        if let Err(error) = Smoothing::read(written) {
            findings.warning(at, format!("does not apply: {error}"));
        }
    }
}
