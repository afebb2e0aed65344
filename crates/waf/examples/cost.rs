//! CPU time and work of the Core Rule Set by paranoia level: usual requests, and bodies that are made to be expensive.
//! `cargo run --release -p tollgate-waf --example cost -- DIRECTORY`, where DIRECTORY is what `scripts/test-deps.sh tests` fetches.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::fs;
use std::path::Path;
use tollgate_waf::{InspectedRequest, Inspection, InspectionBudget, RuleFiles, RuleProfile, Ruleset};

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
    let items = (0..20).map(|n| format!("{{\"id\": {n}, \"name\": \"Item {n}\", \"note\": \"by the door\"}}")).collect::<Vec<_>>();
    let hostile = |name, seed: &str| post(name, form, format!("a={}", seed.repeat(131_000 / seed.len())));
    vec![
        get("GET without a query", "/orders/17"),
        get("GET with five parameters", "/orders?page=2&size=50&sort=-created&state=open&q=blue+lamp"),
        post("POST of a form", form, "name=Ada+Lovelace&mail=ada%40example.com&city=London&note=by+the+door".to_owned()),
        post("POST of 1.2 KB of JSON", "application/json", format!("{{\"items\": [{}]}}", items.join(","))),
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
        post("128 KB of numbers in JSON", "application/json", format!("[{}1]", "1,".repeat(65_000))),
    ]
}

fn main() {
    let directory = std::env::args().nth(1).expect("the directory of the rules");
    let before = cpu_ns();
    let rules = rules(Path::new(&directory));
    println!("{} rules, compiled in {} ms", rules.len(), (cpu_ns() - before) / 1_000_000);
    println!("| request | level | CPU us | work | matches |\n|---|---|---|---|---|");
    for sample in samples() {
        for level in 1..=4 {
            let mut profile = RuleProfile::default();
            profile.pin("blocking_paranoia_level", level);
            profile.pin("detection_paranoia_level", level);
            let length = sample.body.len().to_string();
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
            // The default of the gateway.
            let run = || Inspection::new(&rules, &profile, InspectionBudget::new(256_000_000)).request(&request, b"/orders");
            let before = cpu_ns();
            let Ok(report) = run() else {
                println!("| {} | {level} | {} | too much | - |", sample.name, (cpu_ns() - before) / 1_000);
                continue;
            };
            let runs = if sample.body.len() > 10_000 { 1 } else { 200 };
            let before = cpu_ns();
            for _ in 0..runs {
                let _ = run();
            }
            let us = (cpu_ns() - before) as f64 / 1_000.0 / f64::from(runs);
            println!("| {} | {level} | {us:.0} | {} | {} |", sample.name, report.steps, report.matches.len());
        }
    }
}
