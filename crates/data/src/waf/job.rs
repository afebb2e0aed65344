//! What the rules look at: a request or a response as its middleware hands it to whichever thread.

use std::net::IpAddr;
use std::sync::Arc;

/// Requests of up to so many bytes are inspected where they are, if a brief budget is enough.
const HERE_BYTES_MAX: usize = 512;

/// A request to inspect.
pub struct InspectionJob {
    pub method: String,
    /// Path and query as the client sent them.
    pub target: String,
    pub protocol: &'static str,
    pub headers: Vec<(String, Vec<u8>)>,
    /// Without content coding.
    pub body: Arc<Vec<u8>>,
    /// So much of the body is inspected.
    pub body_bytes_max: usize,
    pub client: IpAddr,
    pub id: String,
    /// For the paths of exclusions.
    pub path: String,
}

impl InspectionJob {
    pub fn inspected_body(&self) -> &[u8] {
        self.body.get(..self.body_bytes_max).unwrap_or(&self.body)
    }

    /// Whether only the start of the body is inspected.
    pub fn is_start(&self) -> bool {
        self.body.len() > self.body_bytes_max
    }

    /// Whether a data thread may have the time for it.
    pub fn is_small(&self) -> bool {
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        headers + self.target.len() + self.inspected_body().len() <= HERE_BYTES_MAX
    }
}

/// A response to inspect.
pub struct ResponseJob {
    pub status: u16,
    pub protocol: &'static str,
    pub headers: Vec<(String, Vec<u8>)>,
    /// Without content coding; `None` if it is not looked at.
    pub body: Option<Vec<u8>>,
}

impl ResponseJob {
    /// Whether a data thread may have the time for it.
    pub fn is_small(&self) -> bool {
        self.body.as_ref().is_none_or(|body| body.len() <= HERE_BYTES_MAX)
    }
}
