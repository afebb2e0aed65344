//! What the chain wants of a request's response.

use crate::compression::WantedCompression;
use crate::header_change::{HeaderChange, StatusChange};
use crate::response_chain::ResponseChain;
use std::sync::Arc;
use tollgate_cache::LineBlock;

/// Pending changes of one response. The memory is reused from request to request.
#[derive(Default)]
pub struct WantedResponse {
    /// Changes to its headers, beyond the version's own.
    pub changes: Vec<HeaderChange>,
    /// The same, but only for responses of upstreams: the gateway's own errors do not get these changes.
    pub upstream_changes: Vec<HeaderChange>,
    /// Changes to the headers of responses with some statuses, also of the gateway's own.
    pub status_changes: Vec<Arc<[StatusChange]>>,
    /// Middlewares that process it.
    pub chain: ResponseChain,
    /// How it is compressed.
    pub compression: Option<WantedCompression>,
    /// Complete header lines about limits.
    pub limit_lines: Vec<u8>,
    /// Lines of a stored response that no change of the version replaces.
    pub last_lines: LineBlock,
}

impl WantedResponse {
    /// Forgets everything, because the request has ended.
    pub fn clear(&mut self) {
        self.changes.clear();
        self.upstream_changes.clear();
        self.status_changes.clear();
        self.chain.clear();
        self.compression = None;
        self.limit_lines.clear();
        self.last_lines = LineBlock::default();
    }

    /// Changes that a response with this status gets.
    pub fn changes_by_status(&self, status: u16) -> impl Iterator<Item = &HeaderChange> {
        self.all_status_changes().filter(move |change| change.is_for(status)).map(|change| &change.change)
    }

    /// Changes by status, whatever that is.
    pub fn all_status_changes(&self) -> impl Iterator<Item = &StatusChange> {
        self.status_changes.iter().flat_map(|list| list.iter())
    }

    /// All changes to the headers of an upstream's response, but those by status.
    pub fn all_changes(&self) -> impl Iterator<Item = &HeaderChange> {
        self.changes.iter().chain(&self.upstream_changes)
    }
}
