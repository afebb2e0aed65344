//! Responses that tell clients of the end of an API: which ones do, and with which headers.

use serde_json::{Value, json};

use super::harness::caching::cached;
use super::harness::{Definition, Gateway, Response, Setup, Upstream, api, get, reply, request};

const AT: &str = "@1767225600";
const SUNSET: &str = "Fri, 01 Jan 2027 00:00:00 GMT";
const LINKS: &str = r#"<https://docs.test/a>; rel="deprecation", <https://docs.test/a>; rel="sunset""#;

fn rules() -> Value {
    json!({"at": "2026-01-01T00:00:00Z", "sunset": "2027-01-01T01:00:00+01:00", "link": "https://docs.test/a"})
}

fn deprecated(definition: Definition) -> Definition {
    definition.set("tollgate/deprecation", rules())
}

/// All lines about the deprecation.
fn told(response: &Response) -> [Vec<&str>; 3] {
    ["deprecation", "sunset", "link"].map(|name| response.head.all(name))
}

fn whole() -> [Vec<&'static str>; 3] {
    [vec![AT], vec![SUNSET], vec![LINKS]]
}

#[test]
fn dates_replace_those_of_the_upstream_and_links_stand_beside_its_own() {
    let upstream = Upstream::start(|_| reply("200 OK", &["Deprecation: @1", "Sunset: never", "Link: </next>; rel=\"next\""], "ok"));
    let gateway = Gateway::start(json!({}), [deprecated(api("a", "/a/", &upstream.url()))]);
    let response = gateway.get("/a/x");
    assert_eq!(told(&response), [vec![AT], vec![SUNSET], vec!["</next>; rel=\"next\"", LINKS]], "{response}");
}

#[test]
fn only_what_is_known_is_told() {
    let upstream = Upstream::ok();
    let start = |rules: Value| Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).set("tollgate/deprecation", rules)]);
    let link = "https://docs.test/a";
    for (rules, expect) in [
        (json!({"at": "2026-01-01"}), [vec![AT], vec![], vec![]]),
        (json!({"sunset": "2027-01-01", "link": link}), [vec![], vec![SUNSET], vec!["<https://docs.test/a>; rel=\"sunset\""]]),
    ] {
        assert_eq!(told(&start(rules.clone()).get("/a/x")), expect, "{rules}");
    }
}

#[test]
fn refusals_tell_it_and_preflights_do_not() {
    let upstream = Upstream::ok();
    let definition = deprecated(api("a", "/a/", &upstream.url())).with_keys().set("CORS/enable", true);
    let gateway = Gateway::start(json!({}), [definition]);
    let refusal = gateway.get("/a/x");
    assert_eq!((refusal.status, told(&refusal)), (401, whole()));
    let lines = ["Origin: http://app.test", "Access-Control-Request-Method: GET"];
    let preflight = gateway.send(request("OPTIONS", "/a/x", &lines, ""));
    assert_eq!((preflight.status, told(&preflight)), (204, Default::default()));
}

#[test]
fn named_versions_tell_it_and_others_do_not() {
    let upstream = Upstream::ok();
    let versions = json!({"not_versioned": false, "versions": {"v1": {"name": "v1"}, "v2": {"name": "v2"}}});
    let definition = deprecated(api("a", "/a/", &upstream.url()))
        .set("tollgate/deprecation/versions", json!(["v1"]))
        .set("definition", json!({"location": "header", "key": "x-version"}))
        .set("version_data", versions);
    let gateway = Gateway::start(json!({}), [definition]);
    for (version, expect) in [("v1", whole()), ("v2", Default::default())] {
        let response = gateway.send(request("GET", "/a/x", &[&format!("X-Version: {version}")], ""));
        assert_eq!((response.status, told(&response)), (200, expect), "{version}");
    }
}

#[test]
fn a_looped_request_tells_once_what_concerns_the_api_that_its_client_called() {
    let upstream = Upstream::ok();
    let round = json!([{"path": "/round", "method": "GET", "match_pattern": "/round", "rewrite_to": "tyk://self/x"}]);
    let gateway = Gateway::start(
        json!({}),
        [
            deprecated(api("old", "/old/", "tyk://new/")),
            api("new", "/new/", &upstream.url()),
            api("front", "/front/", "tyk://back/"),
            deprecated(api("back", "/back/", &upstream.url())).list("url_rewrites", round),
        ],
    );
    for (target, expect) in [("/old/x", whole()), ("/front/x", Default::default()), ("/back/x", whole()), ("/back/round", whole())]
    {
        let response = gateway.get(target);
        assert_eq!((response.status, told(&response)), (200, expect), "{target}");
    }
}

#[test]
fn stored_responses_tell_it_once() {
    let upstream = Upstream::start(|_| reply("200 OK", &["Cache-Control: max-age=60"], "ok"));
    let shared = deprecated(api("b", "/b/", &upstream.url())).set("tollgate/cache", json!({}));
    let gateway = Gateway::start(json!({}), [deprecated(cached(&upstream, json!({}))), shared]);
    for target in ["/a/x", "/b/x"] {
        let [first, second] = [gateway.get(target), gateway.get(target)];
        assert_eq!((told(&first), told(&second)), (whole(), whole()), "{target}");
    }
    assert_eq!(upstream.requests(), 2);
}

#[test]
fn documents_have_it_in_their_own_extension() {
    let upstream = Upstream::ok();
    let document = |rules: Value| {
        json!({
            "openapi": "3.0.3", "info": {"title": "Things", "version": "1"}, "paths": {},
            "x-tyk-api-gateway": {
                "info": {"id": "things", "name": "Things", "state": {"active": true}},
                "upstream": {"url": upstream.url()},
                "server": {"listenPath": {"value": "/things/", "strip": true}}
            },
            "x-tollgate": {"deprecation": rules}
        })
    };
    let start = |rules| Setup::new(json!({})).file("things-oas.json", document(rules).to_string()).start();
    assert_eq!(told(&start(rules()).send(get("/things/x"))), whole());
    let gateway = start(json!({"at": "soon"}));
    assert_eq!(gateway.get("/things/x").status, 404);
    assert!(gateway.log().contains("$.x-tollgate.deprecation.at"), "{}", gateway.log());
}
