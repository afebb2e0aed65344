//! Clients of the gateway's authorization server: those that an operator removes, and those whose id is the URL of a document.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::console_pages::{expect_no_complaints, go, open_signed_in};
use crate::harness::browser::Browser;
use crate::harness::certificates::{Authority, server as tls_server};
use crate::harness::{Gateway, Response, Upstream, eventually, reply};
use crate::mcp_authorization::{
    CHALLENGE, CLIENT, VERIFIER, authorize, hidden, issuer, post_form, register, send, server, start_trusting,
};
use crate::servers::Server;
use crate::shared_keys::on;

const BACK: &str = "http://127.0.0.1:7777/back";

fn ask(gateway: &Gateway, client: &str, redirect: &str) -> Response {
    let fields = [
        ("client_id", client),
        ("response_type", "code"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("redirect_uri", redirect),
    ];
    authorize(gateway, &[], &fields)
}

/// A user agrees to a client, and the client fetches its tokens. Returns the refresh token.
fn sign_in(gateway: &Gateway, client: &str) -> String {
    let page = ask(gateway, client, BACK);
    assert_eq!(page.status, 200, "{page}");
    let cookie = format!("Cookie: {}", page.header("set-cookie").unwrap().split(';').next().unwrap());
    let agreed = post_form(gateway, "authorize", &[&cookie], &[("request", &hidden(&page.text())), ("decision", "agree")]);
    let location = agreed.header("location").unwrap_or_else(|| panic!("{agreed}")).to_owned();
    let state = location.split(['?', '&']).find_map(|pair| pair.strip_prefix("state=")).unwrap().to_owned();
    let back = send(gateway, "GET", &format!("/__tyk-as/tools/callback?state={state}&code=c"), &[&cookie], "");
    let back = back.header("location").unwrap_or_else(|| panic!("{back}")).to_owned();
    let code = back.split("code=").nth(1).unwrap().split('&').next().unwrap();
    let fields = [("grant_type", "authorization_code"), ("code", code), ("client_id", client), ("code_verifier", VERIFIER)];
    let given = post_form(gateway, "token", &[], &fields);
    assert_eq!(given.status, 200, "{given}");
    given.json()["refresh_token"].as_str().unwrap().to_owned()
}

fn refresh(gateway: &Gateway, client: &str, token: &str) -> Response {
    post_form(gateway, "token", &[], &[("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", client)])
}

fn listed(gateway: &Gateway) -> Vec<Value> {
    let answer = gateway.control("GET", "/tyk/mcps/tools/clients", "");
    assert_eq!(answer.status, 200, "{answer}");
    answer.json()["clients"].as_array().unwrap().clone()
}

#[test]
fn a_client_that_is_removed_gets_nothing_from_any_gateway() {
    let (redis, server, issuer) = (Server::start(&[]), server(), issuer());
    let gateways = [0, 1].map(|_| start_trusting(on(&redis), None, &server, &issuer.url()));
    let made = |name: &str| {
        let body = json!({"client_name": name, "redirect_uris": [BACK]});
        register(&gateways[0], &body.to_string()).json()["client_id"].as_str().unwrap().to_owned()
    };
    let (bad, good) = (made("<b>bad</b>"), made("good"));
    // Who is nobody's client costs the store nothing.
    assert!(listed(&gateways[0]).is_empty());
    let tokens = [&bad, &good].map(|client| sign_in(&gateways[0], client));
    eventually("both are known", || listed(&gateways[1]).len() == 2);
    let row = listed(&gateways[1]).into_iter().find(|row| row["name"] == "<b>bad</b>").unwrap();
    assert_eq!((&row["removed"], &row["redirect_uri"], &row["url"]), (&json!(false), &json!(BACK), &Value::Null));
    assert!(!row.to_string().contains(&bad), "the id is nobody else's");

    let path = format!("/tyk/mcps/tools/clients/{}", row["client"].as_str().unwrap());
    assert_eq!(gateways[1].control("DELETE", &path, "").status, 200);
    for gateway in &gateways {
        let refused = ask(gateway, &bad, BACK);
        assert!(refused.status == 400 && refused.text().contains("was removed"), "{refused}");
        let refused = refresh(gateway, &bad, &tokens[0]);
        assert_eq!((refused.status, &refused.json()["error"]), (401, &json!("invalid_client")), "{refused}");
        assert_eq!((ask(gateway, &good, BACK).status, refresh(gateway, &good, &tokens[1]).status), (200, 200));
        assert!(listed(gateway).iter().any(|shown| shown["client"] == row["client"] && shown["removed"] == true));
    }
    assert!(gateways[1].control("GET", "/tyk/list/changes", "").text().contains("mcp_client"));
    assert_eq!(gateways[0].control("PUT", &path, "").status, 200);
    assert_eq!((refresh(&gateways[1], &bad, &tokens[0]).status, ask(&gateways[1], &bad, BACK).status), (200, 200));
    for (target, status) in [("/tyk/mcps/tools/clients/x", 400), ("/tyk/mcps/none/clients/x", 404)] {
        assert_eq!(gateways[0].control("DELETE", target, "").status, status, "{target}");
    }
    gateways.iter().for_each(Gateway::expect_no_panic);
}

/// A host with documents of clients, and what gateways must trust.
struct Documents {
    upstream: Upstream,
    _folder: TempDir,
    roots: PathBuf,
}

impl Documents {
    /// `answers` is given the URL of the host, and makes the answers by path.
    fn start(answers: impl Fn(&str) -> HashMap<&'static str, Vec<u8>> + Send + Sync + 'static) -> Documents {
        let (folder, authority) = (tempfile::tempdir().unwrap(), Authority::new("documents"));
        let roots = folder.path().join("roots.pem");
        std::fs::write(&roots, authority.pem()).unwrap();
        let config = Arc::new(tls_server(&authority.issue(&["localhost"])));
        let upstream = Upstream::tls(config, move |seen| {
            let own = format!("https://{}", seen.header("host").unwrap_or_default());
            answers(&own).remove(seen.target.as_str()).unwrap_or_else(|| reply("404 Not Found", &[], ""))
        });
        Documents { upstream, _folder: folder, roots }
    }

    fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.upstream.port())
    }

    /// How often a path was asked for.
    fn asked(&self, path: &str) -> usize {
        self.upstream.seen().iter().filter(|seen| seen.target == path).count()
    }
}

fn json_reply(lines: &[&str], document: &Value) -> Vec<u8> {
    reply("200 OK", &[&["Content-Type: application/json"], lines].concat(), &document.to_string())
}

#[test]
fn a_client_may_be_a_document_and_nothing_else_may() {
    let documents = Documents::start(|own| {
        let good = |path: &str, more: Value| {
            let mut document = json!({"client_id": format!("{own}{path}"), "client_name": "Chat <i>", "redirect_uris": [BACK]});
            document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            document
        };
        let plain = |path: &'static str, more: Value| (path, json_reply(&[], &good(path, more)));
        let redirect = |path: &'static str, to: &str| (path, reply("302 Found", &[&format!("Location: {to}")], ""));
        HashMap::from([
            plain("/good", json!({"token_endpoint_auth_method": "none"})),
            ("/kept", json_reply(&["Cache-Control: max-age=600"], &good("/kept", json!({})))),
            ("/never", json_reply(&["Cache-Control: no-store"], &good("/never", json!({})))),
            ("/other", json_reply(&[], &good("/good", json!({})))),
            ("/list", json_reply(&[], &json!([]))),
            ("/text", reply("200 OK", &["Content-Type: application/json"], "{\"client_id\": ")),
            ("/html", reply("200 OK", &["Content-Type: text/html"], &good("/html", json!({})).to_string())),
            ("/created", reply("201 Created", &["Content-Type: application/json"], &good("/created", json!({})).to_string())),
            plain("/secret", json!({"client_secret": "x"})),
            plain("/basic", json!({"token_endpoint_auth_method": "client_secret_basic"})),
            plain("/jwt", json!({"token_endpoint_auth_method": "private_key_jwt"})),
            plain("/nowhere", json!({"redirect_uris": []})),
            plain("/elsewhere", json!({"redirect_uris": ["https://evil.example/"]})),
            plain("/large", json!({"more": "x".repeat(10 << 20)})),
            redirect("/moved", &format!("{own}/good")),
            redirect("/inner", "https://169.254.169.254/latest"),
        ])
    });
    let (server, issuer) = (server(), issuer());
    let conf = json!({"tollgate": {"events": {"redirect_networks": ["127.0.0.0/8", "::1"]}}});
    let gateway = start_trusting(conf, Some(&documents.roots), &server, &issuer.url());
    let metadata = send(&gateway, "GET", "/.well-known/oauth-authorization-server/__tyk-as/tools", &[], "").json();
    assert_eq!(metadata["client_id_metadata_document_supported"], true, "{metadata}");

    let page = ask(&gateway, &documents.url("/good"), BACK);
    let text = page.text();
    assert!(page.status == 200 && text.contains("Chat &lt;i&gt;") && text.contains("<code>localhost</code>"), "{page}");
    for redirect in
        ["https://evil.example/", "http://127.0.0.1:7777/back/x", "http://127.0.0.1:7777/back?x", "http://localhost:7777/back"]
    {
        assert_eq!(ask(&gateway, &documents.url("/good"), redirect).status, 400, "{redirect}");
    }
    for (path, why) in [
        ("/other", "not its URL"),
        ("/list", "no JSON object"),
        ("/text", "no JSON object"),
        ("/html", "no JSON object"),
        ("/created", "201"),
        ("/missing", "404"),
        ("/secret", "client_secret"),
        ("/basic", "token_endpoint_auth_method"),
        ("/jwt", "token_endpoint_auth_method"),
        ("/nowhere", "redirect_uris"),
        ("/elsewhere", "The address to send you back to"),
        ("/large", "cannot be used"),
        ("/moved", "302"),
        ("/inner", "302"),
    ] {
        let refused = ask(&gateway, &documents.url(path), BACK);
        assert!(refused.status == 400 && refused.header("location").is_none() && refused.text().contains(why), "{path}: {refused}");
    }
    // What is no URL of a document is an unknown client, and nobody is asked.
    let port = documents.upstream.port();
    for id in [
        format!("http://localhost:{port}/good"),
        format!("https://localhost:{port}/"),
        format!("https://localhost:{port}/../good"),
        format!("https://user@localhost:{port}/good"),
        format!("https://localhost:{port}/good#x"),
    ] {
        let refused = ask(&gateway, &id, BACK);
        assert!(refused.status == 400 && refused.text().contains("not registered"), "{id}: {refused}");
    }
    // A document is kept as long as its server says.
    for _ in 0..3 {
        assert_eq!(
            (ask(&gateway, &documents.url("/kept"), BACK).status, ask(&gateway, &documents.url("/never"), BACK).status),
            (200, 200)
        );
    }
    assert_eq!((documents.asked("/kept"), documents.asked("/never")), (1, 3));

    // It signs users in as any other, and can be removed as any other.
    let client = documents.url("/good");
    let token = sign_in(&gateway, &client);
    assert_eq!(refresh(&gateway, &client, &token).status, 200);
    assert_eq!(refresh(&gateway, &documents.url("/kept"), &token).status, 400, "the token is another client's");
    let row = listed(&gateway).remove(0);
    assert_eq!((&row["url"], &row["name"]), (&json!(client), &json!("Chat <i>")));
    let path = format!("/tyk/mcps/tools/clients/{}", row["client"].as_str().unwrap());
    assert_eq!(gateway.control("DELETE", &path, "").status, 200);
    assert_eq!((ask(&gateway, &client, BACK).status, refresh(&gateway, &client, &token).status), (400, 401));
    gateway.expect_no_panic();
}

#[test]
fn documents_at_inner_addresses_are_not_asked_for() {
    let documents = Documents::start(|own| {
        let document = json!({"client_id": format!("{own}/good"), "client_name": "x", "redirect_uris": [BACK]});
        HashMap::from([("/good", json_reply(&[], &document))])
    });
    let (server, issuer) = (server(), issuer());
    let gateway = start_trusting(json!({}), Some(&documents.roots), &server, &issuer.url());
    let port = documents.upstream.port();
    for id in [documents.url("/good"), format!("https://127.0.0.1:{port}/good"), format!("https://[::ffff:127.0.0.1]:{port}/good")]
    {
        let refused = ask(&gateway, &id, BACK);
        assert!(refused.status == 400 && refused.text().contains("cannot be used"), "{id}: {refused}");
    }
    assert_eq!(documents.asked("/good"), 0);
    // Nor without the certificate of a known authority.
    let conf =
        json!({"proxy_ssl_insecure_skip_verify": true, "tollgate": {"events": {"redirect_networks": ["127.0.0.0/8", "::1"]}}});
    let gateway = start_trusting(conf, None, &server, &issuer.url());
    let refused = ask(&gateway, &documents.url("/good"), BACK);
    assert!(refused.status == 400 && refused.text().contains("cannot be used"), "{refused}");
    assert_eq!(documents.asked("/good"), 0);
}

#[test]
fn the_console_shows_clients_and_removes_one() {
    let Some(mut browser) = Browser::start() else { return };
    let (server, issuer) = (server(), issuer());
    let gateway = start_trusting(json!({}), None, &server, &issuer.url());
    let body = json!({"client_name": "<b>Editor</b>", "redirect_uris": [BACK]});
    let client = register(&gateway, &body.to_string()).json()["client_id"].as_str().unwrap().to_owned();
    sign_in(&gateway, &client);
    let mut tab = open_signed_in(&mut browser, &gateway, "");
    let mut wrong = Vec::new();
    for (width, is_dark) in [(1280, false), (360, true), (1280, true)] {
        tab.screen(width, 900, is_dark);
        go(&mut tab, "#/apis/tools/tools");
        tab.see("<b>Editor</b>");
        tab.screenshot(&format!("mcp-clients-{}-{width}", if is_dark { "dark" } else { "light" }));
        wrong.extend(tab.accessibility().unwrap_or_default().into_iter().map(|one| format!("{width} {is_dark}: {one}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    tab.click("td button", "Remove");
    tab.click("dialog button", "Remove");
    tab.see("Let in again");
    assert_eq!((listed(&gateway)[0]["removed"].clone(), ask(&gateway, &client, BACK).status), (json!(true), 400));
    tab.click("td button", "Let in again");
    tab.wait("[...document.querySelectorAll('td button')].some((one) => one.innerText === 'Remove')");
    assert_eq!(ask(&gateway, &client, BACK).status, 200);
    expect_no_complaints(&tab);
    gateway.expect_no_panic();
}

/// Whoever names slow servers holds up nobody but those who name them too.
#[test]
fn a_slow_document_stops_no_other_client() {
    let slow = Upstream::raw(|mut wire, _| drop(wire.rest()));
    let (server, issuer) = (server(), issuer());
    let conf = json!({"tollgate": {"events": {"redirect_networks": ["127.0.0.0/8", "::1"]}}});
    let gateway = start_trusting(conf, None, &server, &issuer.url());
    let id = register(&gateway, CLIENT).json()["client_id"].as_str().unwrap().to_owned();
    let wires: Vec<_> = (0..100)
        .map(|number| {
            let mut wire = gateway.connect();
            let client = format!("https%3A%2F%2F127.0.0.1%3A{}%2F{number}", slow.port());
            let target = format!("/__tyk-as/tools/authorize?client_id={client}&response_type=code");
            wire.send(format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n").into_bytes());
            wire
        })
        .collect();
    let token = sign_in(&gateway, &id);
    assert_eq!(refresh(&gateway, &id, &token).status, 200);
    drop(wires);
    gateway.expect_no_panic();
}
