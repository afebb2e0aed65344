//! An upstream that fails as it is asked to, and an API with rules for that.

use crate::{Definition, Upstream, api, reply};
use serde_json::Value;

pub fn overriding(upstream: &Upstream, overrides: Value) -> Definition {
    api("a", "/a/", &upstream.url()).set("error_overrides", overrides)
}

/// An upstream that answers with the status in its path.
pub fn failing() -> Upstream {
    Upstream::start(|seen| {
        let status = seen.target.trim_start_matches('/').split('?').next().unwrap_or_default().to_owned();
        let lines = ["Content-Type: text/plain", "ETag: \"own\"", "X-Own: 1"];
        match status.as_str() {
            "json" => reply("500 No", &["Content-Type: application/json"], r#"{"error": {"code": "E17"}, "trace": "secret"}"#),
            "large" => {
                reply("500 No", &[], &format!("{{\"error\": {{\"code\": \"E17\"}}, \"more\": \"{}\"}}", "x".repeat(100_000)))
            }
            "late" => reply("500 No", &[], &format!("{{\"more\": \"{}\", \"error\": {{\"code\": \"E17\"}}}}", "x".repeat(5_000))),
            "" => reply("200 OK", &[], "fine"),
            status => reply(&format!("{status} Own"), &lines, "the upstream's own words"),
        }
    })
}
