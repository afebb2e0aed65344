//! CPU time and work of the Core Rule Set by paranoia level: usual requests and responses, and bodies that are made to be expensive.
//! `cargo run --release -p tollgate-waf --example cost -- DIRECTORY`, where DIRECTORY is what `scripts/test-deps.sh tests` fetches.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::fs;
use std::path::Path;
use tollgate_waf::{
    InspectedRequest, InspectedResponse, Inspection, InspectionBudget, InspectionMemory, RuleFiles, RuleProfile, Ruleset,
    TooMuchWork,
};

/// The default of the gateway.
const WORK_MAX: u64 = 256_000_000;
const LEVELS: [i64; 4] = [1, 2, 3, 4];

/// CPU time of this thread, in nanoseconds.
fn cpu_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

fn rules(directory: &Path) -> Ruleset {
    let mut files = RuleFiles::default();
    files.add("crs-setup.conf", fs::read_to_string(directory.join("rules/@crs-setup.conf.example")).unwrap());
    let mut paths: Vec<_> = fs::read_dir(directory.join("rules/@owasp_crs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        files.add(path.file_name().unwrap().to_str().unwrap(), fs::read_to_string(&path).unwrap());
    }
    Ruleset::compile(&files).unwrap()
}

struct Sample {
    name: &'static str,
    method: &'static [u8],
    target: String,
    content_type: &'static str,
    body: String,
}

fn samples() -> Vec<Sample> {
    let get =
        |name, target: &str| Sample { name, method: b"GET", target: target.to_owned(), content_type: "", body: String::new() };
    let form = "application/x-www-form-urlencoded";
    let post =
        |name, content_type, body: String| Sample { name, method: b"POST", target: "/orders".to_owned(), content_type, body };
    let items = |count: usize| {
        let item = |n| format!("{{\"id\": {n}, \"name\": \"Item {n}\", \"price\": {n}.50, \"note\": \"by the door\"}}");
        format!("{{\"items\": [{}]}}", (0..count).map(item).collect::<Vec<_>>().join(","))
    };
    let json = "application/json";
    let hostile = |name, seed: &str| post(name, form, format!("a={}", seed.repeat(131_000 / seed.len())));
    vec![
        get("GET without a query", "/orders/17"),
        get("GET with five parameters", "/orders?page=2&size=50&sort=-created&state=open&q=blue+lamp"),
        post("POST of a form", form, "name=Ada+Lovelace&mail=ada%40example.com&city=London&note=by+the+door".to_owned()),
        post("POST of 1 KiB of JSON", json, items(16)),
        post("POST of 10 KiB of JSON", json, items(156)),
        get("an attack", "/orders?q=1%27%20OR%20%271%27=%271"),
        hostile("128 KB of a", "a"),
        hostile("128 KB of blanks", "+"),
        hostile("128 KB of quotes", "%27"),
        hostile("128 KB of brackets", "("),
        hostile("128 KB of tags", "%3Ca%20"),
        hostile("128 KB of steps", "..%2F"),
        hostile("128 KB of commands", "$(a;|"),
        hostile("128 KB of keywords", "select+union+"),
        hostile("128 KB of backslashes", "%5Cx"),
        hostile("128 KB of comments", "%2F*"),
        hostile("128 KB of names", "b=1&"),
        post("128 KB of JSON: numbers", json, format!("[{}1]", "1,".repeat(65_000))),
        post("128 KB of JSON: words", json, format!("[{}\"a\"]", "\"a\",".repeat(32_000))),
        post("128 KB of JSON: texts", json, format!("[{}\"a\"]", "\"a b\",".repeat(21_000))),
        post("1 MB of JSON: numbers", json, format!("[{}1]", "12345678,".repeat(115_000))),
    ]
}

/// CPU time of one run in microseconds, and its work; `None` if it takes more than it may.
fn measured(runs: u32, mut run: impl FnMut() -> Result<u64, TooMuchWork>) -> Option<(f64, u64)> {
    let work = run().ok()?;
    let before = cpu_ns();
    for _ in 0..runs {
        let _ = run();
    }
    Some(((cpu_ns() - before) as f64 / 1_000.0 / f64::from(runs), work))
}

fn print_row(name: &str, by_level: &[Option<(f64, u64)>]) {
    let times = by_level.iter().map(|cost| cost.map_or("too much".to_owned(), |(us, _)| format!("{us:.0}")));
    let work = by_level.iter().map(|cost| cost.map_or("too much".to_owned(), |(_, work)| format!("{work}")));
    println!("| {name} | {} | {} |", times.collect::<Vec<_>>().join(" | "), work.collect::<Vec<_>>().join(" | "));
}

fn profile(level: i64) -> RuleProfile {
    let mut profile = RuleProfile::default();
    profile.pin("blocking_paranoia_level", level);
    profile.pin("detection_paranoia_level", level);
    profile
}

fn request_cost(rules: &Ruleset, sample: &Sample, level: i64) -> Option<(f64, u64)> {
    let (profile, length) = (profile(level), sample.body.len().to_string());
    let mut headers = vec![
        (&b"Host"[..], &b"shop.example.com"[..]),
        (b"User-Agent", b"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"),
        (b"Accept", b"application/json"),
        (b"Accept-Language", b"en-US,en;q=0.5"),
        (b"Cookie", b"session=7f3a9c1e5b; theme=dark"),
    ];
    if !sample.body.is_empty() {
        headers.push((b"Content-Type", sample.content_type.as_bytes()));
        headers.push((b"Content-Length", length.as_bytes()));
    }
    let request = InspectedRequest {
        method: sample.method,
        target: sample.target.as_bytes(),
        protocol: "HTTP/1.1",
        headers,
        body: sample.body.as_bytes(),
        client: [192, 0, 2, 1].into(),
        id: "1",
    };
    let runs = if sample.body.len() > 20_000 { 1 } else { 200 };
    let run = || {
        Inspection::new(rules, &profile, InspectionBudget::new(WORK_MAX)).request(&request, b"/orders").map(|report| report.steps)
    };
    measured(runs, run)
}

fn memory(rules: &Ruleset, profile: &RuleProfile) -> InspectionMemory {
    let (headers, client) = (vec![(&b"Host"[..], &b"shop.example.com"[..])], [192, 0, 2, 1].into());
    let request = InspectedRequest { method: b"GET", target: b"/", protocol: "HTTP/1.1", headers, body: b"", client, id: "1" };
    let mut inspection = Inspection::new(rules, profile, InspectionBudget::new(WORK_MAX));
    inspection.request(&request, b"/").unwrap();
    inspection.into_memory().unwrap()
}

fn response_cost(rules: &Ruleset, body: Option<&str>, level: i64) -> Option<(f64, u64)> {
    let profile = profile(level);
    let memory = memory(rules, &profile);
    let headers = vec![(&b"Content-Type"[..], &b"application/json"[..])];
    let response = InspectedResponse { status: 200, protocol: "HTTP/1.1", headers, body: body.map(str::as_bytes) };
    let budget = || InspectionBudget::new(WORK_MAX);
    measured(100, || Inspection::go_on(rules, &profile, budget(), memory.clone()).response(&response).map(|report| report.steps))
}

fn main() {
    let directory = std::env::args().nth(1).expect("the directory of the rules");
    let before = cpu_ns();
    let rules = rules(Path::new(&directory));
    println!("{} rules, compiled in {} ms", rules.len(), (cpu_ns() - before) / 1_000_000);
    println!("| | us, level 1 | 2 | 3 | 4 | work, level 1 | 2 | 3 | 4 |\n|---|---|---|---|---|---|---|---|---|");
    for sample in samples() {
        print_row(sample.name, &LEVELS.map(|level| request_cost(&rules, &sample, level)));
    }
    let text = "lorem ipsum dolor sit amet, ".repeat(4_700);
    for (name, body) in
        [("response, only its head", None), ("response of 10 KiB", text.get(..10_240)), ("response of 128 KB", Some(&*text))]
    {
        print_row(name, &LEVELS.map(|level| response_cost(&rules, body, level)));
    }
}
