//! Variables in values: secrets, the key's metadata, the key itself, its limits, and pieces of the request.

use serde_json::{Value, json};

use super::harness::keys::{call, create, keyed, session_for};
use super::harness::{Definition, Gateway, Upstream, api, jws, request};

fn with_variables(definition: Definition, headers: Value) -> Definition {
    definition.set("enable_context_vars", true).version("global_headers", headers)
}

#[test]
fn a_secret_with_a_line_end_adds_no_header_line() {
    let upstream = Upstream::ok();
    let definition = api("a", "/a/", &upstream.url())
        .version("global_headers", json!({"X-Up": "$secret_conf.broken"}))
        .version("global_response_headers", json!({"X-Back": "$secret_conf.broken"}));
    let gateway = Gateway::start(json!({"secrets": {"broken": "a\r\nX-Evil: 1"}}), [definition]);
    let response = gateway.get("/a/");
    assert_eq!((response.status, response.head.has("x-evil"), response.head.has("x-back")), (200, false, false));
    assert!(!upstream.last().head.has("x-evil") && !upstream.last().head.has("x-up"));
    assert!(gateway.log().contains("has line ends or other control characters"), "{}", gateway.log());
}

#[test]
fn metadata_of_the_key_stands_in_headers_of_both_directions_and_in_rewrites() {
    let (upstream, other) = (Upstream::ok(), Upstream::ok());
    let values = json!({"X-Team": "<$tyk_meta.team>", "X-Number": "$tyk_meta.number", "X-List": "$tyk_meta.list", "X-None": "<$tyk_meta.none>"});
    let definition = keyed("a", &upstream)
        .version("global_headers", values)
        .version("global_response_headers", json!({"X-Back": "$tyk_meta.team"}))
        .list(
            "transform_response_headers",
            json!([{"path": "/p", "method": "GET", "add_headers": {"X-Path": "is $tyk_meta.team"}}]),
        )
        .list(
            "url_rewrites",
            json!([
                {"path": "/p", "method": "GET", "match_pattern": "/p", "rewrite_to": "/of/$tyk_meta.team?u=$tyk_meta.url"},
                {"path": "/host", "method": "GET", "match_pattern": "/host", "rewrite_to": "$tyk_meta.url"}
            ]),
        );
    let keyless = api("open", "/open/", &upstream.url()).version("global_headers", json!({"X-Team": "<$tyk_meta.team>"}));
    let gateway = Gateway::start(json!({}), [definition, keyless]);
    let url = format!("{}/moved?a=b", other.url());
    let meta = json!({"team": "blue & co", "number": 7, "list": ["a b", 2], "url": url, "flag": {"deep": 1}});
    let key = create(&gateway, &session_for(&["a"], json!({"meta_data": meta})));

    let response = call(&gateway, "/a/x", &key);
    assert_eq!((response.status, response.header("x-back")), (200, Some("blue & co")));
    let seen = upstream.last();
    assert_eq!((seen.header("x-team"), seen.header("x-number")), (Some("<blue & co>"), Some("7")));
    assert_eq!((seen.header("x-list"), seen.header("x-none")), (Some("a+b,2"), Some("<>")));

    assert_eq!(call(&gateway, "/a/p", &key).header("x-path"), Some("is blue & co"));
    let escaped = url.replace(':', "%3A").replace('/', "%2F").replace('?', "%3F").replace('=', "%3D");
    assert_eq!(upstream.last().target, format!("/of/blue+%26+co?u={escaped}"));
    assert_eq!(call(&gateway, "/a/host", &key).status, 200);
    assert_eq!(other.last().target, "/moved?a=b", "a URL at the beginning is one");

    gateway.get("/open/");
    assert_eq!(upstream.last().header("x-team"), Some("<>"), "nobody's metadata");
}

#[test]
fn metadata_of_a_policy_is_the_keys_too() {
    let upstream = Upstream::ok();
    let file = tempfile::NamedTempFile::new().unwrap();
    let right = json!({"a": {"api_id": "a", "versions": ["Default"]}});
    let policy = json!({"id": "p", "org_id": "default", "rate": 0, "per": 0, "quota_max": -1, "access_rights": right, "meta_data": {"tier": "gold"}});
    std::fs::write(file.path(), json!({"p": policy}).to_string()).unwrap();
    let conf = json!({"policies": {"policy_source": "file", "policy_record_name": file.path()}});
    let gateway = Gateway::start(conf, [keyed("a", &upstream).version("global_headers", json!({"X-Tier": "$tyk_meta.tier"}))]);
    let key = create(&gateway, &json!({"org_id": "default", "apply_policies": ["p"], "access_rights": right}));
    assert_eq!(call(&gateway, "/a/", &key).status, 200);
    assert_eq!(upstream.last().header("x-tier"), Some("gold"));
}

#[test]
fn metadata_decides_where_a_rewrite_leads() {
    let upstream = Upstream::ok();
    let rewrite = json!([{
        "path": "/p", "method": "GET", "match_pattern": "/p", "rewrite_to": "/others",
        "triggers": [
            {"on": "all", "options": {"session_meta_matches": {"team": {"match_rx": "^(blue)-(.*)$"}}}, "rewrite_to": "/blue/$tyk_context.trigger-0-team-1"},
            {"on": "any", "options": {"session_meta_matches": {"team": {"match_rx": "^red$", "reverse": true}}}, "rewrite_to": "/not-red"}
        ]
    }]);
    let gateway = Gateway::start(json!({}), [keyed("a", &upstream).list("url_rewrites", rewrite)]);
    for (meta, target) in [
        (json!({"team": "blue-7"}), "/blue/7"),
        (json!({"team": "green"}), "/not-red"),
        (json!({"team": "red"}), "/others"),
        (json!({"other": "blue-7"}), "/others"),
        (json!({"team": 5}), "/others"),
    ] {
        let key = create(&gateway, &session_for(&["a"], json!({"meta_data": meta})));
        assert_eq!(call(&gateway, "/a/p", &key).status, 200);
        assert_eq!(upstream.last().target, target, "{meta}");
    }
}

#[test]
fn the_key_and_its_limits_are_variables() {
    let upstream = Upstream::ok();
    let names = ["quota_limit", "quota_remaining", "rate_limit_limit", "rate_limit_remaining"];
    let mut values: serde_json::Map<String, Value> =
        names.iter().map(|name| (format!("X-{}", name.replace('_', "-")), format!("$tyk_context.{name}").into())).collect();
    values.insert("X-Token".to_owned(), "$tyk_context.token".into());
    values.insert("X-Reset".to_owned(), "$tyk_context.quota_reset/$tyk_context.rate_limit_reset".into());
    let definition = with_variables(keyed("a", &upstream), values.into())
        .version("global_response_headers", json!({"X-Left": "$tyk_context.quota_remaining"}));
    let gateway = Gateway::start(
        json!({}),
        [definition.clone(), definition.set("api_id", "b").set("enable_context_vars", false).set("proxy/listen_path", "/b/")],
    );
    let limits = json!({"rate": 10, "per": 3600, "quota_max": 5, "quota_renewal_rate": 3600});
    let key = create(&gateway, &session_for(&["a", "b"], limits));
    for left in [4, 3] {
        let response = call(&gateway, "/a/", &key);
        assert_eq!((response.status, response.header("x-left")), (200, Some(left.to_string().as_str())));
        let seen = upstream.last();
        let all: Vec<&str> = names.iter().map(|name| seen.header(&format!("x-{}", name.replace('_', "-"))).unwrap()).collect();
        assert_eq!(all, ["5", &left.to_string(), "10", &(left + 5).to_string()]);
        assert_eq!(seen.header("x-token"), Some(key.as_str()));
        let reset =
            seen.header("x-reset").unwrap().split_once('/').map(|(a, b)| (a.parse::<i64>().unwrap(), b.parse::<i64>().unwrap()));
        let (quota, rate) = reset.unwrap();
        assert!((jws::now() + 3000..jws::now() + 3700).contains(&quota) && rate >= jws::now(), "{quota} {rate}");
    }
    assert_eq!(call(&gateway, "/b/", &key).status, 200);
    assert_eq!(upstream.last().header("x-token").unwrap_or_default(), "", "without the switch nothing is a variable");
    gateway.control("POST", "/tyk/keys/mine", &session_for(&["a"], json!({})).to_string());
    assert_eq!(call(&gateway, "/a/", "mine").status, 200);
    assert_eq!(upstream.last().header("x-token"), Some("defaultmine"), "a custom key is written with its organisation");
    assert_eq!(upstream.last().header("x-quota-limit").unwrap_or_default(), "", "a key without a quota");
}

#[test]
fn the_rate_limit_of_an_api_is_a_variable_for_everybody() {
    let upstream = Upstream::ok();
    let values = json!({"X-Rate": "$tyk_context.rate_limit_limit/$tyk_context.rate_limit_remaining"});
    let definition =
        with_variables(api("a", "/a/", &upstream.url()), values).set("global_rate_limit", json!({"rate": 7, "per": 3600}));
    let gateway = Gateway::start(json!({}), [definition]);
    for left in [6, 5] {
        gateway.get("/a/");
        assert_eq!(upstream.last().header("x-rate"), Some(format!("7/{left}").as_str()));
    }
}

#[test]
fn a_tokens_session_is_its_key() {
    let upstream = Upstream::ok();
    let values = json!({"X-Token": "$tyk_context.token", "X-Alias": "$tyk_meta.TykJWTSessionID"});
    let gateway = super::harness::start_with(
        [with_variables(super::harness::tokens::with_tokens("a", &upstream), values)],
        &[super::harness::tokens::policy("basic", json!({}))],
    );
    let token = jws::hs256(super::harness::tokens::SECRET, &json!({"sub": "joe", "exp": jws::now() + 60}));
    for _ in 0..2 {
        assert_eq!(call(&gateway, "/a/", &token).status, 200);
        let seen = upstream.last();
        // The MD5 of `joe` behind the organisation.
        assert_eq!(seen.header("x-token"), Some("default8ff32489f92f33416694be8fdc2d4c22"));
        assert_eq!(seen.header("x-token"), seen.header("x-alias"));
    }
}

#[test]
fn pieces_of_a_request_are_variables() {
    let upstream = Upstream::ok();
    let values = json!({
        "X-Parts": "$tyk_context.path_parts",
        "X-Data": "$tyk_context.request_data",
        "X-Cookie": "$tyk_context.cookies_my_cookie",
        "X-Name": "$tyk_context.request_data_my_name",
        "X-Trace": "<$tyk_context.tyk_trace_id>"
    });
    let gateway = Gateway::start(json!({}), [with_variables(api("a", "/a/", &upstream.url()), values)]);
    gateway.send(request("GET", "/a/b/c?z=1&my-name=tom&z=%202", &["Cookie: my-cookie=c1"], ""));
    let seen = upstream.last();
    assert_eq!(seen.header("x-parts"), Some("a,b,c"));
    assert_eq!(seen.header("x-data"), Some("my-name:tom;z:1, 2"));
    assert_eq!((seen.header("x-cookie"), seen.header("x-name")), (Some("c1"), Some("tom")));
    assert_eq!(seen.header("x-trace"), Some("<>"), "nothing is traced");
}
