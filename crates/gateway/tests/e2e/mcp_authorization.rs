//! Clients that register at the gateway, which is the only client that the identity provider knows: an official client of the Model Context Protocol
//! before oidc-provider, and what others try.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::certificates::Authority;
use crate::harness::definition::merge;
use crate::harness::nginx::Nginx;
use crate::harness::oauth::encoded;
use crate::harness::tokens::{policy, with_tokens};
use crate::harness::{ChildProcess, Gateway, Response, Setup, Upstream, api, reply};
use crate::openid_provider::packages;
use crate::servers::free_port;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/mcp_authorization.mjs");
pub(crate) const CLIENT: &str = r#"{"client_name": "<b>Bold</b>", "redirect_uris": ["http://127.0.0.1:7777/back"]}"#;
pub(crate) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

/// Starts the provider.
fn provider(packages: &Path, port: u16, callback: &str, method: &str) -> ChildProcess {
    let mut command = Command::new("node");
    command.args([SCRIPT, "provider"]).arg(packages).args([&port.to_string(), callback]).env("AUTH_METHOD", method);
    let mut process = ChildProcess::start(command.stdout(Stdio::piped()).stderr(Stdio::null()));
    let mut line = String::new();
    BufReader::new(process.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    process
}

/// An MCP server with one tool.
pub(crate) fn server() -> Upstream {
    Upstream::start(|seen| {
        let asked: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let result = match asked["method"].as_str().unwrap_or_default() {
            "initialize" => {
                json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
            }
            "tools/list" => json!({"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]}),
            "tools/call" => json!({"content": [{"type": "text", "text": "said"}]}),
            _ if seen.method == "GET" => return reply("405 Method Not Allowed", &[], ""),
            _ => return reply("202 Accepted", &[], ""),
        };
        let response = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
        reply("200 OK", &["Content-Type: application/json"], &response.to_string())
    })
}

/// An identity provider that lets everybody in.
pub(crate) fn issuer() -> Upstream {
    Upstream::start(|seen| {
        let own = format!("http://{}", seen.header("host").unwrap_or_default());
        let metadata = json!({"issuer": own, "authorization_endpoint": format!("{own}/auth?fixed=1"), "token_endpoint": format!("{own}/token")});
        match seen.target.as_str() {
            "/.well-known/openid-configuration" => reply("200 OK", &["Content-Type: application/json"], &metadata.to_string()),
            "/token" if seen.text().contains("code=bad") => {
                let error = "{\"error\": \"invalid_client\", \"error_description\": \"no such secret\"}";
                reply("401 Unauthorized", &["Content-Type: application/json"], error)
            }
            "/token" => {
                let given = "{\"access_token\": \"a\", \"id_token\": \"i\", \"refresh_token\": \"r\"}";
                reply("200 OK", &["Content-Type: application/json"], given)
            }
            _ => reply("404 Not Found", &[], ""),
        }
    })
}

fn start(server: &Upstream, issuer: &str) -> Gateway {
    start_with(json!({}), server, issuer)
}

fn start_with(conf: Value, server: &Upstream, issuer: &str) -> Gateway {
    start_trusting(conf, None, server, issuer)
}

/// The same, with the authorities in a file in place of the system's.
pub(crate) fn start_trusting(conf: Value, roots: Option<&Path>, server: &Upstream, issuer: &str) -> Gateway {
    let proxy = json!({"issuer": issuer, "client_id": "the-gateway", "client_secret": "$secret_conf.provider", "scopes": ["read"]});
    let tools = with_tokens("tools", server)
        .set("application_protocol", "mcp")
        .set("jwt_signing_method", "rsa")
        .set("jwt_source", format!("{issuer}/jwks"))
        .set("tollgate/authorization_proxy", proxy);
    let rights = json!({"tools": {"api_id": "tools", "versions": ["Default"]}});
    let file = tempfile::NamedTempFile::new().unwrap();
    let policies = json!({"basic": policy("basic", json!({"access_rights": rights}))});
    std::fs::write(file.path(), policies.to_string()).unwrap();
    let secrets = json!({"provider": "the secret of the gateway & more"});
    let mut all = json!({"policies": {"policy_record_name": file.path()}, "secrets": secrets});
    merge(&mut all, &conf);
    let setup = Setup::new(all).api(tools);
    match roots {
        Some(roots) => setup.env("SSL_CERT_FILE", roots.to_str().unwrap()).start(),
        None => setup.start(),
    }
}

pub(crate) fn own(gateway: &Gateway, endpoint: &str) -> String {
    format!("http://127.0.0.1:{}/__tyk-as/tools{endpoint}", gateway.port)
}

/// A request as browsers and clients at the gateway's own address send it.
pub(crate) fn send(gateway: &Gateway, method: &str, path: &str, lines: &[&str], body: &str) -> Response {
    let host = format!("Host: 127.0.0.1:{}", gateway.port);
    let lines = [&[host.as_str()], lines].concat();
    let lines: Vec<&str> = lines.into_iter().collect();
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    for line in lines {
        text.push_str(line);
        text.push_str("\r\n");
    }
    gateway.send(format!("{text}\r\n{body}").into_bytes())
}

pub(crate) fn post_form(gateway: &Gateway, endpoint: &str, lines: &[&str], fields: &[(&str, &str)]) -> Response {
    let body = form_of(fields);
    let origin = format!("Origin: http://127.0.0.1:{}", gateway.port);
    let has_origin = lines.iter().any(|line| line.starts_with("Origin:"));
    let lines = [&["Content-Type: application/x-www-form-urlencoded"], lines].concat();
    let lines = if has_origin { lines } else { [lines.as_slice(), &[&origin]].concat() };
    send(gateway, "POST", &format!("/__tyk-as/tools/{endpoint}"), &lines, &body)
}

fn form_of(fields: &[(&str, &str)]) -> String {
    fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
}

pub(crate) fn register(gateway: &Gateway, body: &str) -> Response {
    send(gateway, "POST", "/__tyk-as/tools/register", &["Content-Type: application/json"], body)
}

pub(crate) fn authorize(gateway: &Gateway, lines: &[&str], fields: &[(&str, &str)]) -> Response {
    send(gateway, "GET", &format!("/__tyk-as/tools/authorize?{}", form_of(fields)), lines, "")
}

/// What a page has as the value of a hidden field.
pub(crate) fn hidden(page: &str) -> String {
    page.split("name=\"request\" value=\"").nth(1).unwrap_or_else(|| panic!("{page}")).split('"').next().unwrap().to_owned()
}

#[test]
fn an_official_client_registers_signs_its_user_in_and_gets_new_tokens() {
    let Some(packages) = packages() else { return };
    let server = server();
    for method in ["client_secret_basic", "client_secret_post"] {
        let port = free_port();
        let gateway = start(&server, &format!("http://127.0.0.1:{port}"));
        let _provider = provider(&packages, port, &own(&gateway, "/callback"), method);
        let mut command = Command::new("node");
        let output = command
            .args([SCRIPT, "client"])
            .arg(&packages)
            .arg(format!("http://127.0.0.1:{}/tools/", gateway.port))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}{}", String::from_utf8_lossy(&output.stderr), gateway.log());
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&found["names"], &found["said"]), (&json!(["hello"]), &json!("said")));
        assert_eq!(found["refreshed"], true, "{found}");
        let tokens: Vec<&str> = found["tokens"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(tokens.contains(&"refresh_token") && !tokens.contains(&"id_token"), "that is for the gateway: {tokens:?}");
        assert!(found["url"].as_str().unwrap().starts_with(&own(&gateway, "/authorize?")), "{found}");
        let end = found["end"].as_str().unwrap();
        assert!(
            end.starts_with("http://127.0.0.1:7777/back?code=") && end.contains("state=the+client%27s+own+state+%26+more"),
            "{end}"
        );
        // A refresh token is good for its client alone.
        let other = register(&gateway, CLIENT).json()["client_id"].as_str().unwrap().to_owned();
        for (client, status) in [(other.as_str(), 400), (found["client"]["client_id"].as_str().unwrap(), 200)] {
            let fields =
                [("grant_type", "refresh_token"), ("refresh_token", found["refresh"].as_str().unwrap()), ("client_id", client)];
            assert_eq!(post_form(&gateway, "token", &[], &fields).status, status);
        }
        // A code that was used is used up, and was good with its verifier alone.
        let code = end.split("code=").nth(1).unwrap().split('&').next().unwrap();
        for (client, verifier) in [(&other, VERIFIER), (&other, found["verifier"].as_str().unwrap())] {
            let fields = [("grant_type", "authorization_code"), ("code", code), ("client_id", client), ("code_verifier", verifier)];
            let answer = post_form(&gateway, "token", &[], &fields);
            assert_eq!((answer.status, &answer.json()["error"]), (400, &json!("invalid_grant")), "{}", answer.text());
        }
        gateway.expect_no_panic();
    }
}

#[test]
fn two_gateways_behind_a_tls_proxy_are_one() {
    let Some(packages) = packages() else { return };
    let (server, port, tls_port) = (server(), free_port(), free_port());
    let issuer = format!("http://127.0.0.1:{port}");
    let gateways = [0, 1].map(|_| start_with(json!({"tollgate": {"trusted_proxies": ["127.0.0.1"]}}), &server, &issuer));
    let (folder, authority) = (tempfile::tempdir().unwrap(), Authority::new("the proxy's"));
    let certificate = authority.issue(&["localhost"]).write(folder.path(), "proxy.pem");
    let roots = folder.path().join("roots.pem");
    std::fs::write(&roots, authority.pem()).unwrap();
    // One request to this gateway, the next to that one.
    let _proxy = Nginx::start_at(
        free_port(),
        &format!("upstream both {{ server 127.0.0.1:{}; server 127.0.0.1:{}; }}", gateways[0].port, gateways[1].port),
        &format!(
            "listen 127.0.0.1:{tls_port} ssl; ssl_certificate {0}; ssl_certificate_key {0};
             location / {{
               proxy_pass http://both; proxy_http_version 1.1; proxy_buffering off; proxy_set_header Connection '';
               proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto https; proxy_set_header X-Forwarded-For $remote_addr;
             }}",
            certificate.display()
        ),
    );
    let outside = format!("https://localhost:{tls_port}");
    let _provider = provider(&packages, port, &format!("{outside}/__tyk-as/tools/callback"), "client_secret_basic");
    let mut command = Command::new("node");
    command.args([SCRIPT, "client"]).arg(&packages).arg(format!("{outside}/tools/")).env("NODE_EXTRA_CA_CERTS", &roots);
    let output = command.output().unwrap();
    let logs = || gateways.each_ref().map(Gateway::log).join("\n");
    assert!(output.status.success(), "{}{}", String::from_utf8_lossy(&output.stderr), logs());
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["said"], &found["refreshed"]), (&json!("said"), &json!(true)));
    assert!(found["url"].as_str().unwrap().starts_with(&format!("{outside}/__tyk-as/tools/authorize?")), "{found}");
    gateways.iter().for_each(Gateway::expect_no_panic);
}

#[test]
fn nobody_is_sent_anywhere_without_consent_and_to_nobody_unknown() {
    let (server, issuer) = (server(), issuer());
    let gateway = start(&server, &issuer.url());
    // The documents say who gives tokens.
    let resource = send(&gateway, "GET", "/.well-known/oauth-protected-resource/tools", &[], "").json();
    assert_eq!(
        (&resource["authorization_servers"], &resource["scopes_supported"]),
        (&json!([own(&gateway, "")]), &json!(["read"]))
    );
    let metadata = send(&gateway, "GET", "/.well-known/oauth-authorization-server/__tyk-as/tools", &[], "").json();
    assert_eq!(
        (&metadata["issuer"], &metadata["registration_endpoint"]),
        (&json!(own(&gateway, "")), &json!(own(&gateway, "/register")))
    );

    for (body, error) in [
        ("{", "invalid_client_metadata"),
        ("{}", "invalid_redirect_uri"),
        (r#"{"redirect_uris": ["https://evil.example/"]}"#, "invalid_redirect_uri"),
        (r#"{"redirect_uris": ["http://localhost@evil.example/"]}"#, "invalid_redirect_uri"),
        (r#"{"redirect_uris": ["javascript:alert(1)"]}"#, "invalid_redirect_uri"),
        (&json!({"redirect_uris": vec!["http://localhost/"; 11]}).to_string(), "invalid_redirect_uri"),
    ] {
        let refused = register(&gateway, body);
        assert_eq!((refused.status, &refused.json()["error"]), (400, &json!(error)), "{body}");
    }
    let registered = register(&gateway, CLIENT);
    assert_eq!(registered.status, 201);
    let id = registered.json()["client_id"].as_str().unwrap().to_owned();

    // Who is not known, or wants users elsewhere, gets nobody; other mistakes are told to the client.
    let good = [
        ("client_id", id.as_str()),
        ("response_type", "code"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("redirect_uri", "http://127.0.0.1:7999/back"),
        ("state", "s"),
    ];
    let without = |name: &str| good.iter().copied().filter(|(own, _)| *own != name).collect::<Vec<_>>();
    let with = |name: &'static str, value: &'static str| [without(name), vec![(name, value)]].concat();
    let twice = [good.as_slice(), &[("redirect_uri", "https://evil.example/")]].concat();
    for fields in [
        with("client_id", "none"),
        without("client_id"),
        with("redirect_uri", "https://evil.example/"),
        with("redirect_uri", "http://127.0.0.1:7777/back/../x"),
        with("redirect_uri", "http://localhost:7777/back"),
        twice,
    ] {
        let refused = authorize(&gateway, &[], &fields);
        assert_eq!((refused.status, refused.header("location")), (400, None), "{fields:?}");
    }
    for (fields, error) in [
        ([good.as_slice(), &[("scope", "admin")]].concat(), "invalid_scope"),
        (without("code_challenge"), "invalid_request"),
        (with("code_challenge_method", "plain"), "invalid_request"),
        (with("response_type", "token"), "unsupported_response_type"),
    ] {
        let told = authorize(&gateway, &[], &fields);
        let location = told.header("location").unwrap();
        assert!(
            location.starts_with("http://127.0.0.1:7999/back?error=") && location.contains(error) && location.contains("state=s"),
            "{location}"
        );
    }

    // The user is asked, and sees who asks.
    let page = authorize(&gateway, &[], &good);
    let text = page.text();
    assert_eq!(page.status, 200);
    assert!(
        text.contains("&lt;b&gt;Bold&lt;/b&gt;") && !text.contains("<b>") && text.contains("http://127.0.0.1:7999/back"),
        "{text}"
    );
    assert!(page.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"));
    let cookie = format!("Cookie: {}", page.header("set-cookie").unwrap().split(';').next().unwrap());
    let asked = hidden(&text);
    let elsewhere = format!("{}x", cookie.get(..cookie.len() - 1).unwrap());
    for (lines, request) in [(vec![], asked.as_str()), (vec![elsewhere.as_str()], &asked), (vec![cookie.as_str()], "forged")] {
        let refused = post_form(&gateway, "authorize", &lines, &[("request", request), ("decision", "agree")]);
        assert_eq!((refused.status, refused.header("location")), (400, None));
    }
    // Another site cannot agree in the user's name, nor with a second cookie.
    let second = format!("{cookie}; {}", cookie.strip_prefix("Cookie: ").unwrap());
    for lines in
        [vec![cookie.as_str(), "Origin: https://evil.example"], vec![cookie.as_str(), "Origin: null"], vec![second.as_str()]]
    {
        let refused = post_form(&gateway, "authorize", &lines, &[("request", &asked), ("decision", "agree")]);
        assert_eq!((refused.status, refused.header("location")), (400, None), "{lines:?}");
    }
    let refused = post_form(&gateway, "authorize", &[&cookie], &[("request", &asked), ("decision", "refuse")]);
    assert!(refused.header("location").unwrap().starts_with("http://127.0.0.1:7999/back?error=access_denied"));
    // Without consent, there is no way around the page.
    let skipped = send(&gateway, "GET", &format!("/__tyk-as/tools/callback?code=c&state={asked}"), &[&cookie], "");
    assert_eq!((skipped.status, skipped.header("location")), (400, None));

    let agreed = post_form(&gateway, "authorize", &[&cookie], &[("request", &asked), ("decision", "agree")]);
    let location = agreed.header("location").unwrap().to_owned();
    let (endpoint, query) = location.split_once('?').unwrap();
    assert_eq!(endpoint, format!("{}/auth", issuer.url()));
    let state = query.split('&').find_map(|pair| pair.strip_prefix("state=")).unwrap();
    let callback_url = own(&gateway, "/callback").replace(':', "%3A").replace('/', "%2F");
    let expected = format!(
        "client_id=the-gateway&code_challenge={CHALLENGE}&code_challenge_method=S256&fixed=1&redirect_uri={callback_url}&response_type=code&scope=read&state={state}"
    );
    assert_eq!(query, expected, "all that the provider is told, and not where the client is");
    assert!(!location.contains("7999"), "{location}");
    let callback =
        |lines: &[&str], more: &str| send(&gateway, "GET", &format!("/__tyk-as/tools/callback?state={state}&{more}"), lines, "");
    assert_eq!(callback(&[], "code=c").status, 400, "another browser");
    assert!(callback(&[&cookie], "error=access_denied").header("location").unwrap().contains("error=access_denied"));
    assert!(
        callback(&[&cookie], "code=c&iss=https%3A%2F%2Fevil.example").header("location").unwrap().contains("error=server_error")
    );
    let back = callback(&[&cookie], "code=c").header("location").unwrap().to_owned();
    assert!(back.starts_with("http://127.0.0.1:7999/back?code=") && back.contains("state=s"), "{back}");
    let code = back.split("code=").nth(1).unwrap().split('&').next().unwrap();
    assert!(code.len() > 40, "not the provider's own: {code}");

    let token = |fields: &[(&str, &str)]| {
        post_form(&gateway, "token", &[], &[&[("grant_type", "authorization_code"), ("code", code)], fields].concat())
    };
    let redirect = "http://127.0.0.1:7999/back";
    for (client, uri, verifier, status) in [
        ("none", redirect, VERIFIER, 401),
        (&id, redirect, "x", 400),
        (&id, "http://127.0.0.1:1/other", VERIFIER, 400),
        (&id, redirect, VERIFIER, 200),
    ] {
        let answer = token(&[("client_id", client), ("redirect_uri", uri), ("code_verifier", verifier)]);
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    let given = token(&[("client_id", &id), ("redirect_uri", redirect), ("code_verifier", VERIFIER)]).json();
    assert!(given.get("id_token").is_none(), "{given}");
    let asked = issuer.last().text();
    assert!(asked.contains("code=c&") && asked.contains(VERIFIER) && asked.contains("callback"), "{asked}");
    assert!(issuer.last().header("authorization").unwrap().starts_with("Basic "));
    // A refresh token is for what the user has agreed to.
    let refresh = given["refresh_token"].as_str().unwrap();
    for (scope, status) in [("admin", 400), ("read admin", 400), ("read", 200), ("", 200)] {
        let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh), ("client_id", &id), ("scope", scope)];
        assert_eq!(post_form(&gateway, "token", &[], &fields).status, status, "{scope}");
        assert!(status != 200 || issuer.last().text().contains("scope=read&refresh_token=r"), "{}", issuer.last().text());
    }
    // That the provider does not accept the gateway is not the client's fault.
    let back = callback(&[&cookie], "code=bad").header("location").unwrap().to_owned();
    let code = back.split("code=").nth(1).unwrap().split('&').next().unwrap();
    let fields = [("grant_type", "authorization_code"), ("code", code), ("client_id", &id), ("code_verifier", VERIFIER)];
    let failed = post_form(&gateway, "token", &[], &fields);
    assert_eq!((failed.status, &failed.json()["error"]), (502, &json!("server_error")));
    assert!(!failed.text().contains("secret"));
    // Pages may register and fetch tokens by themselves.
    for (method, path) in [
        ("OPTIONS", "/__tyk-as/tools/register"),
        ("OPTIONS", "/__tyk-as/tools/token"),
        ("GET", "/.well-known/oauth-authorization-server/__tyk-as/tools"),
    ] {
        let answer = send(&gateway, method, path, &["Origin: https://page.example"], "");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{method} {path}: {}", answer.status);
    }
    gateway.expect_no_panic();
}

#[test]
fn a_definition_that_cannot_work_says_why() {
    let gateway = Gateway::start(json!({}), []);
    let mcp = || api("a", "/a/", "http://127.0.0.1:9").set("application_protocol", "mcp");
    let good = json!({"issuer": "https://id.example", "client_id": "c"});
    for (definition, proxy, why) in [
        (api("a", "/a/", "http://127.0.0.1:9"), good.clone(), "is only for proxies"),
        (mcp(), json!({"issuer": "ftp://x", "client_id": "c"}), "authorization_proxy.issuer"),
        (mcp(), json!({"issuer": "https://id.example"}), "authorization_proxy.client_id"),
        (mcp(), json!({"issuer": "https://id.example", "client_id": "c", "parameters": {"state": "x"}}), "is set by the gateway"),
        (mcp().set("tollgate/protected_resource", json!({"disabled": true})), good, "leave out tollgate.protected_resource"),
    ] {
        let definition = definition.set("tollgate/authorization_proxy", proxy);
        let answer = gateway.control("POST", "/tyk/apis", &definition.0.to_string());
        assert!(answer.status == 400 && answer.text().contains(why), "{}", answer.text());
    }
}

/// A provider that hangs holds up nobody but its own clients.
#[test]
fn a_slow_provider_stops_no_other() {
    let hangs = Upstream::raw(|mut wire, _| drop(wire.rest()));
    let gateway = start(&server(), &hangs.url());
    let wires: Vec<_> = (0..100)
        .map(|_| {
            let mut wire = gateway.connect();
            wire.send(b"GET /.well-known/oauth-authorization-server/__tyk-as/tools HTTP/1.1\r\nHost: h\r\n\r\n");
            wire
        })
        .collect();
    for path in ["/.well-known/oauth-protected-resource/tools", "/tools/.well-known/oauth-protected-resource"] {
        assert_eq!(send(&gateway, "GET", path, &[], "").status, 200);
    }
    assert_eq!(register(&gateway, CLIENT).status, 201);
    let refused = send(&gateway, "GET", "/.well-known/oauth-authorization-server/__tyk-as/tools", &[], "");
    assert_eq!(refused.status, 503, "{}", refused.text());
    drop(wires);
}
