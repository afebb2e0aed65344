//! A request as sinks see it.

use super::facts::ApiMetadata;
use super::record::{RequestRecord, Text};
use tollgate_model::analytics::RecordTime;

/// A record with the facts of its API.
pub struct RecordRef<'a> {
    pub record: &'a RequestRecord,
    pub facts: &'a ApiMetadata,
    /// Address and port of the connection's peer, if records are logged.
    pub peer: &'a str,
    /// When the request ended.
    pub time: RecordTime,
}

impl<'a> RecordRef<'a> {
    /// Host of the upstream, or of the API's target if the request got to none.
    pub fn upstream_host(&self) -> &'a [u8] {
        match self.record.bytes(Text::UpstreamHost) {
            b"" => self.facts.target_host.as_bytes(),
            host => host,
        }
    }
}
