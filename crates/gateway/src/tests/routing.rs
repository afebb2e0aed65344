//! Which API gets a request, and which path, query and Host its upstream gets.

use serde_json::json;

use super::harness::{Definition, Gateway, Setup, Upstream, api, error_json, get, ok, reply, request};

/// What must come of a request: the target that the upstream sees, or the gateway's own answer.
enum Expect {
    Upstream(&'static str),
    Redirect(&'static str),
    NotFound,
}
use Expect::{NotFound, Redirect, Upstream as Target};

fn check(gateway: &Gateway, upstream: &Upstream, host: &str, target: &str, expect: &Expect) {
    upstream.take_targets();
    let response = gateway.send(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    match expect {
        Target(path) => {
            assert_eq!(response.status, 200, "{host}{target}: {response}");
            assert_eq!(upstream.take_targets(), [*path], "{host}{target}");
        }
        Redirect(location) => {
            assert_eq!(response.status, 301, "{host}{target}: {response}");
            assert_eq!(response.header("location"), Some(*location), "{host}{target}");
            assert_eq!(response.text(), "", "{host}{target}");
        }
        NotFound => {
            assert_eq!(response.status, 404, "{host}{target}: {response}");
            assert_eq!(response.text(), "Not Found", "{host}{target}");
            assert_eq!(response.header("content-type"), Some("text/plain; charset=utf-8"));
            assert_eq!(upstream.take_targets().len(), 0, "{host}{target}");
        }
    }
}

fn table(gateway: &Gateway, upstream: &Upstream, rows: &[(&str, Expect)]) {
    for (target, expect) in rows {
        check(gateway, upstream, "gateway.test", target, expect);
    }
}

#[test]
fn a_listen_path_is_a_plain_prefix() {
    let upstream = Upstream::ok();
    let gateway =
        Gateway::start(json!({}), [api("keyless", "/keyless/", &upstream.url()), api("noslash", "/app", &upstream.url())]);
    table(
        &gateway,
        &upstream,
        &[
            ("/keyless/", Target("/")),
            ("/keyless/a/b", Target("/a/b")),
            ("/keyless/a?x=1&x=2&y", Target("/a?x=1&x=2&y")),
            ("/keyless/?", Target("/?")),
            ("/keyless", NotFound),
            ("/Keyless/x", NotFound),
            ("/nope", NotFound),
            ("/", NotFound),
            ("/app", Target("/")),
            ("/app?q=1", Target("/?q=1")),
            ("/app/", Target("/")),
            ("/app/x", Target("/x")),
            ("/apple", Target("/le")),
            ("/ap", NotFound),
            ("/x/app", NotFound),
        ],
    );
}

#[test]
fn an_api_answers_under_its_id_with_nothing_stripped() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("noslash", "/app", &upstream.url()), api("other", "/keyless/", &upstream.url())]);
    table(
        &gateway,
        &upstream,
        &[("/noslash/zz", Target("/noslash/zz")), ("/other/", Target("/other/")), ("/other", NotFound), ("/unknown/zz", NotFound)],
    );
}

#[test]
fn unclean_paths_are_redirected_before_anything_else() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("keyless", "/keyless/", &upstream.url()).with_keys()]);
    table(
        &gateway,
        &upstream,
        &[
            ("/keyless//a?x=1", Redirect("/keyless/a?x=1")),
            ("/keyless/a/../b?x=1", Redirect("/keyless/b?x=1")),
            ("/keyless/./a", Redirect("/keyless/a")),
            ("/keyless/a/..", Redirect("/keyless")),
            ("/keyless/a/.", Redirect("/keyless/a")),
            ("//keyless/a/", Redirect("/keyless/a/")),
            ("/../../etc/passwd", Redirect("/etc/passwd")),
            ("/nowhere//at/all", Redirect("/nowhere/at/all")),
            ("/keyless/a//b/?u=http://x//y", Redirect("/keyless/a/b/?u=http://x//y")),
        ],
    );
}

#[test]
fn cleaning_can_be_turned_off() {
    let upstream = Upstream::ok();
    let gateway =
        Gateway::start(json!({"http_server_options": {"skip_url_cleaning": true}}), [api("keyless", "/keyless/", &upstream.url())]);
    table(&gateway, &upstream, &[("/keyless/a//b", Target("/a//b")), ("/keyless/a/../b", Target("/a/../b"))]);
}

#[test]
fn a_redirect_does_not_lead_to_another_host() {
    let gateway = Gateway::start(json!({}), []);
    let response = gateway.get("//evil.test/%2e%2e//x");
    let location = response.header("location").unwrap_or("/");
    assert!(location.starts_with('/') && !location.starts_with("//"), "{location}");
}

#[test]
fn strict_routes_end_at_a_segment() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        json!({"http_server_options": {"enable_strict_routes": true}}),
        [api("noslash", "/app", &upstream.url()), api("slash", "/dir/", &upstream.url())],
    );
    table(
        &gateway,
        &upstream,
        &[
            ("/app", Target("/")),
            ("/app/x", Target("/x")),
            ("/app?q", Target("/?q")),
            ("/apple", NotFound),
            ("/dir/x", Target("/x")),
            ("/dir", NotFound),
        ],
    );
}

#[test]
fn the_longest_listen_path_wins() {
    let marked = |id: &str, path: &str, upstream: &Upstream| api(id, path, &format!("{}/{id}", upstream.url()));
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        json!({}),
        [
            marked("root", "/", &upstream),
            marked("a", "/a/", &upstream),
            marked("ab", "/a/b/", &upstream),
            marked("abc", "/a/bc", &upstream),
        ],
    );
    table(
        &gateway,
        &upstream,
        &[
            ("/a/x", Target("/a/x")),
            ("/a/b/x", Target("/ab/x")),
            ("/a/bcd", Target("/abc/d")),
            ("/a/b", Target("/a/b")),
            ("/zzz", Target("/root/zzz")),
            ("/", Target("/root")),
        ],
    );
}

#[test]
fn listen_paths_may_be_templates() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        json!({}),
        [
            api("template", "/t/{id}/x/", &upstream.url()),
            api("number", "/n/{number:[0-9]+}/", &upstream.url()),
            api("all", "/whole/{name}/", &upstream.url()).set("proxy/strip_listen_path", false),
            api("fixed", "/t/fixed/x/", &format!("{}/fixed", upstream.url())),
        ],
    );
    table(
        &gateway,
        &upstream,
        &[
            ("/t/12/x/y", Target("/y")),
            ("/t/a%20b/x/y", Target("/y")),
            ("/t/12/x/", Target("/")),
            ("/t//x/y", Redirect("/t/x/y")),
            ("/t/12/z/y", NotFound),
            ("/t/1/2/x/y", NotFound),
            ("/t/fixed/x/y", Target("/fixed/y")),
            ("/n/77/y", Target("/y")),
            ("/n/7a/y", NotFound),
            ("/whole/me/y", Target("/whole/me/y")),
        ],
    );
}

#[test]
fn the_listen_path_is_kept_when_stripping_is_off() {
    let upstream = Upstream::ok();
    let gateway =
        Gateway::start(json!({}), [api("a", "/a/", &format!("{}/base", upstream.url())).set("proxy/strip_listen_path", false)]);
    table(&gateway, &upstream, &[("/a/x", Target("/base/a/x")), ("/a/", Target("/base/a/"))]);
}

#[test]
fn target_path_and_request_path_are_joined_with_one_slash() {
    let upstream = Upstream::ok();
    let to = |path: &str| format!("{}{path}", upstream.url());
    let gateway = Gateway::start(
        json!({}),
        [
            api("bare", "/bare/", &to("")),
            api("root", "/root/", &to("/")),
            api("base", "/base/", &to("/b/p")),
            api("slash", "/slash/", &to("/b/p/")),
            api("kept", "/kept/", &to("/b/p/")).set("proxy/disable_strip_slash", true),
            api("targetq", "/targetq/", &to("/base/?tq=1")),
        ],
    );
    table(
        &gateway,
        &upstream,
        &[
            ("/bare/x", Target("/x")),
            ("/bare/", Target("/")),
            ("/root/x/", Target("/x/")),
            ("/base/x", Target("/b/p/x")),
            ("/base/", Target("/b/p")),
            ("/slash/x", Target("/b/p/x")),
            ("/slash/", Target("/b/p")),
            ("/kept/", Target("/b/p/")),
            ("/kept/x", Target("/b/p/x")),
            ("/targetq/z?q=1", Target("/base/z?tq=1&q=1")),
            ("/targetq/z", Target("/base/z?tq=1")),
        ],
    );
}

#[test]
fn path_and_query_pass_byte_for_byte() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("keyless", "/keyless/", &upstream.url())]);
    for rest in [
        "a%2Fb%20c?x=%2F+y;z",
        "%e2%98%83/%E2%98%83",
        "a%2fb/c%2Fd",
        "a;b=c/d,e",
        "~user/!$&'()*+,;=:@",
        "a?b?c=/../d//e",
        "a%00b",
        "a%25b%2541",
        "?a=%zz",
        "x?a=1&&b=&=c",
        "with%3Fquestion%23mark",
        "%2e%2e%2f",
        "a|b\\c\"d",
    ] {
        upstream.take_targets();
        let response = gateway.get(&format!("/keyless/{rest}"));
        if response.status == 400 || response.status == 301 {
            assert!(rest.contains("%2e") || rest.contains('\\') || rest.contains("%00"), "{rest}: {response}");
            continue;
        }
        assert_eq!(upstream.take_targets(), [format!("/{rest}")]);
    }
}

#[test]
fn an_encoded_letter_matches_the_listen_path() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("keyless", "/keyless/", &upstream.url())]);
    assert_eq!(gateway.get("/keyl%65ss/a").status, 200);
    assert_eq!(gateway.get("/keyless%2Fa").status, 200);
}

#[test]
fn the_upstreams_host_is_sent_unless_the_clients_is_to_be_kept() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        json!({}),
        [api("own", "/own/", &upstream.url()), api("kept", "/kept/", &upstream.url()).set("proxy/preserve_host_header", true)],
    );
    gateway.send("GET /own/ HTTP/1.1\r\nHost: public.test:8080\r\n\r\n");
    assert_eq!(upstream.last().header("host"), Some(upstream.address.to_string().as_str()));
    gateway.send("GET /kept/ HTTP/1.1\r\nHost: public.test:8080\r\n\r\n");
    assert_eq!(upstream.last().header("host"), Some("public.test:8080"));
}

#[test]
fn a_domain_chooses_among_apis_of_the_same_path() {
    let upstream = Upstream::ok();
    let on = |id: &str, domain: &str| api(id, "/a/", &format!("{}/{id}", upstream.url())).set("domain", domain);
    let gateway = Gateway::start(
        json!({"enable_custom_domains": true}),
        [
            on("one", "one.test"),
            on("two", "two.test"),
            on("any", ""),
            on("sub", "{name}.wild.test"),
            on("off", "off.test").set("domain_disabled", true).set("proxy/listen_path", "/off/"),
            api("deep", "/a/deep/", &format!("{}/deep", upstream.url())),
        ],
    );
    let rows = [
        ("one.test", "/a/x", Target("/one/x")),
        ("one.test:8080", "/a/x", Target("/one/x")),
        ("two.test", "/a/x", Target("/two/x")),
        ("three.test", "/a/x", Target("/any/x")),
        ("eu.wild.test", "/a/x", Target("/sub/x")),
        ("a.b.wild.test", "/a/x", Target("/any/x")),
        ("wild.test", "/a/x", Target("/any/x")),
        ("one.test", "/a/deep/x", Target("/one/deep/x")),
        ("three.test", "/a/deep/x", Target("/deep/x")),
        ("three.test", "/off/x", Target("/off/x")),
        ("one.test", "/b/x", NotFound),
    ];
    for (host, target, expect) in rows {
        check(&gateway, &upstream, host, target, &expect);
    }
}

#[test]
fn domains_count_only_when_they_are_enabled() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("one", "/a/", &upstream.url()).set("domain", "one.test")]);
    check(&gateway, &upstream, "other.test", "/a/x", &Target("/x"));
}

#[test]
fn a_hostname_of_the_gateway_binds_every_api_to_it() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({"hostname": "gateway.test"}), [api("a", "/a/", &upstream.url())]);
    check(&gateway, &upstream, "gateway.test", "/a/x", &Target("/x"));
    check(&gateway, &upstream, "gateway.test:99", "/a/x", &Target("/x"));
    check(&gateway, &upstream, "other.test", "/a/x", &NotFound);
}

#[test]
fn two_apis_on_one_path_are_both_served_one_under_another_name() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        json!({}),
        [api("first", "/same", &format!("{}/f", upstream.url())), api("second", "/same", &format!("{}/s", upstream.url()))],
    );
    table(&gateway, &upstream, &[("/same/x", Target("/f/x")), ("/same-second/x", Target("/s/x"))]);
}

#[test]
fn targets_of_a_list_take_turns_beginning_with_the_first() {
    let (first, second) = (Upstream::start(|_| reply("200 OK", &[], "a")), Upstream::start(|_| reply("200 OK", &[], "b")));
    let balanced = |id: &str, path: &str, list: serde_json::Value| {
        api(id, path, "http://unused.test").set("proxy/enable_load_balancing", true).set("proxy/target_list", list)
    };
    let gateway = Gateway::start(
        json!({}),
        [
            balanced("even", "/even/", json!([first.url(), second.url()])),
            balanced("same", "/same/", json!([first.url(), second.url()])),
            balanced("odd", "/odd/", json!([first.url(), first.url(), second.url()])),
            balanced("bare", "/bare/", json!([first.address.to_string(), second.address.to_string()])),
            balanced("path", "/path/", json!([format!("{}/p1/", first.url()), format!("{}/p2", second.url())])),
        ],
    );
    let turns = |path: &str, count: usize| (0..count).map(|_| gateway.get(path).text()).collect::<String>();
    assert_eq!(turns("/even/", 6), "ababab");
    assert_eq!(turns("/odd/", 6), "aabaab");
    assert_eq!(turns("/bare/", 4), "abab");
    let mut client = gateway.connect();
    let on_one: String = (0..6).map(|_| client.ask(get("/same/")).text()).collect();
    assert_eq!(on_one, "ababab");
    first.take_targets();
    second.take_targets();
    turns("/path/x", 2);
    assert_eq!((first.take_targets(), second.take_targets()), (vec!["/p1/x".to_owned()], vec!["/p2/x".to_owned()]));
}

#[test]
fn a_list_of_targets_is_unused_until_balancing_is_enabled() {
    let upstream = Upstream::ok();
    let gateway =
        Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).set("proxy/target_list", json!(["http://127.0.0.1:9"]))]);
    assert_eq!(gateway.get("/a/").status, 200);
}

#[test]
fn an_internal_api_is_reached_only_from_other_apis() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        json!({}),
        [
            api("internal", "/internal/", &format!("{}/in", upstream.url())).set("internal", true).set("name", "InHouse"),
            api("by-id", "/by-id/", "tyk://internal/"),
            api("by-name", "/by-name/", "tyk://InHouse/"),
        ],
    );
    table(
        &gateway,
        &upstream,
        &[
            ("/internal/x", NotFound),
            ("/by-id/x", Target("/in/x")),
            ("/by-id/x?y=1", Target("/in/x?y=1")),
            ("/by-name/x", Target("/in/x")),
        ],
    );
}

#[test]
fn a_loop_runs_the_whole_chain_of_the_other_api() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        json!({}),
        [
            api("locked", "/locked/", &upstream.url()).with_keys(),
            api("marked", "/marked/", &upstream.url()).version("global_headers", json!({"X-Through": "marked"})),
            api("to-locked", "/to-locked/", "tyk://locked/"),
            api("to-marked", "/to-marked/", "tyk://marked/"),
        ],
    );
    let refused = gateway.get("/to-locked/x");
    assert_eq!((refused.status, refused.text()), (401, error_json("Authorization field missing")));
    assert_eq!(gateway.get("/to-marked/x").status, 200);
    assert_eq!(upstream.last().header("x-through"), Some("marked"));
}

#[test]
fn a_loop_may_change_the_method() {
    let upstream = Upstream::ok();
    let entry = json!([{"path": "/x", "method": "GET", "match_pattern": "/x", "rewrite_to": "tyk://inner/y?method=POST&kept=1"}]);
    let gateway = Gateway::start(
        json!({}),
        [api("inner", "/inner/", &upstream.url()), api("outer", "/outer/", &upstream.url()).list("url_rewrites", entry)],
    );
    assert_eq!(gateway.get("/outer/x").status, 200);
    let seen = upstream.last();
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/y?kept=1"));
}

#[test]
fn loops_end() {
    let gateway = Gateway::start(
        json!({}),
        [
            api("a", "/a/", "tyk://b/"),
            api("b", "/b/", "tyk://a/"),
            api("self", "/self/", "tyk://self/"),
            api("lost", "/lost/", "tyk://nobody/"),
        ],
    );
    let mut client = gateway.connect();
    for path in ["/a/x", "/self/x"] {
        let response = client.ask(get(path));
        assert_eq!(
            (response.status, response.text()),
            (500, error_json("Loop level too deep. Found more than 5 loops in single request")),
            "{path}"
        );
    }
    let lost = client.ask(get("/lost/x"));
    assert_eq!(lost.status, 500, "{lost}");
    assert!(lost.text().contains("detect loop target"), "{lost}");
}

#[test]
fn an_api_marked_inactive_is_served_all_the_same() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).set("active", false)]);
    assert_eq!(gateway.get("/a/").status, 200);
}

#[test]
fn unusable_definitions_do_not_keep_the_others_from_being_served() {
    let upstream = Upstream::ok();
    let good = api("good", "/good/", &upstream.url());
    let gateway = Setup::new(json!({}))
        .api(good.clone())
        .api(api("empty-path", "", &upstream.url()))
        .api(api("space", "/with space/", &upstream.url()))
        .api(api("no-slash", "bare/", &upstream.url()))
        .file("broken.json", "{\"api_id\": ")
        .file("wrong-type.json", "{\"api_id\": \"w\", \"proxy\": {\"listen_path\": 7}}")
        .file("nothing.json", "")
        .file("binary.json", vec![0xff, 0xfe, 0x00])
        .file("notes.txt", "not a definition")
        .file("deeper/below.json", api("below", "/below/", &upstream.url()).0.to_string())
        .start();
    table(
        &gateway,
        &upstream,
        &[("/good/x", Target("/x")), ("/bare/x", Target("/x")), ("/below/x", NotFound), ("/with%20space/x", NotFound)],
    );
}

#[test]
fn fields_of_the_wrong_case_or_unknown_fields_are_no_reason_to_refuse() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(
        json!({"some_unknown_field": {"deep": [1, 2]}}),
        [api("a", "/a/", &upstream.url()).set("x_unknown", json!({"a": 1})).set("proxy/unknown", json!([1]))],
    );
    assert_eq!(gateway.get("/a/").status, 200);
}

#[test]
fn a_thousand_apis_do_not_get_into_each_others_way() {
    let upstream = Upstream::start(|seen| reply("200 OK", &[], &seen.target));
    let apis: Vec<Definition> = (0..1000)
        .map(|number| api(&format!("id{number}"), &format!("/api{number}/"), &format!("{}/{number}", upstream.url())))
        .collect();
    let gateway = Gateway::start(json!({}), apis);
    let mut client = gateway.connect();
    for number in [0, 1, 10, 99, 100, 500, 999] {
        assert_eq!(client.ask(get(&format!("/api{number}/x"))).text(), format!("/{number}/x"));
    }
    assert_eq!(client.ask(get("/api1000/x")).status, 404);
}

#[test]
fn the_sample_definition_of_the_quickstart_kind_is_served_unchanged() {
    let upstream = Upstream::start(|_| ok());
    let gateway = Gateway::start(
        json!({}),
        [Definition(json!({
            "name": "Sample",
            "api_id": "1",
            "org_id": "default",
            "definition": {"location": "header", "key": "x-api-version"},
            "use_keyless": true,
            "auth": {"auth_header_name": ""},
            "version_data": {
                "not_versioned": true,
                "versions": {
                    "Default": {
                        "name": "Default",
                        "expires": "3000-01-02 15:04",
                        "use_extended_paths": true,
                        "extended_paths": {"ignored": [], "white_list": [], "black_list": []}
                    }
                }
            },
            "proxy": {"listen_path": "/quickstart/", "target_url": upstream.url(), "strip_listen_path": true},
            "do_not_track": true
        }))],
    );
    let response = gateway.send(request("GET", "/quickstart/get", &[], ""));
    assert_eq!((response.status, response.text().as_str()), (200, "ok"));
    assert_eq!(response.header("x-tyk-api-expires"), Some("Thu, 02 Jan 3000 15:04:00 UTC"));
    assert_eq!(response.header("x-ratelimit-limit"), Some("0"));
    assert_eq!(upstream.last().target, "/get");
}

#[test]
fn two_apis_of_one_host_in_different_letter_case_collide() {
    let upstream = Upstream::ok();
    let of = |id: &str, domain: &str| api(id, "/a/", &upstream.url()).set("domain", domain);
    let gateway = Gateway::start(json!({"enable_custom_domains": true}), [of("one", "shop.test"), of("two", "SHOP.test.")]);
    assert!(gateway.log().contains("/a/ is taken by another API"), "{}", gateway.log());
}

/// Which of several APIs gets a request and what its upstream sees, recorded from Tyk 5.14.0: the target starts with the number of the listen
/// path; it is empty where no API answers. The last column is with `enable_strict_routes`.
#[test]
fn listen_paths_are_chosen_as_in_tyk() {
    let listen_paths = [
        "/",
        "/a/",
        "/a/b/",
        "/{id}/",
        "/{id}",
        "/api/{tenant}/",
        "/api/acme/",
        "/api/{tenant:[0-9]+}/",
        "/api/{tenant}/v{n}/",
        "/n",
        "/n/m",
        "/v{n}/x/",
    ];
    let rows = [
        ("/", "/t0", "/t0"),
        ("/q", "/t0/q", "/t0/q"),
        ("/a", "/t0/a", "/t0/a"),
        ("/a/", "/t1", "/t1"),
        ("/a/x", "/t1/x", "/t1/x"),
        ("/a/b", "/t1/b", "/t1/b"),
        ("/a/b/x", "/t2/x", "/t2/x"),
        ("/z/", "/t3", "/t3"),
        ("/z/y", "/t3/y", "/t3/y"),
        ("/api/", "/t3", "/t3"),
        ("/api/x", "/t3/x", "/t3/x"),
        ("/api/acme/x", "/t6/x", "/t6/x"),
        ("/api/12/x", "/t5/x", "/t5/x"),
        ("/api/other/x", "/t5/x", "/t5/x"),
        ("/api/other/v2/x", "/t8/x", "/t8/x"),
        ("/api/acme/v2/x", "/t8/x", "/t8/x"),
        ("/n", "/t9", "/t9"),
        ("/n/", "/t3", "/t3"),
        ("/n/m", "/t10", "/t10"),
        ("/v2/x/y", "/t11/y", "/t11/y"),
        ("/v/x/y", "/t3/x/y", "/t3/x/y"),
        ("/%61/x", "/t1/x", "/t1/x"),
        ("/a%2Fb/x", "/t2/x", "/t2/x"),
        ("/A/x", "/t3/x", "/t3/x"),
    ];
    // Left out: with strict routes Tyk answers 404 to /nx and /n/mx; here the next API gets what is not below a listen path.
    let upstream = Upstream::ok();
    for strict in [false, true] {
        let apis = listen_paths.iter().enumerate();
        let apis = apis.map(|(number, path)| api(&format!("s{number}"), path, &format!("{}/t{number}", upstream.url())));
        let gateway = Gateway::start(json!({"http_server_options": {"enable_strict_routes": strict}}), apis);
        for (target, expect, expect_strict) in rows {
            let expect = if strict { expect_strict } else { expect };
            upstream.take_targets();
            gateway.get(target);
            assert_eq!(upstream.take_targets().concat(), expect, "{target}, strict: {strict}");
        }
    }
}

#[test]
fn a_rewrite_is_matched_behind_the_listen_path_only() {
    let upstream = Upstream::ok();
    let rewrites = |path: &str| json!([{"path": path, "method": "GET", "match_pattern": ".*", "rewrite_to": "/rewritten"}]);
    let headers = |path: &str| json!([{"path": path, "method": "GET", "add_headers": {"X-Hit": "yes"}}]);
    for prefix in [false, true] {
        let rw = api("rw", "/users/rw/", &upstream.url())
            .list("url_rewrites", rewrites("/users"))
            .list("transform_headers", headers("/rw"));
        let root = api("root", "/root/", &upstream.url()).list("url_rewrites", rewrites("/{id}"));
        let listed = api("listed", "/users/listed/", &upstream.url()).list("black_list", json!([{"path": "/users"}]));
        let options = json!({"http_server_options": {"enable_path_prefix_matching": prefix}});
        let gateway = Gateway::start(options, [rw, root, listed]);
        table(
            &gateway,
            &upstream,
            &[
                ("/users/rw/list", Target("/list")),
                ("/users/rw/users", Target("/rewritten")),
                ("/root/", Target("/")),
                ("/root/7", Target("/rewritten")),
            ],
        );
        assert!(upstream.seen().iter().all(|seen| seen.header("x-hit").is_none()));
        assert_eq!(gateway.get("/users/listed/list").status, 403, "access lists see the whole path");
    }
}
