//! A request as sinks see it.

use super::facts::ApiMetadata;
use super::record::RequestRecord;
use tollgate_model::analytics::RecordTime;

/// A record with the facts of its API.
pub(crate) struct RecordRef<'a> {
    pub record: &'a RequestRecord,
    pub facts: &'a ApiMetadata,
    /// Address and port of the connection's peer, if records are logged.
    pub peer: &'a str,
    /// When the request ended.
    pub time: RecordTime,
}
