//! Whether a stored response may be used for a request (RFC 9111 §4, §4.2.4, §5.2.1; RFC 5861).

use crate::directives::RequestDirectives;
use crate::head::Head;

/// How a stored response may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reuse {
    /// The response is fresh.
    Fresh,
    /// The response is stale and may be used while the upstream is asked.
    StaleWhileRevalidate,
    /// The response is stale and may be used because the client accepts it.
    Stale,
    /// The upstream must confirm the response first.
    Validate,
}

/// Decides how a stored response may be used for a request with these directives. After a soft purge it counts as stale.
pub(crate) fn judge(head: &Head, directives: &RequestDirectives, is_soft_purged: bool, now_ms: u64) -> Reuse {
    if head.must_validate || directives.no_cache {
        return Reuse::Validate;
    }
    let freshness = head.freshness(now_ms);
    if directives.max_age.is_some_and(|max_age| freshness.age_s > max_age) && directives.max_stale.is_none() {
        return Reuse::Validate;
    }
    let enough = i64::try_from(directives.min_fresh.unwrap_or(0)).unwrap_or(i64::MAX);
    if freshness.ttl_s() < enough && enough > 0 {
        return Reuse::Validate;
    }
    if freshness.is_fresh() && !is_soft_purged {
        return Reuse::Fresh;
    }
    if head.never_stale {
        return Reuse::Validate;
    }
    let stale_s = freshness.stale_s();
    if directives.max_stale.is_some_and(|max_stale| stale_s <= max_stale) && !is_soft_purged {
        return Reuse::Stale;
    }
    if stale_s < head.stale_while_revalidate_s { Reuse::StaleWhileRevalidate } else { Reuse::Validate }
}

/// Whether a stored response may be used because the upstream failed (RFC 5861 §4).
pub(crate) fn may_replace_error(head: &Head, directives: &RequestDirectives, now_ms: u64) -> bool {
    let allowed_s = head.stale_if_error_s.max(directives.stale_if_error.unwrap_or(0));
    let is_forbidden = head.must_validate || head.never_stale || directives.no_cache;
    !is_forbidden && allowed_s > 0 && head.freshness(now_ms).stale_s() <= allowed_s
}

/// Whether a status of the upstream counts as a failure (RFC 5861 §4).
pub(crate) fn is_error(status: u16) -> bool {
    matches!(status, 500 | 502..=504)
}
