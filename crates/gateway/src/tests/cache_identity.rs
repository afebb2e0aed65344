//! What is keyed is what is forwarded: two requests that the upstream cannot tell apart by the parts that are keyed share a response, two that it
//! can tell apart never do. All pairs of ways to write a request, through both caches, in memory and in the Redis that gateways share.

use serde_json::json;

use super::harness::cache_identity::{all_pairs, ask, edited, mirror, tyk_rules};
use super::harness::{Gateway, Seen, Upstream, api, reply, request};

#[test]
fn header_values_in_the_key_are_those_that_leave() {
    let upstream = mirror(&["Cache-Control: max-age=600"]);
    let rules = json!({"cache": {"by_headers": ["X-Tenant", "X-Set", "X-Gone"]}});
    let gateway = Gateway::start(json!({}), [edited(&upstream, "tollgate", rules)]);
    all_pairs(&upstream, &gateway, &gateway, || {});
}

#[test]
fn values_that_a_response_varies_by_are_those_that_leave() {
    let upstream = mirror(&["Cache-Control: max-age=600", "Vary: X-Tenant, X_Tenant, X-Set, X-Gone"]);
    let gateway = Gateway::start(json!({}), [edited(&upstream, "tollgate", json!({"cache": {}}))]);
    all_pairs(&upstream, &gateway, &gateway, || {});
}

#[test]
fn header_values_in_tyks_key_are_those_that_leave() {
    let upstream = mirror(&[]);
    let gateway = Gateway::start(json!({}), [edited(&upstream, "cache_options", tyk_rules())]);
    all_pairs(&upstream, &gateway, &gateway, || {});
}

#[test]
fn conditions_and_directives_that_do_not_leave_do_not_count() {
    let upstream = mirror(&["Cache-Control: max-age=600", "ETag: \"e\""]);
    for (path, cache) in [("tollgate", json!({"cache": {}})), ("cache_options", tyk_rules())] {
        let gateway = Gateway::start(json!({}), [edited(&upstream, path, cache)]);
        ask(&gateway, "/a/x", &[]);
        for line in ["If-None-Match: \"e\"", "Range: bytes=0-0"] {
            let name = line.split(':').next().unwrap();
            let before = upstream.requests();
            let answer = gateway.send(request("GET", "/a/x", &[line, &format!("Connection: {name}")], ""));
            assert_eq!((answer.status, upstream.requests() - before), (200, 0), "{path} {line}: {answer}");
        }
        let authorised = ["Authorization: Basic YTpi", "Connection: Authorization"];
        let before = upstream.requests();
        assert_eq!(ask(&gateway, "/a/x", &authorised).text(), "[(\"x-set\", \"gateway\")]");
        assert_eq!(upstream.requests(), before, "{path}: nobody is authorised");
        // And one without the Connection line is another caller's in the cache by RFC 9111.
        if path == "tollgate" {
            ask(&gateway, "/a/y", &["Authorization: Basic YTpi"]);
            ask(&gateway, "/a/y", &[]);
            assert_eq!(upstream.requests(), before + 2);
        }
    }
}

#[test]
fn a_path_that_a_rewrite_has_made_is_not_one_below_the_listen_path() {
    let upstream = Upstream::start(|seen: &Seen| reply("200 OK", &["Cache-Control: max-age=600"], &seen.target));
    let rewrite = json!([{"path": "/y", "method": "GET", "match_pattern": "/y", "rewrite_to": "tyk://self/a/x"}]);
    let rules = json!({"enable_cache": true, "cache_timeout": 600, "cache_all_safe_requests": true});
    let whole = json!([{"path": "/z", "method": "GET", "match_pattern": "/z", "rewrite_to": format!("{}/a/x", upstream.url())}]);
    for (path, cache) in [("tollgate", json!({"cache": {}})), ("cache_options", rules)] {
        for list in [&rewrite, &whole] {
            let definition = api("a", "/a/", &upstream.url()).set(path, cache.clone()).list("url_rewrites", list.clone());
            let gateway = Gateway::start(json!({}), [definition]);
            let asked: Vec<_> = ["/a/x", "/a/y", "/a/z", "/a/x"].iter().map(|path| ask(&gateway, path, &[]).text()).collect();
            let direct = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).list("url_rewrites", list.clone())]);
            let forwarded: Vec<_> = ["/a/x", "/a/y", "/a/z", "/a/x"].iter().map(|path| ask(&direct, path, &[]).text()).collect();
            assert_eq!(asked, forwarded, "{path} {list}");
        }
    }
}
