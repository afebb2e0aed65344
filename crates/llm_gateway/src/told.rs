//! What the data path tells of a request beside its caller, in JSON.

use http::HeaderMap;
use tollgate_model::session::LlmBudget;
use tollgate_outbound::CallerLine;

/// The number of the call, and the budgets that it meets: whose each is, the name of its counter, and itself.
pub(crate) type Told = (Option<u64>, Vec<(String, String, LlmBudget)>);

pub(crate) fn told_of(headers: &HeaderMap) -> Told {
    serde_json::from_str(CallerLine::read(headers).rest.unwrap_or_default()).unwrap_or_default()
}

/// The number of the call, by which its record is found.
pub(crate) fn call_of(headers: &HeaderMap) -> Option<u64> {
    told_of(headers).0
}
