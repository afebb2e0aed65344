//! A real browser, Chromium, behind the shared cache: what it asks again with conditions, and what it gets.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::harness::shared_cache::shared;
use crate::harness::{Gateway, Seen, Upstream, reply, skip};

const PROGRAM: &str = "/usr/bin/chromium";

/// Fetches a document as a browser does when it has it, and says in the page how many bytes came each time.
const PAGE: &str = r#"<!doctype html><title>page</title><body><script>
(async () => {
  const sizes = [];
  for (let turn = 0; turn < 3; turn++) {
    performance.clearResourceTimings();
    const text = await (await fetch('document', {cache: 'no-cache'})).text();
    const [entry] = performance.getEntriesByType('resource').filter(entry => entry.name.endsWith('/document'));
    sizes.push(text.length + ':' + (entry.transferSize < 5000 ? 'confirmed' : 'sent'));
  }
  document.body.textContent = 'sizes ' + sizes.join(' ') + ' end';
})();
</script>"#;

#[test]
fn a_browsers_conditional_requests_are_answered_from_the_cache() {
    if !Path::new(PROGRAM).exists() {
        skip("there is no Chromium");
        return;
    }
    let upstream = Upstream::start(|seen: &Seen| match seen.target.as_str() {
        "/page" => reply("200 OK", &["Content-Type: text/html", "Cache-Control: no-store"], PAGE),
        "/document" => {
            reply("200 OK", &["Content-Type: text/plain", "Cache-Control: max-age=600", "ETag: \"v1\""], &"x".repeat(50_000))
        }
        _ => reply("404 Nothing", &["Cache-Control: max-age=60"], ""),
    });
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({"ignore_request_directives": true}))]);
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(PROGRAM)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"])
        .args(["--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("http://127.0.0.1:{}/a/page", gateway.port))
        .stdin(Stdio::null())
        .output()
        .expect("Chromium runs");
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        page.contains("sizes 50000:sent 50000:confirmed 50000:confirmed end"),
        "{page}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let asked = upstream.seen().iter().filter(|seen| seen.target == "/document").count();
    assert_eq!(asked, 1, "the browser's conditions are answered here");
}
