//! An analytics record on its way from a plugin to the sinks.

use tollgate_model::analytics::AnalyticsRecord;

/// A record as a plugin has made it.
pub struct ChangedRecord {
    pub record: AnalyticsRecord<'static>,
    pub total_ns: u64,
    pub upstream_ns: u64,
    pub request_bytes: u64,
    pub response_bytes: u64,
    pub failure_status: Option<u16>,
}
