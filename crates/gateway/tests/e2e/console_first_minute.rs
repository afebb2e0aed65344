//! The first minute with the console: `make run` names its address, and the page shows the request that somebody sends with curl. Also how soon the
//! page can be used, and that watching does not fill the browser's memory.

use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::console_pages::{expect_no_complaints, open_signed_in, page};
use crate::harness::browser::{Browser, Tab};
use crate::harness::gateway::SECRET;
use crate::harness::{Setup, Upstream, reply};

/// Samples of an hour at one in two seconds.
const HOUR: u64 = 1_800;

/// The gateway that `make run` starts, with an upstream in place of the one on port 9090.
fn quickstart(upstream: &Upstream) -> crate::harness::Gateway {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quickstart");
    let mut conf: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("tyk.conf")).expect("the example")).expect("JSON");
    // A folder and a port of this test.
    for name in ["app_path", "listen_port"] {
        conf.as_object_mut().expect("an object").remove(name);
    }
    let mut setup = Setup::new(conf);
    for entry in std::fs::read_dir(folder.join("apps")).expect("the definitions") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a definition").replace(":9090", &format!(":{}", upstream.port()));
        setup = setup.file(path.file_name().and_then(|name| name.to_str()).expect("a name"), text);
    }
    setup.start()
}

#[test]
fn the_page_shows_the_request_of_a_curl_line() {
    let script = include_str!("../../../../scripts/quickstart.sh");
    assert!(script.contains("http://127.0.0.1:$PORT/tyk/console/"), "make run prints the console's address");
    let line = script.lines().find(|line| line.trim().starts_with("curl -i http://127.0.0.1:$PORT/demo/")).expect("a line to try");
    let Some(mut browser) = Browser::start() else { return };
    let upstream = Upstream::start(|_| reply("200 OK", &["Content-Type: application/json"], "{}"));
    let gateway = quickstart(&upstream);
    let mut tab = open_signed_in(&mut browser, &gateway, "");
    tab.see("No request came within the past hour.");
    tab.see("curl -i");
    tab.screenshot("first-minute-before");
    let typed = line.trim().replace("$PORT", &gateway.port.to_string());
    let done = Command::new("sh").args(["-c", &typed]).output().expect("curl");
    assert!(String::from_utf8_lossy(&done.stdout).contains("200 OK"), "{done:?}");
    // The API's row, and a rate above nothing.
    tab.wait("[...document.querySelectorAll('tbody th a')].some((one) => one.getAttribute('href').startsWith('#/apis/'))");
    tab.wait("!/^[0-]/.test(document.querySelector('.figure strong')?.innerText) || document.querySelector('.figure strong')?.innerText.startsWith('0.')");
    tab.screenshot("first-minute-after");
    expect_no_complaints(&tab);
}

/// How soon the page can be used: milliseconds are printed, the order is checked. What a first visit transfers is checked where the files are.
#[test]
fn the_first_visit_needs_few_files_and_is_usable_before_the_rest_comes() {
    let Some(mut browser) = Browser::start() else { return };
    let upstream = Upstream::ok();
    let gateway = quickstart(&upstream);
    let mut tab = browser.tab();
    let begun = Instant::now();
    tab.command("Page.navigate", json!({"url": page(&gateway, "")}));
    tab.wait("document.querySelector('.sign-in .primary')");
    let usable_ms = begun.elapsed().as_millis();
    let entries = tab.eval(
        "performance.getEntriesByType('resource').map((one) => [new URL(one.name).pathname.split('/').pop(), one.transferSize, Math.round(one.responseEnd)])",
    );
    let names: Vec<&str> = entries.as_array().expect("a list").iter().filter_map(|one| one[0].as_str()).collect();
    assert!(names.contains(&"console.js") && names.contains(&"chunk.js") && !names.contains(&"editor.js"), "{entries}");
    tab.fill("Control secret", SECRET);
    let begun = Instant::now();
    tab.click("button", "Sign in");
    tab.wait("document.querySelector('.verdict')");
    println!("sign-in usable after {usable_ms} ms, the overview {} ms after the click", begun.elapsed().as_millis());
    println!("{entries}");
    tab.wait("performance.getEntriesByType('resource').some((one) => one.name.endsWith('/later.js'))");
    expect_no_complaints(&tab);
}

/// The bytes of living objects of the page.
fn heap_bytes(tab: &mut Tab) -> u64 {
    tab.command("HeapProfiler.collectGarbage", json!({}));
    tab.command("Runtime.getHeapUsage", json!({}))["usedSize"].as_f64().expect("bytes") as u64
}

/// Feeds the page samples as the stream does, two seconds apart by their own clock, as fast as it draws them.
fn feed(tab: &mut Tab, samples: u64) {
    let fed = tab.eval(&format!(
        "(async () => {{ for (let turn = 0; turn < {samples}; turn += 1) {{ const next = window.fed; next.unix_ms += 2000; next.totals.requests = turn % 97; \
         for (const api of next.apis) api.requests = turn % 89; \
         window.stream.listeners.live({{data: JSON.stringify(next)}}); if (turn % 10 === 0) await new Promise((done) => setTimeout(done, 0)); }} return window.stream.url; }})()"
    ));
    assert!(fed.as_str().is_some_and(|url| url.contains("stream")), "{fed}");
}

#[test]
fn hours_of_samples_do_not_fill_the_browsers_memory() {
    let Some(mut browser) = Browser::start() else { return };
    let upstream = Upstream::ok();
    let gateway = quickstart(&upstream);
    gateway.get("/demo/json/valid");
    let mut tab = browser.tab();
    // The page's stream is this one, which says what the test feeds.
    let stream = "window.EventSource = class { constructor(url) { this.url = url; this.listeners = {}; window.stream = this; } \
                  addEventListener(name, listener) { this.listeners[name] = listener; } close() {} };";
    tab.command("Page.addScriptToEvaluateOnNewDocument", json!({"source": stream}));
    tab.open_page(&page(&gateway, ""));
    tab.fill("Control secret", SECRET);
    tab.click("button", "Sign in");
    tab.wait("window.stream?.listeners.live");
    let kept = tab.eval(
        "fetch('api/stream?topics=live&events=1').then((answer) => answer.text()).then((text) => { window.fed = JSON.parse(text.split('data: ')[1].split('\\n')[0]); return window.fed.node; })",
    );
    assert!(kept.is_string(), "{kept}");
    tab.eval("window.fed.apis = Array.from({length: 50}, (_, at) => ({...window.fed.totals, api_id: `api-${at}`, name: `API ${at}`})), null");
    let hours: u64 = std::env::var("CONSOLE_HOURS").ok().and_then(|hours| hours.parse().ok()).unwrap_or(3);
    // The plots fill in the first hour.
    feed(&mut tab, HOUR + 200);
    let first = heap_bytes(&mut tab);
    for _ in 1..hours {
        feed(&mut tab, HOUR);
    }
    let last = heap_bytes(&mut tab);
    println!("heap after an hour of samples: {first} bytes, after {hours} hours: {last} bytes");
    assert!(last < first + first / 10 + 500_000, "{first} bytes became {last}");
    assert!(last < 60_000_000, "{last} bytes");
    expect_no_complaints(&tab);
}
