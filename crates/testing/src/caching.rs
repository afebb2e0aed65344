//! APIs with a response cache, and an upstream that counts.

use crate::{Definition, Seen, Upstream, api, reply};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Says which of its answers this is, so that no answer is like the one before.
pub fn counting() -> Upstream {
    let count = AtomicUsize::new(0);
    Upstream::start(move |seen: &Seen| {
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        let query = seen.target.split('?').nth(1).unwrap_or_default();
        let body = format!("answer {number} to {}", seen.method);
        match query {
            "status=500" => reply("500 Broken", &[], &body),
            "status=404" => reply("404 Nothing", &[], &body),
            "none" => reply("204 No Content", &["X-Number: 1"], ""),
            "etag" => reply("200 OK", &["ETag: \"e\"", "Date: Sun, 06 Nov 1994 08:49:37 GMT"], &body),
            "cookie" => reply("200 OK", &["Set-Cookie: a=b", "Cache-Control: no-store", "X-Ratelimit-Limit: 7"], &body),
            "large" => reply("200 OK", &[], &format!("{body}{}", "x".repeat(70_000))),
            "chunks" => {
                format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len()).into_bytes()
            }
            "cut" => format!("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n{body}").into_bytes(),
            "cut-chunks" => {
                format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n{:x}\r\n{body}\r\n", body.len())
                    .into_bytes()
            }
            "action" => reply("500 Broken", &["x-tyk-cache-action-set: 1", "x-tyk-cache-action-set-ttl: 60"], &body),
            "never" => reply("200 OK", &["x-tyk-cache-action-set-ttl: 0"], &body),
            "own" => reply("200 OK", &["X-My-TTL: 0"], &body),
            _ => reply("200 OK", &["X-Upstream: 1"], if seen.method == "HEAD" { "" } else { &body }),
        }
    })
}

/// The API `a` with these `cache_options` on top of a minute for all safe requests.
pub fn cached(upstream: &Upstream, options: Value) -> Definition {
    with_options(api("a", "/a/", &upstream.url()), options)
}

pub fn with_options(definition: Definition, options: Value) -> Definition {
    let mut all = json!({"enable_cache": true, "cache_timeout": 60, "cache_all_safe_requests": true});
    crate::definition::merge(&mut all, &options);
    definition.set("cache_options", all)
}
