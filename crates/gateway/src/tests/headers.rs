//! Header transforms, global and by path, on the way up and on the way back, and the context variables in their values.

use serde_json::json;

use super::harness::{Definition, Gateway, Upstream, api, reply, request};

fn a(upstream: &Upstream) -> Definition {
    api("a", "/a/", &upstream.url())
}

#[test]
fn global_headers_are_added_and_removed_for_the_upstream() {
    let upstream = Upstream::ok();
    let definition = a(&upstream)
        .version("global_headers", json!({"X-Added": "one", "x-replaced": "new", "User-Agent": "gateway"}))
        .version("global_headers_remove", json!(["X-Removed", "accept-language"]));
    let gateway = Gateway::start(json!({}), [definition]);
    let lines = ["X-Removed: 1", "Accept-Language: de", "X-Replaced: old", "x-removed: 2", "User-Agent: me", "X-Kept: k"];
    assert_eq!(gateway.send(request("POST", "/a/", &lines, "body")).status, 200);
    let seen = upstream.last();
    assert_eq!(seen.header("x-added"), Some("one"));
    assert_eq!(seen.header("x-replaced"), Some("new"));
    assert_eq!(seen.header("user-agent"), Some("gateway"));
    assert_eq!(seen.header("x-kept"), Some("k"));
    assert_eq!((seen.header("x-removed"), seen.header("accept-language")), (None, None));
    assert_eq!(seen.text(), "body");
}

#[test]
fn path_headers_come_after_the_global_ones() {
    let upstream = Upstream::ok();
    let definition = a(&upstream).version("global_headers", json!({"X-Mark": "global", "X-Gone": "global"})).list(
        "transform_headers",
        json!([{"path": "/p", "method": "GET", "add_headers": {"X-Mark": "path"}, "delete_headers": ["X-Gone", "X-Client"]}]),
    );
    let gateway = Gateway::start(json!({}), [definition]);
    gateway.send(request("GET", "/a/p", &["X-Client: c"], ""));
    let seen = upstream.last();
    assert_eq!((seen.header("x-mark"), seen.header("x-gone"), seen.header("x-client")), (Some("path"), None, None));
    gateway.send(request("GET", "/a/other", &["X-Client: c"], ""));
    let seen = upstream.last();
    assert_eq!(
        (seen.header("x-mark"), seen.header("x-gone"), seen.header("x-client")),
        (Some("global"), Some("global"), Some("c"))
    );
    gateway.send(request("POST", "/a/p", &[], ""));
    assert_eq!(upstream.last().header("x-mark"), Some("global"));
}

#[test]
fn removed_names_are_gone_even_when_the_client_sends_them_twice_and_in_any_case() {
    let upstream = Upstream::ok();
    let definition =
        a(&upstream).version("global_headers_remove", json!(["x-admin"])).version("global_headers", json!({"X-User": "gateway"}));
    let gateway = Gateway::start(json!({}), [definition]);
    gateway.send(request("GET", "/a/", &["X-ADMIN: 1", "x-Admin: 2", "X-USER: root", "x-user: root"], ""));
    let seen = upstream.last();
    assert_eq!(seen.head.all("x-admin").len(), 0);
    assert_eq!(seen.head.all("x-user"), ["gateway"]);
}

#[test]
fn global_headers_can_be_switched_off() {
    let upstream = Upstream::ok();
    let definition = a(&upstream).version("global_headers", json!({"X-Added": "1"})).version("global_headers_disabled", true);
    let gateway = Gateway::start(json!({}), [definition]);
    gateway.get("/a/");
    assert_eq!(upstream.last().header("x-added"), None);
}

#[test]
fn a_removed_forwarding_line_is_not_written_again() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [a(&upstream).version("global_headers_remove", json!(["X-Forwarded-For"]))]);
    gateway.send(request("GET", "/a/", &["X-Forwarded-For: 1.2.3.4"], ""));
    assert!(!upstream.last().head.has("x-forwarded-for"), "{:?}", upstream.last().head);
}

#[test]
fn response_headers_are_added_and_removed() {
    let upstream = Upstream::start(|_| reply("200 OK", &["Server: up", "X-Powered-By: x", "X-Kept: k", "X-Set: up"], "ok"));
    let definition = a(&upstream)
        .version("global_response_headers", json!({"X-Added": "g", "X-Both": "global"}))
        .version("global_response_headers_remove", json!(["server", "X-Powered-By"]))
        .list(
            "transform_response_headers",
            json!([{"path": "/p", "method": "GET", "add_headers": {"X-Set": "gw", "X-Both": "path"}, "delete_headers": ["X-Kept"]}]),
        );
    let gateway = Gateway::start(json!({}), [definition]);
    let mut client = gateway.connect();
    let by_path = client.ask(request("GET", "/a/p", &[], ""));
    assert_eq!((by_path.header("server"), by_path.header("x-powered-by"), by_path.header("x-kept")), (None, None, None));
    assert_eq!((by_path.header("x-added"), by_path.header("x-set")), (Some("g"), Some("gw")));
    let global = client.ask(request("GET", "/a/q", &[], ""));
    assert_eq!((global.header("x-kept"), global.header("x-set"), global.header("x-both")), (Some("k"), Some("up"), Some("global")));
    assert_eq!(global.text(), "ok");
}

#[test]
fn context_variables_stand_in_header_values() {
    let upstream = Upstream::start(|_| reply("200 OK", &[], "ok"));
    let definition = a(&upstream).set("enable_context_vars", true).version(
        "global_headers",
        json!({
            "X-Path": "$tyk_context.path",
            "X-Ip": "$tyk_context.remote_addr",
            "X-Agent": "is $tyk_context.headers_User_Agent!",
            "X-Cookie": "$tyk_context.cookies_session",
            "X-Query": "$tyk_context.request_data_name",
            "X-Id": "$tyk_context.request_id",
            "X-None": "<$tyk_context.nothing_of_the_kind>",
            "X-Two": "$tyk_context.cookies_session/$tyk_context.path"
        }),
    );
    let gateway = Gateway::start(json!({}), [definition]);
    let lines = ["User-Agent: me/1", "Cookie: a=b; session=s3; c=d"];
    assert_eq!(gateway.send(request("GET", "/a/some/path?name=tom&x=1", &lines, "")).status, 200);
    let seen = upstream.last();
    assert_eq!(seen.header("x-path"), Some("/a/some/path"));
    assert_eq!(seen.header("x-ip"), Some("127.0.0.1"));
    assert_eq!(seen.header("x-agent"), Some("is me/1!"));
    assert_eq!(seen.header("x-cookie"), Some("s3"));
    assert_eq!(seen.header("x-query"), Some("tom"));
    assert_eq!(seen.header("x-none"), Some("<>"));
    assert_eq!(seen.header("x-two"), Some("s3//a/some/path"));
    let id = seen.header("x-id").expect("an id").to_owned();
    assert!(id.len() >= 32 && !id.contains('$'), "{id}");
    gateway.get("/a/");
    assert_ne!(upstream.last().header("x-id"), Some(id.as_str()));
}

#[test]
fn context_variables_stand_in_response_headers() {
    let upstream = Upstream::start(|_| reply("200 OK", &[], "ok"));
    let definition =
        a(&upstream).set("enable_context_vars", true).version("global_response_headers", json!({"X-Path": "$tyk_context.path"}));
    let gateway = Gateway::start(json!({}), [definition]);
    assert_eq!(gateway.get("/a/x").header("x-path"), Some("/a/x"));
}

#[test]
fn a_value_from_the_request_cannot_add_header_lines() {
    let upstream = Upstream::start(|_| reply("200 OK", &[], "ok"));
    let definition = a(&upstream)
        .set("enable_context_vars", true)
        .version("global_headers", json!({"X-Query": "$tyk_context.request_data_q", "X-Path": "$tyk_context.path"}))
        .version("global_response_headers", json!({"X-Back": "$tyk_context.request_data_q", "X-Path": "$tyk_context.path"}));
    let gateway = Gateway::start(json!({}), [definition]);
    for target in ["/a/x?q=1%0d%0aEvil:%20yes", "/a/x%0d%0aEvil:%20yes", "/a/x?q=1%0aEvil:%20yes", "/a/x?q=%00"] {
        let mut client = gateway.connect();
        let response = client.ask(request("GET", target, &[], ""));
        assert!(!response.head.has("evil"), "{response}");
        if response.status == 200 {
            assert!(!upstream.last().head.has("evil"), "{target}");
        }
    }
}

#[test]
fn without_the_switch_context_variables_cost_nothing_and_say_nothing() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [a(&upstream).version("global_headers", json!({"X-Plain": "text"}))]);
    gateway.send(request("POST", "/a/", &["Content-Type: application/x-www-form-urlencoded"], "a=b"));
    let seen = upstream.last();
    assert_eq!((seen.header("x-plain"), seen.text().as_str()), (Some("text"), "a=b"));
}

#[test]
fn a_form_that_is_looked_into_still_reaches_the_upstream_whole() {
    let upstream = Upstream::ok();
    let definition =
        a(&upstream).set("enable_context_vars", true).version("global_headers", json!({"X-Form": "$tyk_context.request_data_a"}));
    let gateway = Gateway::start(json!({}), [definition]);
    gateway.send(request("POST", "/a/", &["Content-Type: application/x-www-form-urlencoded"], "a=b%20c&d=e"));
    assert_eq!(upstream.last().text(), "a=b%20c&d=e");
}

#[test]
fn response_processors_change_every_response() {
    let upstream = Upstream::start(|seen| {
        let location = format!("Location: http://{}/next?a=b", seen.header("host").unwrap());
        reply("302 Found", &[&location, "X-Secret: 1", "X-Both: upstream"], "")
    });
    let processors = json!([
        {"name": "header_injector", "options": {
            "add_headers": {"X-Added": "$tyk_context.path", "X-Both": "processor"}, "remove_headers": ["X-Secret", "Content-Length"]
        }},
        {"name": "header_transform", "options": {"rev_proxy_header_cleanup": {"headers": ["Location"], "target_host": "https://api.test"}}},
        {"name": "response_body_transform", "options": {}}
    ]);
    let processed = api("a", "/a/", &upstream.url()).set("enable_context_vars", true).set("response_processors", processors);
    let disabled = processed.clone().set("api_id", "b").set("name", "b").set("proxy/listen_path", "/b/");
    let gateway = Gateway::start(json!({}), [processed, disabled.version("global_response_headers_disabled", true)]);
    let answer = gateway.get("/a/next");
    assert_eq!((answer.header("x-added"), answer.head.all("x-both")), (Some("/a/next"), vec!["processor"]));
    assert_eq!((answer.header("x-secret"), answer.header("content-length")), (None, Some("0")));
    assert_eq!(answer.header("location"), Some("https://api.test/a/next?a=b"));
    let answer = gateway.get("/b/next");
    assert_eq!((answer.header("x-added"), answer.header("x-secret")), (None, Some("1")));
}
