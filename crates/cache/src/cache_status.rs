//! The `Cache-Status` field (RFC 9211): what the cache did with a request, readable for people and tools.

use crate::head::NotStored;
use crate::syntax::push_number;

/// Why a request went to the upstream (RFC 9211 §2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the RFC defines these names
pub enum ForwardReason {
    Bypass,
    Method,
    UriMiss,
    VaryMiss,
    Miss,
    Request,
    Stale,
    Partial,
}

impl ForwardReason {
    fn as_str(self) -> &'static str {
        match self {
            ForwardReason::Bypass => "bypass",
            ForwardReason::Method => "method",
            ForwardReason::UriMiss => "uri-miss",
            ForwardReason::VaryMiss => "vary-miss",
            ForwardReason::Miss => "miss",
            ForwardReason::Request => "request",
            ForwardReason::Stale => "stale",
            ForwardReason::Partial => "partial",
        }
    }
}

/// The cache's action for one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatus {
    /// Why the request went to the upstream; `None` for a hit.
    pub forward: Option<ForwardReason>,
    /// Status of the upstream's answer, if the client gets another one.
    pub forward_status: Option<u16>,
    /// Remaining freshness in seconds; negative when the response is stale.
    pub ttl_s: Option<i64>,
    /// Whether the response was stored.
    pub is_stored: bool,
    /// Whether the request was answered by another request that was in flight.
    pub is_collapsed: bool,
    /// Why the response was not stored.
    pub not_stored: Option<NotStored>,
}

impl CacheStatus {
    /// Appends the complete line. The upstream's own lines stay before it: the cache nearest to the client comes last.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"Cache-Status: Tollgate");
        match self.forward {
            None => out.extend_from_slice(b"; hit"),
            Some(forward) => {
                out.extend_from_slice(b"; fwd=");
                out.extend_from_slice(forward.as_str().as_bytes());
            }
        }
        if let Some(status) = self.forward_status {
            out.extend_from_slice(b"; fwd-status=");
            push_number(u64::from(status), out);
        }
        if let Some(ttl_s) = self.ttl_s {
            out.extend_from_slice(if ttl_s < 0 { b"; ttl=-" } else { b"; ttl=" });
            push_number(ttl_s.unsigned_abs(), out);
        }
        if self.is_stored {
            out.extend_from_slice(b"; stored");
        }
        if self.is_collapsed {
            out.extend_from_slice(b"; collapsed");
        }
        if let Some(reason) = self.not_stored {
            out.extend_from_slice(b"; detail=");
            out.extend_from_slice(reason.as_str().as_bytes());
        }
        out.extend_from_slice(b"\r\n");
    }
}
