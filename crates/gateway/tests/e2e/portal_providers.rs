//! Developers who sign in at a provider of OpenID Connect, oidc-provider on loopback.

use serde_json::{Value, json};

use crate::harness::browser::Browser;
use crate::harness::{Connection, Response, eventually, request};
use crate::openid_provider::AskedProvider;
use crate::portal::{Caller, PASSWORD, Stage, expect_accessible, stage};
use crate::servers::free_port;

fn get(portal: u16, target: &str, cookie: &str) -> Response {
    Connection::open(portal).ask(request("GET", target, &[&format!("Cookie: {cookie}")], ""))
}

/// A cookie that an answer sets, as it is sent back.
fn cookie_of(answer: &Response, name: &str) -> Option<String> {
    let lines = answer.head.all("set-cookie");
    let mut pairs = lines.iter().filter_map(|line| line.split(';').next());
    pairs.find(|pair| pair.strip_prefix(name).is_some_and(|rest| rest.len() > 1)).map(|pair| (*pair).to_owned())
}

/// The way of one browser: the target with which it comes back, and its cookie.
fn returned(stage: &Stage, provider: &mut AskedProvider, user: &str) -> (String, String) {
    let begun = get(stage.portal, "/sign-in/test", "");
    assert_eq!(begun.status, 303, "{begun}");
    let cookie = cookie_of(&begun, "tollgate_portal_sign_in").unwrap_or_else(|| panic!("{begun}"));
    let end = provider.ask(&json!({"sign_in": begun.header("location").expect("a place"), "user": user}))["end"]
        .as_str()
        .expect("where the browser is sent")
        .to_owned();
    let target = end.strip_prefix(&format!("http://127.0.0.1:{}", stage.portal)).unwrap_or_else(|| panic!("{end}"));
    (target.to_owned(), cookie)
}

/// The answer to a browser that came back.
fn finished(stage: &Stage, provider: &mut AskedProvider, user: &str) -> Response {
    let (target, cookie) = returned(stage, provider, user);
    get(stage.portal, &target, &cookie)
}

fn place(answer: &Response) -> String {
    assert_eq!(answer.status, 303, "{answer}");
    answer.header("location").expect("a place").to_owned()
}

/// Who an answer has let in.
fn entered(stage: &Stage, answer: &Response) -> Caller {
    assert_eq!(place(answer), "/");
    let cookie = cookie_of(answer, "tollgate_portal").unwrap_or_else(|| panic!("{answer}"));
    let mut caller = Caller::at(stage.portal, &format!("127.0.0.1:{}", stage.portal));
    caller.cookie = cookie;
    caller
}

fn with_provider(rule: &Value) -> Option<(Stage, AskedProvider)> {
    let port = free_port();
    let settings = json!({
        "name": "test", "title": "Test provider", "issuer": format!("http://127.0.0.1:{port}"), "client_id": "portal",
        "client_secret": "the secret: of a client", "scopes": ["profile"], "algorithms": ["ES256"], "sign_out_there": true,
    });
    // Mails are needed for open sign-ups alone; nobody listens at this port.
    let mail = json!({"host": "127.0.0.1", "port": 9, "tls": "none", "from": "Example <apis@example.com>"});
    let stage = stage(None, json!({"tollgate": {"portal": {"providers": [settings], "sign_up": rule, "mail": mail}}}));
    let provider = AskedProvider::start(
        "portal_provider.mjs",
        &[&port.to_string(), &format!("http://127.0.0.1:{}/sign-in/test/callback", stage.portal)],
    )?;
    Some((stage, provider))
}

#[test]
fn a_developer_of_a_provider_has_an_account_from_the_first_sign_in_on() {
    let Some((stage, mut provider)) = with_provider(&json!({"by": "domain", "domains": ["example.com"]})) else { return };
    let mut ada = entered(&stage, &finished(&stage, &mut provider, "ada"));
    let session = ada.call("GET", "/api/session", &json!({})).json();
    assert_eq!(
        (&session["developer"]["mail"], &session["developer"]["name"]),
        (&json!("ada@example.com"), &json!("Developer ada"))
    );
    assert_eq!(session["portal"]["providers"], json!([{"name": "test", "title": "Test provider"}]));
    let grant = ada.granted("free");
    let (key, _) = ada.key(&grant);
    assert_eq!(crate::keys::call(&stage.gateway, "/shop/", &key).status, 200);
    let mut again = entered(&stage, &finished(&stage, &mut provider, "ada"));
    assert_eq!(again.call("GET", "/api/session", &json!({})).json()["developer"]["id"], session["developer"]["id"]);
    // There is no password that could be guessed.
    let guess = again.call("POST", "/api/session", &json!({"mail": "ada@example.com", "password": ""}));
    assert_eq!(guess.status, 403, "{guess}");
    let id = session["developer"]["id"].as_str().expect("an id");
    stage.control("PATCH", &format!("/tyk/portal/developers/{id}"), &json!({"suspended": true}));
    assert_eq!(place(&finished(&stage, &mut provider, "ada")), "/#/sign-in?refused=suspended");
    stage.control("DELETE", &format!("/tyk/portal/developers/{id}"), &json!({}));
    eventually("a removed developer begins anew", || {
        let mut anew = entered(&stage, &finished(&stage, &mut provider, "ada"));
        anew.call("GET", "/api/applications", &json!({})).json()["applications"] == json!([])
    });
}

#[test]
fn a_sign_out_leads_to_the_provider_and_back_for_those_who_came_from_there() {
    let Some((stage, mut provider)) = with_provider(&json!({"by": "open"})) else { return };
    let mut ada = entered(&stage, &finished(&stage, &mut provider, "ada"));
    let answer = ada.call("DELETE", "/api/session", &json!({})).json();
    let place = answer["go_to"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(ada.call("GET", "/api/session", &json!({})).json()["developer"], Value::Null);
    // The provider takes client, identity token and the way back; it refuses one that is not registered.
    let ask = |place: &str| {
        let (port, target) = place.strip_prefix("http://127.0.0.1:").and_then(|rest| rest.split_once('/')).expect("the provider");
        get(port.parse().expect("a port"), &format!("/{target}"), "")
    };
    assert!(place.contains("id_token_hint=ey") && place.contains("client_id=portal"), "{place}");
    let taken = ask(place);
    assert!(taken.status == 200 && taken.text().contains("/session/end/confirm"), "{taken}");
    assert_eq!(ask(&place.replace("127%2E0%2E0%2E1", "evil%2Eexample")).status, 400);
    // Who has a password leaves the portal alone.
    let mut joe = stage.invited("joe@example.com");
    assert_eq!(joe.call("DELETE", "/api/session", &json!({})).json()["go_to"], Value::Null);
}

#[test]
fn an_account_with_a_password_is_not_taken_over() {
    let Some((stage, mut provider)) = with_provider(&json!({"by": "invitation"})) else { return };
    let mut ada = stage.invited("ada@example.com");
    let id = ada.call("GET", "/api/session", &json!({})).json()["developer"]["id"].clone();
    let answer = finished(&stage, &mut provider, "ada");
    let asked = place(&answer);
    let token = asked.strip_prefix("/#/connect/").unwrap_or_else(|| panic!("{asked}"));
    assert_eq!(cookie_of(&answer, "tollgate_portal="), None, "nobody is in");
    let mut stranger = Caller::at(stage.portal, &format!("127.0.0.1:{}", stage.portal));
    let connect = |caller: &mut Caller, password: &str| {
        caller.call("POST", "/api/connection", &json!({"token": token, "password": password}))
    };
    assert_eq!(connect(&mut stranger, "another password").status, 403);
    let connected = connect(&mut stranger, PASSWORD);
    assert_eq!((connected.status, &connected.json()["developer"]["id"]), (200, &id), "{connected}");
    assert_eq!(connect(&mut stranger, PASSWORD).status, 410, "a connection is made once");
    let mut next = entered(&stage, &finished(&stage, &mut provider, "ada"));
    assert_eq!(next.call("GET", "/api/session", &json!({})).json()["developer"]["id"], id);
    // Others are not let in by a rule that invites.
    assert_eq!(place(&finished(&stage, &mut provider, "eve")), "/#/sign-in?refused=invitation");
}

#[test]
fn what_is_no_proof_lets_nobody_in() {
    let Some((stage, mut provider)) = with_provider(&json!({"by": "open"})) else { return };
    assert_eq!(place(&finished(&stage, &mut provider, "newcomer")), "/#/sign-in?refused=no_mail");
    let refused = "/#/sign-in?refused=refused";
    let (target, cookie) = returned(&stage, &mut provider, "ada");
    assert_eq!(place(&get(stage.portal, &target, "")), refused, "another browser");
    let (_, other) = returned(&stage, &mut provider, "bob");
    assert_eq!(place(&get(stage.portal, &target, &other)), refused, "the answer of another sign-in");
    entered(&stage, &get(stage.portal, &target, &cookie));
    assert_eq!(place(&get(stage.portal, &target, &cookie)), refused, "an answer counts once");
    assert_eq!(place(&get(stage.portal, "/sign-in/none", "")), "/#/sign-in?refused=not_found");
    drop(provider);
    let down = place(&get(stage.portal, "/sign-in/test/callback?code=x&state=y", &cookie));
    assert_eq!(down, refused);
}

#[test]
fn the_pages_of_a_sign_in_at_a_provider_fit_every_screen() {
    let Some(mut browser) = Browser::start() else { return };
    let provider = json!({"name": "test", "title": "Test provider", "issuer": "http://127.0.0.1:9", "client_id": "portal"});
    let stage = stage(None, json!({"tollgate": {"portal": {"providers": [provider]}}}));
    let mut tab = browser.tab();
    for (width, height) in [(1280, 800), (375, 740)] {
        for dark in [false, true] {
            tab.screen(width, height, dark);
            for (name, view, text) in [
                ("sign-in-at-provider", "#/sign-in?refused=no_mail", "Sign in with Test provider"),
                ("connect", "#/connect/x", "Connect your account"),
            ] {
                tab.open_page(&stage.page(view));
                tab.see(text);
                assert_eq!(tab.eval("document.documentElement.scrollWidth > innerWidth"), json!(false), "{name} at {width}");
                tab.screenshot(&format!("portal-{name}-{width}-{}", if dark { "dark" } else { "light" }));
                expect_accessible(&mut tab);
            }
        }
    }
    // Nobody listens at the issuer.
    tab.open_page(&stage.page("#/sign-in"));
    tab.click("a", "Sign in with Test provider");
    tab.see("The provider can't be asked at the moment.");
    assert!(tab.complaints.is_empty(), "{:#?}", tab.complaints);
}
