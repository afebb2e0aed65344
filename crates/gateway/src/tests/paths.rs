//! The lists of extended paths: how a pattern matches, which list wins, and what each does.

use serde_json::{Value, json};

use super::harness::{Definition, Gateway, Upstream, api, error_json, get, ok, reply, request};

const FORBIDDEN: &str = "Requested endpoint is forbidden";

/// The configuration that ends and begins every pattern at the path's ends.
fn anchored() -> Value {
    json!({"http_server_options": {"enable_path_prefix_matching": true, "enable_path_suffix_matching": true}})
}

fn statuses(gateway: &Gateway, rows: &[(&str, u16)]) {
    for (line, status) in rows {
        let (method, target) = line.split_once(' ').unwrap();
        let response = gateway.send(request(method, target, &[], ""));
        assert_eq!(response.status, *status, "{line}: {response}");
        if *status == 403 {
            assert_eq!(response.text(), error_json(FORBIDDEN), "{line}");
        }
    }
}

fn a(upstream: &Upstream) -> Definition {
    api("a", "/a/", &upstream.url())
}

#[test]
fn a_black_list_refuses_what_its_pattern_is_found_in() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [a(&upstream).list("black_list", json!([{"path": "/blk"}]))]);
    statuses(
        &gateway,
        &[
            ("GET /a/blk", 403),
            ("GET /a/blkmore", 403),
            ("POST /a/x/blkpost", 403),
            ("GET /a/bl", 200),
            ("GET /a/", 200),
            ("GET /a/BLK", 200),
        ],
    );
}

#[test]
fn anchored_patterns_match_whole_paths() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        anchored(),
        [a(&upstream).list("black_list", json!([{"path": "/blk"}, {"path": "/deep/{id}"}, {"path": "/any/*"}]))],
    );
    statuses(
        &gateway,
        &[
            ("GET /a/blk", 403),
            ("GET /a/blkmore", 200),
            ("GET /a/x/blk", 200),
            ("GET /a/blk/x", 200),
            ("GET /a/deep/1", 403),
            ("GET /a/deep/1/2", 200),
            ("GET /a/any/x/y", 403),
        ],
    );
}

#[test]
fn a_white_list_refuses_everything_else() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        json!({}),
        [a(&upstream).list("white_list", json!([{"path": "/ok/{id}"}, {"path": "/get", "method": "GET"}]))],
    );
    statuses(
        &gateway,
        &[
            ("GET /a/ok/1", 200),
            ("GET /a/ok/1/2", 200),
            ("GET /a/z/ok/1", 200),
            ("GET /a/ok", 403),
            ("GET /a/", 403),
            ("GET /a/get", 200),
            ("POST /a/get", 403),
        ],
    );
    let gateway = Gateway::start(anchored(), [a(&upstream).list("white_list", json!([{"path": "/ok/{id}"}]))]);
    statuses(&gateway, &[("GET /a/ok/1", 200), ("GET /a/ok/1/2", 403), ("GET /a/z/ok/1", 403)]);
}

#[test]
fn an_entry_may_be_for_one_method_or_off_or_blind_to_case() {
    let upstream = Upstream::ok();
    let list = json!([
        {"path": "/post", "method": "POST"},
        {"path": "/off", "disabled": true},
        {"path": "/case", "ignore_case": true}
    ]);
    let gateway = Gateway::start(json!({}), [a(&upstream).list("black_list", list)]);
    statuses(
        &gateway,
        &[("POST /a/post", 403), ("GET /a/post", 200), ("GET /a/off", 200), ("GET /a/CaSe", 403), ("GET /a/case", 403)],
    );
}

#[test]
fn case_is_ignored_for_a_version_or_for_all() {
    let upstream = Upstream::ok();
    let listed = || a(&upstream).list("black_list", json!([{"path": "/blk"}]));
    for (conf, definition) in
        [(json!({"ignore_endpoint_case": true}), listed()), (json!({}), listed().version("ignore_endpoint_case", true))]
    {
        let gateway = Gateway::start(conf, [definition]);
        statuses(&gateway, &[("GET /a/BLK", 403), ("GET /a/blk", 403), ("GET /a/x", 200)]);
    }
}

#[test]
fn a_pattern_may_be_a_regular_expression() {
    let upstream = Upstream::ok();
    let list = json!([{"path": "^/v[0-9]+/(users|groups)$"}, {"path": "/mid/*/end"}]);
    let gateway = Gateway::start(json!({}), [a(&upstream).list("black_list", list)]);
    statuses(
        &gateway,
        &[
            ("GET /a/v1/users", 403),
            ("GET /a/v22/groups", 403),
            ("GET /a/vx/users", 200),
            ("GET /a/v1/users/1", 200),
            ("GET /a/mid/x/end", 403),
            ("GET /a/mid/x/y/end", 200),
            ("GET /a/mid/end", 200),
        ],
    );
}

#[test]
fn a_pattern_is_tried_with_and_without_the_listen_path() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(anchored(), [a(&upstream).list("black_list", json!([{"path": "/a/full"}, {"path": "/sub"}]))]);
    statuses(&gateway, &[("GET /a/full", 403), ("GET /a/sub", 403), ("GET /a/a/full", 403)]);
}

#[test]
fn an_ignored_path_needs_no_key() {
    let upstream = Upstream::ok();
    let list = json!([{"path": "/ign"}, {"path": "/only-get", "method": "GET"}]);
    let gateway = Gateway::start(json!({}), [a(&upstream).with_keys().list("ignored", list.clone())]);
    statuses(
        &gateway,
        &[
            ("GET /a/ign", 200),
            ("GET /a/ign/sub", 200),
            ("GET /a/x/ign", 200),
            ("GET /a/only-get", 200),
            ("POST /a/only-get", 401),
            ("GET /a/other", 401),
        ],
    );
    let gateway = Gateway::start(anchored(), [a(&upstream).with_keys().list("ignored", list)]);
    statuses(&gateway, &[("GET /a/ign", 200), ("GET /a/ign/sub", 401), ("GET /a/x/ign", 401)]);
}

#[test]
fn the_first_list_in_the_fixed_order_wins() {
    let upstream = Upstream::ok();
    let definition = a(&upstream)
        .list("mock_response", json!([{"path": "/mock", "method": "GET", "code": 418, "body": "m", "headers": {}}]))
        .list("ignored", json!([{"path": "/mock"}, {"path": "/ign"}]))
        .list("black_list", json!([{"path": "/mock"}, {"path": "/ign"}, {"path": "/both"}]))
        .list("white_list", json!([{"path": "/both"}, {"path": "/white"}]));
    let gateway = Gateway::start(json!({}), [definition]);
    statuses(
        &gateway,
        &[("GET /a/mock", 418), ("GET /a/ign", 200), ("GET /a/both", 403), ("GET /a/white", 200), ("GET /a/none", 403)],
    );
}

#[test]
fn a_mock_answers_in_place_of_the_upstream_and_asks_for_no_key() {
    let upstream = Upstream::ok();
    let mock = json!([
        {"path": "/mock", "method": "GET", "code": 418, "body": "teapot", "headers": {"X-Mock": "1"}},
        {"path": "/typed", "method": "POST", "code": 201, "body": "{}", "headers": {"Content-Type": "application/json"}}
    ]);
    let gateway = Gateway::start(json!({}), [a(&upstream).with_keys().list("mock_response", mock)]);
    let mut client = gateway.connect();
    for _ in 0..2 {
        let response = client.ask(get("/a/mock"));
        assert_eq!((response.status, response.text().as_str(), response.header("x-mock")), (418, "teapot", Some("1")));
        assert!(response.header("content-type").is_some_and(|kind| kind.starts_with("text/plain")), "{response}");
        for absent in ["x-generator", "x-ratelimit-limit"] {
            assert!(!response.head.has(absent), "{response}");
        }
        let typed = client.ask(request("POST", "/a/typed", &[], "some body"));
        assert_eq!((typed.status, typed.text().as_str(), typed.header("content-type")), (201, "{}", Some("application/json")));
    }
    assert_eq!(client.ask(request("POST", "/a/mock", &[], "")).status, 401);
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_method_action_answers_in_place_of_the_upstream() {
    let upstream = Upstream::ok();
    let action = |action: &str| json!({"action": action, "code": 200, "data": "from the list", "headers": {"X-Own": "1"}});
    let list = json!([{"path": "/reply", "method_actions": {"GET": action("reply"), "PUT": action("no_action")}}]);
    let gateway = Gateway::start(json!({}), [a(&upstream).list("white_list", list)]);
    let response = gateway.get("/a/reply");
    assert_eq!((response.status, response.text().as_str(), response.header("x-own")), (200, "from the list", Some("1")));
    assert_eq!(upstream.requests(), 0);
    assert_eq!(gateway.send(request("PUT", "/a/reply", &[], "")).status, 200);
    assert_eq!(upstream.requests(), 1);
}

/// An entry that says what to do by method.
fn by_method(path: &str, methods: &[&str]) -> Value {
    let actions: serde_json::Map<_, _> = methods
        .iter()
        .map(|method| ((*method).to_owned(), json!({"action": "no_action", "code": 200, "data": "", "headers": {}})))
        .collect();
    json!({"path": path, "method_actions": actions})
}

#[test]
fn an_entry_with_method_actions_is_for_the_methods_that_it_names() {
    let upstream = Upstream::ok();
    let ignored = json!([by_method("/get", &["GET"]), by_method("(.*)", &["OPTIONS"])]);
    let gateway = Gateway::start(json!({}), [a(&upstream).with_keys().list("ignored", ignored)]);
    statuses(
        &gateway,
        &[
            ("GET /a/get", 200),
            ("POST /a/get", 401),
            ("get /a/get", 401),
            ("OPTIONS /a/get", 200),
            ("OPTIONS /a/x", 200),
            ("GET /a/x", 401),
            ("DELETE /a/x", 401),
        ],
    );
    let black = json!([by_method("/closed", &["DELETE", "PUT"])]);
    let gateway = Gateway::start(json!({}), [a(&upstream).list("black_list", black)]);
    statuses(&gateway, &[("DELETE /a/closed", 403), ("PUT /a/closed", 403), ("GET /a/closed", 200), ("GET /a/", 200)]);
    let white = json!([by_method("/open", &["GET", "HEAD"]), by_method("/open", &["POST"])]);
    let gateway = Gateway::start(json!({}), [a(&upstream).list("white_list", white)]);
    statuses(
        &gateway,
        &[("GET /a/open", 200), ("HEAD /a/open", 200), ("POST /a/open", 200), ("PUT /a/open", 403), ("GET /a/x", 403)],
    );
}

#[test]
fn method_actions_take_the_place_of_the_method_even_when_they_name_none() {
    let upstream = Upstream::ok();
    let mut both = by_method("/both", &["GET"]);
    both["method"] = json!("POST");
    let ignored = json!([
        both,
        {"path": "/none", "method_actions": {}},
        {"path": "/none-but-method", "method": "GET", "method_actions": {}},
        {"path": "/null", "method": "GET", "method_actions": null},
        {"path": "/nothing-written"}
    ]);
    let gateway = Gateway::start(json!({}), [a(&upstream).with_keys().list("ignored", ignored)]);
    statuses(
        &gateway,
        &[
            ("GET /a/both", 200),
            ("POST /a/both", 401),
            ("GET /a/none", 401),
            ("GET /a/none-but-method", 401),
            ("GET /a/null", 200),
            ("POST /a/null", 401),
            ("DELETE /a/nothing-written", 200),
        ],
    );
    let white = json!([{"path": "/none", "method_actions": {}}]);
    let gateway = Gateway::start(json!({}), [a(&upstream).list("white_list", white)]);
    statuses(&gateway, &[("GET /a/none", 403), ("GET /a/other", 403)]);
}

#[test]
fn a_method_action_that_says_nothing_refuses() {
    let upstream = Upstream::ok();
    let ignored = json!([{"path": "/x", "method_actions": {"GET": {"action": ""}, "PUT": {}}}]);
    let gateway = Gateway::start(json!({}), [a(&upstream).with_keys().list("ignored", ignored)]);
    statuses(&gateway, &[("GET /a/x", 403), ("PUT /a/x", 403), ("POST /a/x", 401)]);
}

#[test]
fn an_answer_of_a_list_comes_behind_the_entries_before_it() {
    let upstream = Upstream::ok();
    let reply = json!({"action": "reply", "code": 418, "data": "", "headers": {}});
    let definition = a(&upstream).list("ignored", json!([{"path": "/x"}])).list(
        "black_list",
        json!([{"path": "/x", "method_actions": {"GET": reply}}, {"path": "/y", "method_actions": {"GET": reply}}]),
    );
    let gateway = Gateway::start(json!({}), [definition]);
    statuses(&gateway, &[("GET /a/x", 200), ("GET /a/y", 418), ("POST /a/y", 200)]);
}

#[test]
fn lists_leave_preflight_requests_to_the_rules_for_other_origins() {
    let upstream = Upstream::ok();
    let listed = |passthrough: bool| {
        a(&upstream)
            .list("white_list", json!([by_method("/open", &["GET"])]))
            .list("black_list", json!([{"path": "/closed"}]))
            .set("CORS", json!({"enable": true, "options_passthrough": passthrough}))
    };
    let preflight = |gateway: &Gateway, target: &str| {
        gateway.send(request("OPTIONS", target, &["Origin: https://app.test", "Access-Control-Request-Method: GET"], "")).status
    };
    let gateway = Gateway::start(json!({}), [listed(false)]);
    for target in ["/a/open", "/a/closed", "/a/other"] {
        assert_eq!(preflight(&gateway, target), 204, "{target}");
    }
    assert_eq!(gateway.send(request("OPTIONS", "/a/open", &["Origin: https://app.test"], "")).status, 403);
    assert_eq!(upstream.requests(), 0);
    let passing = Gateway::start(json!({}), [listed(true).set("use_keyless", true)]);
    // The upstream answers them, and the chain is not run.
    assert_eq!(preflight(&passing, "/a/open"), 200);
}

#[test]
fn what_other_apis_alone_may_call_need_not_be_on_the_white_list() {
    let upstream = Upstream::ok();
    let inner = api("inner", "/inner/", &upstream.url())
        .list("internal", json!([{"path": "/hidden", "method": "GET"}]))
        .list("white_list", json!([{"path": "/open"}]));
    let outer = api("outer", "/outer/", "tyk://inner");
    let gateway = Gateway::start(json!({}), [inner, outer]);
    statuses(
        &gateway,
        &[("GET /inner/hidden", 403), ("GET /inner/open", 200), ("GET /outer/hidden", 200), ("GET /outer/other", 403)],
    );
}

#[test]
fn classes_of_characters_are_ascii() {
    let upstream = Upstream::ok();
    let white = json!([{"path": r"^/w/\w+$"}, {"path": r"^/d/\d+$"}, {"path": r"^/s/a\sb$"}, {"path": "^/p/[[:alpha:]]+$"}]);
    let definition = a(&upstream).list("white_list", white).list(
        "url_rewrites",
        json!([{"path": "/w/", "method": "GET", "match_pattern": "/w/", "rewrite_to": "/w/x", "triggers": [
            {"on": "any", "options": {"header_matches": {"X-Id": {"match_rx": r"^\w+$"}}}, "rewrite_to": "/triggered"}
        ]}]),
    );
    let gateway = Gateway::start(json!({}), [definition]);
    statuses(
        &gateway,
        &[
            ("GET /a/w/abc_9", 200),
            ("GET /a/w/%C3%A9", 403),
            ("GET /a/w/a%C3%A9", 403),
            ("GET /a/d/12", 200),
            ("GET /a/d/%D9%A3", 403),
            ("GET /a/s/a%20b", 200),
            ("GET /a/s/a%C2%A0b", 403),
            ("GET /a/p/xyz", 200),
            ("GET /a/p/%C3%A9", 403),
        ],
    );
    for (value, target) in [("abc", "/triggered"), ("é", "/w/x")] {
        assert_eq!(gateway.send(request("GET", "/a/w/abc", &[&format!("X-Id: {value}")], "")).status, 200);
        assert_eq!(upstream.last().target, target, "{value}");
    }
}

#[test]
fn a_hard_timeout_ends_the_wait_for_the_upstream() {
    let upstream = Upstream::raw(|mut wire, _| {
        let _ = wire.rest();
    });
    let list = json!([{"path": "/slow", "method": "GET", "timeout": 1}]);
    let gateway = Gateway::start(json!({"proxy_default_timeout": 600}), [a(&upstream).list("hard_timeouts", list)]);
    let response = gateway.get("/a/slow");
    assert_eq!((response.status, response.text()), (504, error_json("Upstream service reached hard timeout.")));
}

#[test]
fn a_version_wide_timeout_is_for_every_path() {
    let upstream = Upstream::raw(|mut wire, _| {
        let _ = wire.rest();
    });
    let gateway = Gateway::start(json!({"proxy_default_timeout": 600}), [a(&upstream).version("global_enforce_timeout", 1)]);
    assert_eq!(gateway.get("/a/any").status, 504);
}

#[test]
fn a_size_limit_refuses_what_is_larger_or_of_unknown_length() {
    let upstream = Upstream::ok();
    let definition = a(&upstream).list("size_limits", json!([{"path": "/small", "method": "POST", "size_limit": 10}]));
    let gateway = Gateway::start(json!({}), [definition]);
    let cases = [
        (request("POST", "/a/small", &[], "0123456789"), 200, ""),
        (request("POST", "/a/small", &[], "0123456789X"), 400, "Request is too large"),
        (request("POST", "/a/other", &[], "0123456789X"), 200, ""),
        (request("GET", "/a/small", &[], "0123456789X"), 200, ""),
        (
            request("POST", "/a/small", &["Transfer-Encoding: chunked"], "") + "1\r\nx\r\n0\r\n\r\n",
            411,
            "Content length is required for this request",
        ),
    ];
    for (text, status, message) in cases {
        let response = gateway.send(&text);
        assert_eq!(response.status, status, "{text}: {response}");
        if status != 200 {
            assert_eq!(response.text(), error_json(message));
        }
    }
    assert_eq!(upstream.requests(), 3);
}

#[test]
fn a_version_wide_size_limit_is_for_every_path() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [a(&upstream).version("global_size_limit", 5)]);
    assert_eq!(gateway.send(request("PUT", "/a/any", &[], "12345")).status, 200);
    assert_eq!(gateway.send(request("PUT", "/a/any", &[], "123456")).status, 400);
    let gateway =
        Gateway::start(json!({}), [a(&upstream).version("global_size_limit", 5).version("global_size_limit_disabled", true)]);
    assert_eq!(gateway.send(request("PUT", "/a/any", &[], "123456")).status, 200);
}

#[test]
fn a_method_may_be_changed_on_the_way() {
    let upstream = Upstream::ok();
    let list = json!([
        {"path": "/put", "method": "GET", "to_method": "PUT"},
        {"path": "/brew", "method": "GET", "to_method": "BREW"}
    ]);
    let gateway = Gateway::start(json!({}), [a(&upstream).list("method_transforms", list)]);
    assert_eq!(gateway.get("/a/put").status, 200);
    let seen = upstream.last();
    assert_eq!((seen.method.as_str(), seen.header("content-length")), ("PUT", Some("0")));
    gateway.send(request("POST", "/a/put", &[], "x"));
    assert_eq!(upstream.last().method, "POST");
    let refused = gateway.get("/a/brew");
    assert_eq!((refused.status, refused.text()), (405, error_json("Method not allowed")));
}

#[test]
fn a_get_request_changed_to_head_leaves_the_answers_in_step() {
    let upstream = Upstream::start(|seen| match seen.method.as_str() {
        "HEAD" => b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nX-Head: 1\r\n\r\n".to_vec(),
        _ => reply("200 OK", &[], "a body"),
    });
    let list = json!([{"path": "/x", "method": "GET", "to_method": "HEAD"}]);
    let gateway = Gateway::start(json!({}), [a(&upstream).list("method_transforms", list)]);
    let mut client = gateway.connect();
    for _ in 0..3 {
        let empty = client.ask(get("/a/x"));
        assert_eq!((empty.status, empty.text().as_str(), empty.header("x-head")), (200, "", Some("1")));
        assert_eq!(client.ask(get("/a/y")).text(), "a body");
    }
}

#[test]
fn a_head_request_changed_to_get_still_has_no_body() {
    let upstream = Upstream::start(|_| reply("200 OK", &[], "a body"));
    let list = json!([{"path": "/x", "method": "HEAD", "to_method": "GET"}]);
    let gateway = Gateway::start(json!({}), [a(&upstream).list("method_transforms", list)]);
    let mut client = gateway.connect();
    for _ in 0..3 {
        assert_eq!(client.ask(request("HEAD", "/a/x", &[], "")).status, 200);
        assert_eq!(client.ask(get("/a/y")).text(), "a body");
    }
}

// --- rewriting ---

fn rewriting(upstream: &Upstream, entries: Value) -> Gateway {
    Gateway::start(json!({}), [a(upstream).set("enable_context_vars", true).list("url_rewrites", entries)])
}

#[test]
fn a_rewrite_replaces_path_and_query() {
    let upstream = Upstream::ok();
    let gateway = rewriting(
        &upstream,
        json!([
            {"path": "/one", "method": "GET", "match_pattern": "/one/([^?]*)", "rewrite_to": "/b/$1?from=a"},
            {"path": "/query", "method": "GET", "match_pattern": "/query\\?id=([0-9]+)", "rewrite_to": "/item/$1"},
            {"path": "/swap", "method": "GET", "match_pattern": "swap/(\\w+)/(\\w+)", "rewrite_to": "/$2/$1/$2"}
        ]),
    );
    for (target, expect) in [
        ("/a/one/1?x=1", "/b/1?from=a"),
        ("/a/one/two/three", "/b/two/three?from=a"),
        ("/a/query?id=77", "/item/77"),
        ("/a/query?id=none", "/query?id=none"),
        ("/a/swap/x/y", "/y/x/y"),
        ("/a/untouched?x=1", "/untouched?x=1"),
    ] {
        assert_eq!(gateway.get(target).status, 200, "{target}");
        assert_eq!(upstream.last().target, expect, "{target}");
    }
}

#[test]
fn a_rewrite_is_for_its_method() {
    let upstream = Upstream::ok();
    let gateway = rewriting(&upstream, json!([{"path": "/x", "method": "GET", "match_pattern": "/x", "rewrite_to": "/y"}]));
    gateway.send(request("POST", "/a/x", &[], ""));
    assert_eq!(upstream.last().target, "/x");
}

#[test]
fn a_rewrite_may_lead_to_another_host_or_api() {
    let (upstream, other) = (Upstream::ok(), Upstream::ok());
    let entries = json!([
        {"path": "/away", "method": "GET", "match_pattern": "/away/(.*)", "rewrite_to": format!("{}/there/$1", other.url())},
        {"path": "/over", "method": "GET", "match_pattern": "/over/(.*)", "rewrite_to": "tyk://b/$1"}
    ]);
    let gateway = Gateway::start(
        json!({}),
        [a(&upstream).list("url_rewrites", entries), api("b", "/b/", &format!("{}/from-b", upstream.url()))],
    );
    assert_eq!(gateway.get("/a/away/x").status, 200);
    assert_eq!((other.last().target.as_str(), upstream.requests()), ("/there/x", 0));
    assert_eq!(other.last().header("host"), Some(other.address.to_string().as_str()));
    assert_eq!(gateway.get("/a/over/x").status, 200);
    assert_eq!(upstream.last().target, "/from-b/x");
}

#[test]
fn a_rewrite_to_itself_ends() {
    let upstream = Upstream::ok();
    let entries = json!([{"path": "/round", "method": "GET", "match_pattern": "/round", "rewrite_to": "tyk://self/round"}]);
    let gateway = rewriting(&upstream, entries);
    let response = gateway.get("/a/round");
    assert_eq!(
        (response.status, response.text()),
        (500, error_json("Loop level too deep. Found more than 5 loops in single request"))
    );
}

#[test]
fn triggers_choose_where_a_rewrite_leads() {
    let upstream = Upstream::ok();
    let entry = json!([{
        "path": "/t", "method": "GET", "match_pattern": "/t(.*)", "rewrite_to": "/plain$1",
        "triggers": [
            {"on": "all", "rewrite_to": "/both", "options": {
                "query_val_matches": {"kind": {"match_rx": "^beta$"}},
                "header_matches": {"X-Stage": {"match_rx": "^canary$"}}}},
            {"on": "any", "rewrite_to": "/any/$tyk_context.trigger-1-kind-0", "options": {
                "query_val_matches": {"kind": {"match_rx": "^(beta|gamma)$"}},
                "header_matches": {"X-Never": {"match_rx": "yes"}}}},
            {"on": "any", "rewrite_to": "/part", "options": {
                "path_part_matches": {"section": {"match_rx": "^special$"}}}},
            {"on": "all", "rewrite_to": "/not-bot", "options": {
                "header_matches": {"X-Client": {"match_rx": "bot", "reverse": true}}, "query_val_matches": {"check": {"match_rx": "1"}}}}
        ]
    }]);
    let gateway = rewriting(&upstream, entry);
    let cases: &[(&str, &[&str], &str)] = &[
        ("/a/t", &[], "/plain"),
        ("/a/t?kind=beta", &["X-Stage: canary"], "/both"),
        ("/a/t?kind=beta", &["X-Stage: other"], "/any/beta"),
        ("/a/t?kind=gamma", &[], "/any/gamma"),
        ("/a/t/special", &[], "/part"),
        ("/a/t?check=1", &["X-Client: person"], "/not-bot"),
        ("/a/t?check=1", &["X-Client: robot"], "/plain?check=1"),
    ];
    for (target, lines, expect) in cases {
        assert_eq!(gateway.send(request("GET", target, lines, "")).status, 200);
        assert_eq!(upstream.last().target, *expect, "{target} {lines:?}");
    }
}

#[test]
fn a_captured_value_cannot_leave_the_request_line() {
    let upstream = Upstream::ok();
    let gateway = rewriting(
        &upstream,
        json!([{"path": "/v", "method": "GET", "match_pattern": "/v\\?", "rewrite_to": "/w?to=$tyk_context.request_data_x&h=$tyk_context.headers_X_Own"}]),
    );
    let response = gateway.send(request("GET", "/a/v?x=1%20HTTP/1.1%0d%0aEvil:%201", &["X-Own: a b HTTP/1.1"], ""));
    if response.status == 200 {
        let seen = upstream.last();
        assert_eq!(seen.head.first.split(' ').count(), 3, "{}", seen.head.first);
        assert!(!seen.head.has("evil"));
    }
}

// --- paths for loops only, and tracking ---

#[test]
fn an_internal_path_is_reached_only_by_a_loop() {
    let upstream = Upstream::ok();
    let definition = a(&upstream).list("internal", json!([{"path": "/inner", "method": "GET"}])).list(
        "url_rewrites",
        json!([{"path": "/outer", "method": "GET", "match_pattern": "/outer", "rewrite_to": "tyk://self/inner"}]),
    );
    let gateway = Gateway::start(json!({}), [definition]);
    statuses(&gateway, &[("GET /a/inner", 403), ("POST /a/inner", 200), ("GET /a/outer", 200)]);
    assert_eq!(upstream.last().target, "/inner");
}

#[test]
fn tracking_lists_change_nothing_for_the_client() {
    let upstream = Upstream::start(|_| ok());
    let list = json!([{"path": "/x", "method": "GET"}]);
    let definition = a(&upstream).list("do_not_track_endpoints", list.clone()).list("track_endpoints", list);
    let gateway = Gateway::start(json!({}), [definition]);
    statuses(&gateway, &[("GET /a/x", 200), ("GET /a/y", 200)]);
}

#[test]
fn encoded_paths_do_not_slip_past_a_list() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [a(&upstream).list("black_list", json!([{"path": "/secret"}]))]);
    statuses(&gateway, &[("GET /a/secret", 403), ("GET /a/%73ecret", 403), ("GET /a/s%65cret?x", 403), ("GET /a/x%2Fsecret", 403)]);
}

#[test]
fn many_patterns_of_one_api_work_as_each_alone() {
    let upstream = Upstream::ok();
    let list: Vec<Value> = (0..300).map(|number| json!({"path": format!("/p{number}/{{id}}/end")})).collect();
    let gateway = Gateway::start(anchored(), [a(&upstream).list("black_list", Value::Array(list))]);
    statuses(
        &gateway,
        &[("GET /a/p0/x/end", 403), ("GET /a/p299/x/end", 403), ("GET /a/p300/x/end", 200), ("GET /a/p29/x/y/end", 200)],
    );
}

#[test]
fn what_triggers_capture_is_a_variable_of_the_response() {
    let upstream = Upstream::ok();
    let trigger = json!({"on": "all", "options": {"query_val_matches": {"q": {"match_rx": "^a(.)$"}}}, "rewrite_to": "/hit"});
    let entry = json!([{"path": "/x", "method": "GET", "match_pattern": ".*", "rewrite_to": "/other", "triggers": [trigger]}]);
    let headers = json!({"X-Letter": "$tyk_context.trigger-0-q-1-0"});
    let definition = a(&upstream).set("enable_context_vars", true).list("url_rewrites", entry);
    let definition =
        definition.list("transform_response_headers", json!([{"path": "/x", "method": "GET", "add_headers": headers}]));
    let gateway = Gateway::start(json!({}), [definition]);
    assert_eq!(gateway.get("/a/x?q=b&q=ac").header("x-letter"), Some("c"));
    assert_eq!(upstream.last().target, "/hit");
}

#[test]
fn a_host_from_a_request_has_no_line_ends() {
    let upstream = Upstream::ok();
    let entry = json!([{"path": "/v", "method": "GET", "match_pattern": ".*", "rewrite_to": "$tyk_context.request_data_to"}]);
    let gateway = rewriting(&upstream, entry);
    for host in ["a%0d%0aX:%20y", "a%20b", "a%00"] {
        assert_eq!(gateway.get(&format!("/a/v?to=http://{host}/")).status, 500, "{host}");
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn thousands_of_endpoints_are_told_apart_and_counted_in_the_figures() {
    let upstream = Upstream::ok();
    let black: Vec<Value> = (0..2_000).map(|number| json!({"path": format!("/p{number}/{{id}}/sub"), "method": "GET"})).collect();
    let ignored: Vec<Value> = (0..2_000).map(|number| json!({"path": format!(r"^/s{number}/(\w+)/(\d+)$")})).collect();
    let rewrites: Vec<Value> = (0..2_000)
        .map(|number| json!({"path": format!("/r{number}/"), "method": "GET", "match_pattern": format!(r"/r{number}/(\w+)"), "rewrite_to": format!("/to/{number}/$1")}))
        .collect();
    let definition = a(&upstream).with_keys().list("black_list", json!(black)).list("ignored", json!(ignored));
    let gateway = Gateway::start(json!({}), [definition, api("b", "/b/", &upstream.url()).list("url_rewrites", json!(rewrites))]);
    statuses(
        &gateway,
        &[
            ("GET /a/p0/1/sub", 403),
            ("GET /a/p1999/x/sub", 403),
            ("GET /a/p1999/x/other", 401),
            ("POST /a/p1999/x/sub", 401),
            ("GET /a/s0/ab/1", 200),
            ("GET /a/s1999/ab/12", 200),
            ("GET /a/s1999/ab/12/", 401),
            ("GET /a/s2000/ab/12", 401),
        ],
    );
    for (asked, expect) in [("/b/r0/x", "/to/0/x"), ("/b/r1999/y_z", "/to/1999/y_z"), ("/b/r77/", "/r77/")] {
        assert_eq!(gateway.get(asked).status, 200);
        assert_eq!(upstream.last().target, expect, "{asked}");
    }
    let text = gateway.control("GET", "/tyk/metrics", "").text();
    assert!(text.contains("\ntollgate_patterns 6000\n"), "{text}");
    let bytes = text.lines().find_map(|line| line.strip_prefix("tollgate_pattern_bytes ")).unwrap().parse::<f64>().unwrap();
    assert!((1e6..100e6).contains(&bytes), "{bytes}");
}
