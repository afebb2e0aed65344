//! Where clients of MCP proxies learn who gives them tokens. The answers are those that Tyk 5.14.0 gave to the same requests, except where a comment
//! says otherwise.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::harness::{Gateway, Response, Upstream, eventually, reply, request};

/// An upstream whose authorization server is on the same host, below `/as`.
fn upstream(server: Option<String>) -> Upstream {
    Upstream::start(move |seen| {
        let own = format!("http://{}", seen.header("host").unwrap_or_default());
        let server = server.clone().unwrap_or_else(|| format!("{own}/as"));
        let json = |value: Value| reply("200 OK", &["Content-Type: application/json"], &value.to_string());
        match seen.target.split('?').next().unwrap_or_default() {
            "/.well-known/oauth-protected-resource/mcp" => json(json!({
                "resource": format!("{own}/mcp"), "authorization_servers": [server], "bearer_methods_supported": ["header"], "x_custom": 1,
            })),
            "/.well-known/oauth-authorization-server/as" => json(json!({
                "issuer": server, "authorization_endpoint": format!("{server}/authorize?x=1"), "token_endpoint": format!("{server}/token"),
                "registration_endpoint": format!("{server}/register"),
            })),
            "/as/token" => {
                reply("200 OK", &["Content-Type: application/json", "Cache-Control: no-store"], "{\"access_token\":\"t\"}")
            }
            _ => match seen.header("x-challenge") {
                Some(challenge) => reply("401 Unauthorized", &[&format!("WWW-Authenticate: {challenge}")], "{}"),
                None => reply("200 OK", &[], "upstream"),
            },
        }
    })
}

fn document(id: &str, upstream: &Upstream, metadata: Option<Value>) -> Value {
    let mut document = json!({
        "openapi": "3.0.3", "info": {"title": id, "version": "1"}, "paths": {},
        "x-tyk-api-gateway": {
            "info": {"id": id, "name": id, "state": {"active": true}}, "upstream": {"url": format!("{}/mcp", upstream.url())},
            "server": {"listenPath": {"value": format!("/{id}/"), "strip": true}},
        },
    });
    if let Some(metadata) = metadata {
        document["components"] =
            json!({"securitySchemes": {"authToken": {"type": "apiKey", "in": "header", "name": "Authorization"}}});
        document["security"] = json!([{"authToken": []}]);
        let mut authentication = json!({"enabled": true, "securitySchemes": {"authToken": {"enabled": true}}});
        if !metadata.is_null() {
            authentication["protectedResourceMetadata"] = metadata;
        }
        document["x-tyk-api-gateway"]["server"]["authentication"] = authentication;
    }
    document
}

fn started(upstream: &Upstream) -> Gateway {
    let gateway = Gateway::start(json!({}), []);
    let fixed = json!({"enabled": true, "resource": "https://gw.example/static", "authorizationServers": ["https://as.example"], "scopesSupported": ["a", "b"]});
    for (id, metadata) in
        [("open", None), ("keyed", Some(Value::Null)), ("static", Some(fixed)), ("noprm", Some(json!({"enabled": false})))]
    {
        let answer = gateway.control("POST", "/tyk/mcps", &document(id, upstream, metadata).to_string());
        assert_eq!(answer.status, 200, "{answer}");
    }
    gateway
}

fn asked(gateway: &Gateway, path: &str) -> Response {
    gateway.send(request("GET", path, &["Connection: close"], ""))
}

#[test]
fn the_document_is_the_upstreams_with_the_gateways_urls() {
    let upstream = upstream(None);
    let gateway = started(&upstream);
    for id in ["open", "keyed"] {
        let expected = format!(
            "{{\"authorization_servers\":[\"http://gateway.test/__tyk-as/{id}\"],\"bearer_methods_supported\":[\"header\"],\
             \"resource\":\"http://gateway.test/{id}/\",\"x_custom\":1}}\n"
        );
        for path in [
            format!("/{id}/.well-known/oauth-protected-resource"),
            format!("/.well-known/oauth-protected-resource/{id}"),
            format!("/.well-known/oauth-protected-resource/{id}/"),
        ] {
            let answer = asked(&gateway, &path);
            assert_eq!(
                (answer.status, answer.text(), answer.header("content-type")),
                (200, expected.clone(), Some("application/json")),
                "{path}"
            );
        }
    }
    assert_eq!(upstream.take_targets(), ["/.well-known/oauth-protected-resource/mcp"], "both have the same upstream");
    let secure = gateway.send(request(
        "GET",
        "/.well-known/oauth-protected-resource/open",
        &["X-Forwarded-Proto: https", "Connection: close"],
        "",
    ));
    assert_eq!(secure.json()["resource"], "https://gateway.test/open/");
    // What a definition says itself, and what it does not want.
    let fixed = "{\"resource\":\"https://gw.example/static\",\"authorization_servers\":[\"https://as.example\"],\"scopes_supported\":[\"a\",\"b\"]}\n";
    for path in [
        "/static/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/static",
        "/.well-known/oauth-protected-resource/static/",
    ] {
        assert_eq!(asked(&gateway, path).text(), fixed, "{path}");
    }
    for (path, status) in [
        ("/noprm/.well-known/oauth-protected-resource", 401),
        ("/.well-known/oauth-protected-resource/noprm", 404),
        ("/.well-known/oauth-protected-resource/noprm/", 404),
        ("/.well-known/oauth-protected-resource/open/below", 404),
        ("/.well-known/oauth-authorization-server/__tyk-as/static", 404),
        ("/.well-known/oauth-authorization-server/__tyk-as/noprm", 404),
        ("/__tyk-as/static/authorize", 404),
    ] {
        assert_eq!(asked(&gateway, path).status, status, "{path}");
    }
    assert_eq!(upstream.take_targets(), Vec::<String>::new());
}

#[test]
fn the_front_of_the_authorization_server_names_the_resource_as_the_server_knows_it() {
    let upstream = upstream(None);
    let gateway = started(&upstream);
    let server = format!("{}/as", upstream.url());
    let metadata = asked(&gateway, "/.well-known/oauth-authorization-server/__tyk-as/keyed").json();
    let front = "http://gateway.test/__tyk-as/keyed";
    assert_eq!(
        metadata,
        json!({
            "authorization_endpoint": format!("{front}/authorize"), "issuer": server, "registration_endpoint": format!("{server}/register"),
            "token_endpoint": format!("{front}/token"),
        })
    );
    let answer = asked(&gateway, "/__tyk-as/keyed/authorize?client_id=c&resource=http%3A%2F%2Fgw%2Fkeyed%2F&state=s");
    let resource = upstream.url().replace(':', "%3A").replace('/', "%2F") + "%2Fmcp";
    let location = format!("{server}/authorize?client_id=c&resource={resource}&state=s&x=1");
    assert_eq!((answer.status, answer.header("location")), (302, Some(location.as_str())));
    let form = "grant_type=authorization_code&code=x&resource=http%3A%2F%2Fgw%2Fkeyed%2F";
    let lines = ["Authorization: Basic YTpi", "Content-Type: application/x-www-form-urlencoded", "Connection: close"];
    let answer = gateway.send(request("POST", "/__tyk-as/keyed/token", &lines, form));
    assert_eq!(
        (answer.status, answer.text().as_str(), answer.header("cache-control")),
        (200, "{\"access_token\":\"t\"}", Some("no-store"))
    );
    let seen = upstream.last();
    assert_eq!((seen.target.as_str(), seen.header("authorization")), ("/as/token", Some("Basic YTpi")));
    assert!(seen.text().ends_with(&format!("code=x&grant_type=authorization_code&resource={resource}")), "{}", seen.text());
    // Other methods are none of theirs.
    assert_eq!(asked(&gateway, "/__tyk-as/keyed/token").status, 405);
    let targets = upstream.take_targets();
    assert_eq!(targets.iter().filter(|target| target.contains("well-known")).count(), 2, "{targets:?}");
}

#[test]
fn a_document_never_leads_the_gateway_to_inner_servers() {
    let inner = Upstream::ok();
    let of = |server: &str| upstream(Some(server.to_owned()));
    for server in [inner.url().to_owned(), inner.url().replace("127.0.0.1", "localhost"), "ftp://x/".to_owned(), "//x".to_owned()] {
        let upstream = of(&server);
        let gateway = started(&upstream);
        for path in ["/.well-known/oauth-authorization-server/__tyk-as/open", "/__tyk-as/open/authorize"] {
            assert_eq!(asked(&gateway, path).status, 502, "{server} {path}");
        }
        let answer =
            gateway.send(request("POST", "/__tyk-as/open/token", &["Content-Type: application/x-www-form-urlencoded"], "a=b"));
        assert_eq!(answer.status, 502, "{server}");
    }
    assert_eq!(inner.requests(), 0);
    // An operator may allow it, as for redirects.
    let upstream = of(&inner.url());
    let gateway = Gateway::start(json!({"tollgate": {"events": {"redirect_networks": ["127.0.0.0/8"]}}}), []);
    assert_eq!(gateway.control("POST", "/tyk/mcps", &document("open", &upstream, None).to_string()).status, 200);
    assert_eq!(asked(&gateway, "/.well-known/oauth-authorization-server/__tyk-as/open").status, 502);
    assert!(inner.requests() > 0);
}

#[test]
fn an_upstream_without_a_document_has_none_here_and_is_asked_again_soon() {
    let has = Arc::new(AtomicBool::new(false));
    let (told, huge) = (has.clone(), Arc::new(AtomicBool::new(false)));
    let is_huge = huge.clone();
    let upstream = Upstream::start(move |_| match told.load(Ordering::SeqCst) {
        false => reply("404 Not Found", &[], "none"),
        true if is_huge.load(Ordering::SeqCst) => reply("200 OK", &[], &format!("{{\"a\":\"{}\"}}", "x".repeat(70_000))),
        true => reply("200 OK", &[], "{}"),
    });
    let gateway = started(&upstream);
    let path = "/open/.well-known/oauth-protected-resource";
    for _ in 0..5 {
        // Tyk sends the request on to the upstream, or answers 502 at the root.
        assert_eq!(asked(&gateway, path).status, 404);
    }
    assert!(upstream.requests() <= 2, "{}", upstream.requests());
    huge.store(true, Ordering::SeqCst);
    has.store(true, Ordering::SeqCst);
    eventually("it is asked again", || asked(&gateway, path).status == 502);
    huge.store(false, Ordering::SeqCst);
    eventually("the document is small enough", || asked(&gateway, path).status == 200);
}

#[test]
fn challenges_and_documents_at_the_root_of_the_upstream() {
    let upstream = upstream(None);
    let gateway = started(&upstream);
    let challenged = |id: &str, challenge: &str| {
        let lines = [&format!("X-Challenge: {challenge}"), "Connection: close"];
        gateway.send(request("GET", &format!("/{id}/"), &lines, "")).header("www-authenticate").map(str::to_owned)
    };
    let own = "resource_metadata=\"http://gateway.test/.well-known/oauth-protected-resource/open\"";
    let theirs = "Bearer realm=\"x\", resource_metadata=\"http://up/.well-known/oauth-protected-resource\"";
    assert_eq!(challenged("open", theirs), Some(format!("Bearer realm=\"x\", {own}")));
    assert_eq!(challenged("open", "Bearer"), Some(format!("Bearer, {own}")));
    // The gateway's own challenge.
    let expected = "Bearer realm=\"tyk\", resource_metadata=\"http://gateway.test/keyed/.well-known/oauth-protected-resource\"";
    assert_eq!(challenged("keyed", "Bearer").as_deref(), Some(expected));
    assert_eq!(challenged("noprm", "Bearer"), None);
    upstream.take_targets();
    for (path, target) in [
        ("/open/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server"),
        ("/open/.well-known/openid-configuration/x?y=1", "/.well-known/openid-configuration/x?y=1"),
        ("/open/.well-known/jwks.json", "/mcp/.well-known/jwks.json"),
    ] {
        assert_eq!(asked(&gateway, path).status, 200, "{path}");
        assert_eq!(upstream.last().target, target);
    }
}
