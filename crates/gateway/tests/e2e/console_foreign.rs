//! A page of an upstream that tries to drive the console of somebody who is signed in, in a real browser. The cookie does not tell ports apart, so
//! the browser sends it along.

use serde_json::json;

use crate::console_pages::{expect_no_complaints, stored};
use crate::harness::browser::{Browser, Tab};
use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, Upstream, api, reply};
use crate::servers::free_port;

/// Signs in on a page that is open.
fn sign_in(tab: &mut Tab) {
    tab.fill("Control secret", SECRET);
    tab.click("button", "Sign in");
    tab.wait("document.querySelector('nav[aria-label=Pages]')");
}

#[test]
fn an_upstreams_page_can_not_drive_the_console_on_its_own_port() {
    let Some(mut browser) = Browser::start() else { return };
    let upstream = Upstream::start(|_| {
        reply("200 OK", &["Content-Type: text/html"], "<!doctype html><title>shop</title><p>A page of the shop.")
    });
    let port = free_port();
    let gateway = Gateway::start(json!({"control_api_port": port}), [api("shop", "/shop/", &upstream.url())]);
    let console = format!("http://127.0.0.1:{port}/tyk/console/");
    let mut tab = browser.tab();
    tab.open_page(&console);
    sign_in(&mut tab);
    let own = tab.eval("fetch('api/apis/shop', {headers: {'X-Tollgate-Console': '1'}}).then((answer) => answer.status)");
    assert_eq!(own, json!(200));

    // The same browser, with the same cookie.
    tab.open_page(&format!("http://127.0.0.1:{}/shop/", gateway.port));
    tab.see("A page of the shop.");
    let call = format!("{console}api/apis/shop");
    for (what, attempt) in [
        ("read", format!("fetch({}, {{credentials: 'include'}})", json!(call))),
        ("delete", format!("fetch({}, {{method: 'DELETE', credentials: 'include'}})", json!(call))),
        (
            "with the header",
            format!("fetch({}, {{method: 'DELETE', credentials: 'include', headers: {{'X-Tollgate-Console': '1'}}}})", json!(call)),
        ),
        (
            "sign in",
            format!("fetch({}, {{method: 'POST', credentials: 'include', body: '{{}}'}})", json!(format!("{console}api/session"))),
        ),
    ] {
        let read =
            tab.eval(&format!("{attempt}.then((answer) => answer.text()).then((text) => `read ${{text}}`, () => 'refused')"));
        assert_eq!(read, json!("refused"), "{what}");
    }
    // What a browser sends without asking for permission, and whose answer the page can't see, changes nothing either.
    for method in ["GET", "POST"] {
        tab.eval(&format!(
            "fetch({}, {{method: '{method}', mode: 'no-cors', credentials: 'include'}}).then(() => null, () => null)",
            json!(call)
        ));
    }
    let seen = tab.eval(&format!(
        "new Promise((done) => {{ const source = new EventSource({}, {{withCredentials: true}}); source.onmessage = () => done('read'); \
         source.addEventListener('live', () => done('read')); source.onerror = () => done('refused'); }})",
        json!(format!("{console}api/stream?topics=live"))
    ));
    assert_eq!(seen, json!("refused"), "the stream");
    // A form, in a frame so that this page stays.
    tab.eval(&format!(
        "(() => {{ const frame = document.createElement('iframe'); frame.name = 'hole'; document.body.append(frame); \
         const form = document.createElement('form'); form.method = 'post'; form.target = 'hole'; form.action = {}; document.body.append(form); form.submit(); }})()",
        json!(format!("{console}api/session"))
    ));
    // The page itself in a frame, under a click of somebody who sees something else.
    let framed = tab.eval(&format!(
        "new Promise((done) => {{ const frame = document.createElement('iframe'); frame.src = {}; \
         frame.onload = () => setTimeout(() => {{ let inner = 'closed'; try {{ inner = frame.contentDocument?.body?.innerText ?? 'closed'; }} catch {{ inner = 'closed'; }} done(`${{inner}} ${{frame.contentWindow.length}}`); }}, 300); \
         document.body.append(frame); }})",
        json!(console)
    ));
    assert!(!framed.to_string().contains("Tollgate"), "{framed}");
    // A window that this page opens is cut off from it.
    let opened = tab.eval(&format!(
        "new Promise((done) => {{ const other = open({}); setTimeout(() => {{ let seen; try {{ seen = other?.closed ? 'closed' : other.document ? 'read' : 'closed'; }} catch {{ seen = 'closed'; }} done(seen); }}, 1500); }})",
        json!(console)
    ));
    assert_eq!(opened, json!("closed"));

    assert_eq!(stored_at(port)["api_id"], "shop", "nothing was deleted");
    tab.open_page(&console);
    tab.wait("document.querySelector('nav[aria-label=Pages]')");
    let complaints = std::mem::take(&mut tab.complaints);
    // The browser says what it refused to the page of the shop; the console complains of nothing.
    assert!(
        complaints.iter().all(|line| line.contains("CORS") || line.contains("frame") || line.contains("Content Security Policy")),
        "{complaints:?}"
    );
    expect_no_complaints(&tab);
}

fn stored_at(port: u16) -> serde_json::Value {
    let mut own = crate::harness::wire::Connection::open(port);
    own.ask(
        format!("GET /tyk/apis/shop HTTP/1.1\r\nHost: x\r\nx-tyk-authorization: {SECRET}\r\nConnection: close\r\n\r\n").as_str(),
    )
    .json()
}

/// Upstreams share an origin with the console where it is on the gateway's own port, which happens by itself only on loopback addresses.
#[test]
fn other_names_of_this_machine_are_other_sites() {
    let Some(mut browser) = Browser::start() else { return };
    let upstream = Upstream::start(|_| reply("200 OK", &["Content-Type: text/html"], "<!doctype html><p>A page of the shop."));
    let gateway = Gateway::start(json!({}), [api("shop", "/shop/", &upstream.url())]);
    let mut tab = browser.tab();
    tab.open_page(&format!("http://localhost:{}/tyk/console/", gateway.port));
    sign_in(&mut tab);
    tab.open_page(&format!("http://127.0.0.1:{}/shop/", gateway.port));
    tab.see("A page of the shop.");
    let read = tab.eval(&format!(
        "fetch('http://localhost:{}/tyk/console/api/apis/shop', {{method: 'DELETE', credentials: 'include'}}).then((answer) => answer.text(), () => 'refused')",
        gateway.port
    ));
    assert_eq!(read, json!("refused"));
    assert_eq!(stored(&gateway, "shop")["api_id"], "shop");
}
