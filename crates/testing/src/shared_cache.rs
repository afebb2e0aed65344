//! APIs with the cache by RFC 9111, and an upstream whose answers say how long they are good.

use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Definition, Seen, Upstream, api, reply};

/// Status and header lines.
pub type Answered = (&'static str, &'static [&'static str]);

/// Answers with what the path's number stands for, and with 304 to who has it. No two bodies are alike.
pub fn scripted(answers: Vec<Answered>) -> Upstream {
    let count = AtomicUsize::new(0);
    Upstream::start(move |seen: &Seen| {
        let path = seen.target.split('?').next().unwrap_or_default();
        let number: usize = path.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        let (status, lines) = answers[number];
        let has_it =
            |condition: &str, line: &str| match (seen.header(condition), lines.iter().find(|known| known.starts_with(line))) {
                (Some(asked), Some(known)) => known.ends_with(asked),
                _ => false,
            };
        if has_it("if-none-match", "ETag: ") || has_it("if-modified-since", "Last-Modified: ") {
            let lines: Vec<&str> = lines.iter().copied().filter(|line| !line.starts_with("Age")).collect();
            return format!("HTTP/1.1 304 Not Modified\r\n{}\r\n\r\n", lines.join("\r\n")).into_bytes();
        }
        let count = count.fetch_add(1, Ordering::SeqCst) + 1;
        reply(status, lines, if seen.method == "HEAD" { String::new() } else { format!("answer {count}") }.as_str())
    })
}

/// The API `a` with `tollgate.cache`.
pub fn shared(upstream: &Upstream, rules: Value) -> Definition {
    with_cache(api("a", "/a/", &upstream.url()), rules)
}

pub fn with_cache(definition: Definition, rules: Value) -> Definition {
    definition.set("tollgate", json!({"cache": rules}))
}
