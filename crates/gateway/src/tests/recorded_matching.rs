//! Which patterns match which paths, and what triggers and rewrites do: the answers of Tyk 5.14.0, recorded with `disable_regexp_cache`.
//! Only the rows that a comment names differ here.

use serde_json::{Value, json};

use super::harness::{Client, Definition, Gateway, Upstream, api, reply};

const MODES: [&[&str]; 4] = [
    &[],
    &["enable_path_prefix_matching"],
    &["enable_path_suffix_matching"],
    &["enable_path_prefix_matching", "enable_path_suffix_matching"],
];

/// Which of the digits of a recorded cell says whether a kind of list matches.
const KINDS: [(&str, usize); 7] = [
    ("black_list", 0),
    ("url_rewrites", 1),
    ("right", 2),
    ("white_list", 0),
    ("ignored", 0),
    ("mock_response", 0),
    ("transform_headers", 1),
];

/// A pattern with the targets that were tried, and what Tyk found for each.
struct Recorded {
    listen_path: String,
    pattern: String,
    /// `None` where Tyk redirects to the path without `//` and dots, or finds no API.
    cells: Vec<(String, Option<[u8; 3]>)>,
}

fn recorded() -> Vec<Recorded> {
    let (mut listen_path, mut targets, mut all) = (String::new(), Vec::new(), Vec::new());
    for line in include_str!("recorded/patterns.txt").lines().filter(|line| !line.starts_with('#')) {
        if let Some(path) = line.strip_prefix("listen ") {
            listen_path = path.to_owned();
        } else if let Some(list) = line.strip_prefix("paths ") {
            targets = list.split(' ').map(str::to_owned).collect();
        } else {
            let (pattern, cells) = line.rsplit_once("\" ").expect("a pattern and its cells");
            let digits = |cell: &str| {
                let mut digits = cell.chars().map(|c| c.to_digit(16).map(|digit| digit as u8));
                Some([digits.next()??, digits.next()??, digits.next()??])
            };
            let cells: Vec<_> = targets.iter().cloned().zip(cells.split(' ').map(digits)).collect();
            assert_eq!(cells.len(), targets.len());
            all.push(Recorded {
                listen_path: listen_path.clone(),
                pattern: serde_json::from_str(&format!("{pattern}\"")).unwrap(),
                cells,
            });
        }
    }
    all
}

/// The API with a pattern in one list.
fn listing(kind: &str, number: usize, row: &Recorded, upstream: &Upstream) -> Definition {
    let pattern = &row.pattern;
    let name = format!("{}-{number}", kind.replace('_', "-"));
    let definition = api(&name, &row.listen_path, &upstream.url()).set("domain", format!("{name}.test"));
    match kind {
        "right" => definition.with_keys(),
        "url_rewrites" => {
            definition.list(kind, json!([{"path": pattern, "method": "GET", "match_pattern": ".*", "rewrite_to": "/rewritten"}]))
        }
        "mock_response" => definition.list(kind, json!([{"path": pattern, "method": "GET", "code": 218, "body": "mock"}])),
        "transform_headers" => definition.list(kind, json!([{"path": pattern, "method": "GET", "add_headers": {"X-Hit": "yes"}}])),
        "ignored" => definition.with_keys().list(kind, json!([{"path": pattern}])),
        _ => definition.list(kind, json!([{"path": pattern}])),
    }
}

/// Whether the pattern of a list matched, as the answer shows; `None` if the list did not decide.
fn matched(kind: &str, status: u16, body: &str) -> Option<bool> {
    match (kind, status) {
        ("black_list", 403) | ("white_list" | "right", 200) | ("ignored", 200) | ("mock_response", 218) => Some(true),
        ("black_list" | "mock_response", 200) | ("white_list" | "right", 403) | ("ignored", 401) => Some(false),
        ("url_rewrites", 200) => Some(body.starts_with("/rewritten\n")),
        ("transform_headers", 200) => Some(body.ends_with("\nyes")),
        _ => None,
    }
}

/// An upstream that answers with the target and the header that it has seen.
fn echo() -> Upstream {
    Upstream::start(|seen| reply("200 OK", &[], &format!("{}\n{}", seen.target, seen.header("x-hit").unwrap_or_default())))
}

/// Asks on one connection as long as it stays open.
struct Asker<'g> {
    gateway: &'g Gateway,
    open: Option<Client<'g>>,
}

impl Asker<'_> {
    fn ask(&mut self, request: &str) -> (u16, String) {
        let gateway = self.gateway;
        let mut connection = self.open.take().unwrap_or_else(|| gateway.connect());
        let response = connection.ask(request);
        let answer = (response.status, response.text());
        if !response.announces_close() {
            self.open = Some(connection);
        }
        answer
    }
}

fn check_mode(mode: usize) {
    let upstream = echo();
    let rows = recorded();
    let numbered = || rows.iter().enumerate();
    let apis = KINDS.iter().flat_map(|(kind, _)| numbered().map(|(number, row)| listing(kind, number, row, &upstream)));
    let options: serde_json::Map<String, Value> = MODES[mode].iter().map(|name| ((*name).to_owned(), true.into())).collect();
    let gateway = Gateway::start(json!({"enable_custom_domains": true, "hash_keys": false, "http_server_options": options}), apis);
    for (number, row) in numbered() {
        let rights = json!({format!("right-{number}"): {
            "api_id": format!("right-{number}"), "versions": ["Default"], "allowed_urls": [{"url": row.pattern, "methods": ["GET"]}]
        }});
        let session = json!({"org_id": "default", "rate": 1e6, "per": 1, "quota_max": -1, "access_rights": rights});
        assert_eq!(gateway.control("POST", &format!("/tyk/keys/key{number}"), &session.to_string()).status, 200);
    }
    let mut asker = Asker { gateway: &gateway, open: None };
    let (mut others, mut pairs) = (Vec::new(), 0);
    for (kind, digit) in KINDS {
        for (number, row) in numbered() {
            for (target, cell) in &row.cells {
                let name = format!("{}-{number}", kind.replace('_', "-"));
                let target = target.replace("\\x20", " ");
                let key = if kind == "right" { format!("Authorization: key{number}\r\n") } else { String::new() };
                let (status, body) = asker.ask(&format!("GET {target} HTTP/1.1\r\nHost: {name}.test\r\n{key}\r\n"));
                let expect = cell.map(|cell| cell[digit] & 1 << mode != 0);
                let found = matched(kind, status, &body);
                pairs += 1;
                if expect.is_some() && found != expect && !differs(kind, mode, row, &target, status) {
                    others.push(format!("{kind} {:?} {target}: Tyk {expect:?}, here {status} {body:?}", row.pattern));
                }
            }
        }
    }
    assert!(pairs > 7_000, "{pairs}");
    assert!(others.is_empty(), "{} of {pairs} differ:\n{}", others.len(), others.join("\n"));
}

/// Whether a row differs from Tyk, as it should.
fn differs(kind: &str, mode: usize, row: &Recorded, target: &str, status: u16) -> bool {
    // A request target has no `#`: RFC 9112, section 3.2.
    let is_refused = target.contains('#') && status == 400;
    // Tyk strips the listen path twice before it matches anything but access lists.
    let stands_twice = matches!(target, "/n/n/users" | "/n/nusers" | "/t/a/t/b/users");
    // With both options, Tyk also allows a path that reads like the pattern. Here a pattern is a pattern.
    let reads_like_it = kind == "right" && mode == 3 && row.pattern == "/a+b" && target == "/api/a+b" && status == 403;
    is_refused || stands_twice && matches!(kind, "url_rewrites" | "transform_headers") && status == 200 || reads_like_it
}

#[test]
fn patterns_match_as_in_tyk() {
    check_mode(0);
}

#[test]
fn patterns_match_as_in_tyk_with_prefix_matching() {
    check_mode(1);
}

#[test]
fn patterns_match_as_in_tyk_with_suffix_matching() {
    check_mode(2);
}

#[test]
fn patterns_match_as_in_tyk_with_strict_matching() {
    check_mode(3);
}

/// Rewrites with the URLs that the upstream sees. Where `here` stands beside `tyk`, the answers differ, for one of these reasons:
/// - What a client has encoded stays encoded. Tyk decodes the whole URL if the pattern matches only then, so that `%3F` and `%23` end the path.
/// - What a query must not contain is escaped, and so is a `%` that starts no escape; Tyk sends the former raw and drops the rewrite for the
///   latter. Characters that a path may contain stay.
/// - With `on: all`, each condition of a kind must hold; Tyk counts matches, so that a header sent twice stands for two headers.
/// - A value within a URL is escaped even if it starts with `http`.
#[test]
fn rewrites_and_triggers_lead_where_they_lead_in_tyk() {
    let rows: Vec<Value> =
        include_str!("recorded/rewrites.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let upstream = echo();
    let apis = rows.iter().enumerate().map(|(number, row)| {
        let mut entry = row["entry"].clone();
        if row["post"] == true {
            entry["method"] = "POST".into();
        }
        let definition = api(&format!("r{number}"), "/api/", &upstream.url()).set("domain", format!("r{number}.test"));
        let definition = definition.set("enable_context_vars", true).list("url_rewrites", json!([entry]));
        if row["keyed"] == true { definition.with_keys() } else { definition }
    });
    let gateway = Gateway::start(json!({"enable_custom_domains": true, "hash_keys": false}), apis);
    let keys = [
        ("blue", json!("blue")),
        ("red", json!("red")),
        ("none", Value::Null),
        ("number", json!(7)),
        ("blueish", json!("blueish")),
    ];
    for (key, team) in keys {
        let meta = if team.is_null() { json!({}) } else { json!({"team": team}) };
        let right = |number: usize| (format!("r{number}"), json!({"api_id": format!("r{number}"), "versions": ["Default"]}));
        let keyed = rows.iter().enumerate().filter(|(_, row)| row["keyed"] == true);
        let rights: serde_json::Map<String, Value> = keyed.map(|(number, _)| right(number)).collect();
        let session =
            json!({"org_id": "default", "rate": 1e6, "per": 1, "quota_max": -1, "meta_data": meta, "access_rights": rights});
        assert_eq!(gateway.control("POST", &format!("/tyk/keys/{key}"), &session.to_string()).status, 200, "{key}");
    }
    let mut asker = Asker { gateway: &gateway, open: None };
    let (mut others, mut asked) = (Vec::new(), 0);
    for (number, row) in rows.iter().enumerate() {
        for ask in row["asks"].as_array().unwrap() {
            let method = if row["post"] == true { "POST" } else { "GET" };
            let mut request = format!("{method} {} HTTP/1.1\r\nHost: r{number}.test\r\n", ask["target"].as_str().unwrap());
            for line in ask["headers"].as_array().into_iter().flatten() {
                request.push_str(&format!("{}\r\n", line.as_str().unwrap()));
            }
            if let Some(key) = ask["key"].as_str() {
                request.push_str(&format!("Authorization: {key}\r\n"));
            }
            let body = ask["body"].as_str().unwrap_or_default();
            let (status, text) = asker.ask(&format!("{request}Content-Length: {}\r\n\r\n{body}", body.len()));
            let found = if status == 200 { json!(text.lines().next()) } else { json!(status) };
            let expect = ask.get("here").unwrap_or(&ask["tyk"]);
            asked += 1;
            if found != *expect {
                others.push(format!("{} {ask}: here {found}", row["entry"]));
            }
        }
    }
    assert!(asked > 380, "{asked}");
    assert!(others.is_empty(), "{} of {asked} differ:\n{}", others.len(), others.join("\n"));
}
