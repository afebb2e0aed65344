//! The console's way in, as an operator meets it: a real browser on a real gateway. Screenshots stay in `target/console-screenshots`.

use serde_json::{Value, json};

use crate::harness::browser::{Browser, Tab};
use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, Upstream, api, eventually};

pub(crate) fn page(gateway: &Gateway, view: &str) -> String {
    format!("http://127.0.0.1:{}/tyk/console/{view}", gateway.port)
}

/// Changes the view as a link does.
pub(crate) fn go(tab: &mut Tab, view: &str) {
    tab.eval(&format!("location.hash = {}", json!(view)));
}

pub(crate) fn expect_no_complaints(tab: &Tab) {
    assert!(tab.complaints.is_empty(), "{:#?}", tab.complaints);
}

/// A page of the console for who has the secret.
pub(crate) fn open_signed_in(browser: &mut Browser, gateway: &Gateway, view: &str) -> Tab {
    let mut tab = browser.tab();
    tab.open_page(&page(gateway, view));
    tab.wait("document.querySelector('.sign-in input[type=password]')");
    if tab.eval("document.body.innerText.includes('Sign in with the control secret')") == json!(true) {
        tab.click("button", "Sign in with the control secret");
    }
    tab.fill("Control secret", SECRET);
    tab.click("button", "Sign in");
    tab.wait("document.querySelector('nav[aria-label=Pages]')");
    tab
}

#[test]
fn the_right_secret_leads_in_the_wrong_one_does_not_and_signing_out_ends_it() {
    let Some(mut browser) = Browser::start() else { return };
    let gateway = Gateway::start(json!({}), []);
    let mut tab = browser.tab();
    tab.open_page(&page(&gateway, "#/keys"));
    tab.fill("Control secret", "wrong");
    tab.click("button", "Sign in");
    tab.wait("document.querySelector('.refused')?.innerText");
    assert_eq!(tab.eval("!!document.querySelector('nav[aria-label=Pages]')"), json!(false));
    tab.screenshot("sign-in-wrong");
    let found = tab.accessibility().unwrap_or_default();
    assert!(found.is_empty(), "{found:#?}");
    tab.fill("Control secret", SECRET);
    tab.click("button", "Sign in");
    tab.wait("document.querySelector('h1')?.innerText.startsWith('Keys')");
    // Scripts see neither the cookie nor the secret.
    let seen =
        tab.eval("document.cookie + JSON.stringify({...localStorage}) + JSON.stringify({...sessionStorage}) + location.href");
    assert!(!seen.to_string().contains(SECRET) && !seen.to_string().contains("tollgate_console"), "{seen}");
    tab.click("button", "Sign out");
    tab.wait("document.querySelector('.sign-in')");
    assert_eq!(tab.eval("fetch('api/apis', {headers: {'X-Tollgate-Console': '1'}}).then((answer) => answer.status)"), json!(401));
    expect_no_complaints(&tab);
}

#[test]
fn wrong_secrets_are_answered_with_growing_waits_that_the_page_shows() {
    let Some(mut browser) = Browser::start() else { return };
    let gateway = Gateway::start(json!({}), []);
    let mut tab = browser.tab();
    tab.open_page(&page(&gateway, ""));
    // Each wait is twice as long as the one before: on a busy machine, the first are over before anyone looks.
    for turn in 0..12 {
        tab.wait("document.querySelector('.sign-in .primary')");
        if tab.eval("document.querySelector('.sign-in .primary').innerText.startsWith('Wait')") == json!(true) {
            break;
        }
        tab.fill("Control secret", &format!("wrong {turn}"));
        tab.click("button", "Sign in");
        tab.wait(
            "!document.querySelector('.sign-in .primary').innerText.startsWith('Signing') && document.querySelector('.refused')",
        );
    }
    tab.wait("document.querySelector('.sign-in .primary').innerText.startsWith('Wait') && document.querySelector('.sign-in .primary').disabled");
    tab.screenshot("sign-in-locked");
    expect_no_complaints(&tab);
}

pub(crate) fn stored(gateway: &Gateway, id: &str) -> Value {
    gateway.control("GET", &format!("/tyk/apis/{id}"), "").json()
}

#[test]
fn a_viewer_finds_no_control_and_is_refused_without_the_page() {
    let Some(mut browser) = Browser::start() else { return };
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("shop", "/shop/", &upstream.url())]);
    let user = json!({"name": "vera", "role": "viewer", "password": "a long enough password"}).to_string();
    let made = gateway.control("POST", "/tyk/users", &user);
    assert_eq!(made.status, 200, "{made}");
    let mut tab = browser.tab();
    tab.open_page(&page(&gateway, "#/apis"));
    tab.fill("Name", "vera");
    tab.fill("Password", "a long enough password");
    tab.click("button", "Sign in");
    tab.see("Your role can view definitions, not change them.");
    assert_eq!(tab.eval("[...document.querySelectorAll('button')].some((one) => one.innerText.includes('New API'))"), json!(false));
    go(&mut tab, "#/apis/shop/definition");
    tab.wait("document.querySelector('.code')?.shadowRoot?.querySelector('.cm-line')");
    assert_eq!(tab.eval("[...document.querySelectorAll('button')].some((one) => one.innerText === 'Save')"), json!(false));
    tab.screenshot("viewer");
    let refused = tab
        .eval("fetch('api/apis/shop', {method: 'DELETE', headers: {'X-Tollgate-Console': '1'}}).then((answer) => answer.status)");
    assert_eq!(refused, json!(403));
    assert_eq!(stored(&gateway, "shop")["api_id"], "shop");
    expect_no_complaints(&tab);
}

/// Presses a key once the page listens: it does so after it has drawn what is seen.
fn press(tab: &mut Tab, key: &str, text: &str) {
    tab.eval("new Promise((done) => setTimeout(done, 150))");
    tab.key(key, text);
}

#[test]
fn the_keyboard_alone_reaches_everything() {
    let Some(mut browser) = Browser::start() else { return };
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("first", "/first/", &upstream.url()), api("second", "/second/", &upstream.url())]);
    let mut tab = browser.tab();
    tab.open_page(&page(&gateway, ""));
    // The cursor is in the field already.
    tab.wait("document.activeElement?.type === 'password'");
    tab.write(SECRET);
    tab.key("Enter", "\r");
    tab.wait("document.querySelector('nav[aria-label=Pages]')");
    // The page listens once it is drawn.
    eventually("g and a lead to the APIs", || {
        tab.key("g", "g");
        tab.key("a", "a");
        tab.eval("location.hash.startsWith('#/apis')") == json!(true)
    });
    tab.wait("location.hash.startsWith('#/apis') && document.querySelectorAll('tbody tr').length === 2");
    press(&mut tab, "j", "j");
    tab.wait("document.activeElement?.innerText.includes('first')");
    press(&mut tab, "j", "j");
    tab.wait("document.activeElement?.innerText.includes('second')");
    press(&mut tab, "Enter", "\r");
    tab.wait("location.hash === '#/apis/second'");
    press(&mut tab, "Escape", "");
    tab.wait("location.hash === '#/apis'");
    press(&mut tab, "/", "/");
    tab.wait("document.activeElement?.type === 'search' && document.querySelector('dialog')");
    tab.write("first");
    tab.wait("document.querySelector('[role=option]')?.innerText.includes('first')");
    press(&mut tab, "Enter", "\r");
    tab.wait("location.hash === '#/apis/first' && !document.querySelector('dialog')");
    tab.wait("document.querySelector('[data-key=e]')");
    press(&mut tab, "e", "e");
    tab.wait("location.hash === '#/apis/first/definition'");
    press(&mut tab, "?", "?");
    tab.see("Next, previous row");
    press(&mut tab, "Escape", "");
    tab.wait("!document.querySelector('dialog')");

    // A key is made, without the mouse.
    press(&mut tab, "g", "g");
    tab.key("k", "k");
    tab.wait("location.hash.startsWith('#/keys') && document.querySelector('[data-key=n]')");
    press(&mut tab, "n", "n");
    tab.wait("document.querySelector('dialog .choices input') && document.activeElement?.placeholder === 'acme'");
    tab.write("by hand");
    for _ in 0..20 {
        tab.key("Tab", "");
        if tab.eval("document.activeElement?.matches('.choices input')") == json!(true) {
            break;
        }
    }
    tab.key(" ", " ");
    tab.wait("document.querySelector('.choices input').checked");
    tab.key("Enter", "\r");
    tab.wait("document.querySelector('[data-test=secret]')");
    press(&mut tab, "Escape", "");
    tab.wait("!document.querySelector('dialog') && document.querySelector('tbody')?.innerText.includes('by hand')");
    expect_no_complaints(&tab);
}
