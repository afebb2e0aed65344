//! Operators who sign in at a provider, in a real browser; and what the console shows to those who reach some APIs only.

use serde_json::{Value, json};

use crate::console_pages::{expect_no_complaints, go, open_signed_in, page};
use crate::harness::browser::{Browser, Tab};
use crate::harness::oauth::with_policies;
use crate::harness::{Gateway, Setup, api, eventually};
use crate::operator_providers::{operator_provider, operators};
use crate::servers::free_port;

/// Fills the provider's own pages in. A form is sent after the answer to the command that sends it: the page is gone then.
fn sign_in_there(tab: &mut Tab, user: &str) {
    tab.wait("document.querySelector('input[name=login]')");
    tab.eval(&format!(
        "document.querySelector('input[name=login]').value = {}, document.querySelector('input[name=password]').value = 'any', \
         setTimeout(() => document.querySelector('form').submit())",
        json!(user)
    ));
    tab.wait("document.querySelector('input[name=prompt][value=consent]')");
    tab.eval("setTimeout(() => document.querySelector('form').submit())");
}

#[test]
fn a_button_leads_to_the_provider_and_back_to_the_console() {
    let Some(mut browser) = Browser::start() else { return };
    let (port, own) = (free_port(), free_port());
    let public = format!("http://127.0.0.1:{own}");
    let settings = operators(&format!("http://127.0.0.1:{port}"), &public);
    let shop = api("shop", "/shop/", "http://127.0.0.1:9/").set("tags", json!(["team-a"]));
    let other = api("other", "/other/", "http://127.0.0.1:9/");
    let conf = json!({"tollgate": {"operators": settings}});
    let gateway = Setup::new(conf).port(own).api(shop).api(other).start();
    let Some(_provider) = operator_provider(&gateway, port, &public) else { return };

    let mut tab = browser.tab();
    tab.open_page(&page(&gateway, ""));
    tab.wait("document.querySelector('.sign-in input[type=password]')");
    tab.screenshot("sign-in-provider");
    let found = tab.accessibility().unwrap_or_default();
    assert!(found.is_empty(), "{found:#?}");
    tab.click("a", "Sign in with Test provider");
    sign_in_there(&mut tab, "eve.team-a");
    tab.wait("document.querySelector('nav[aria-label=Pages]')");
    // The page that led here is not what reloading shows.
    assert_eq!(tab.eval("location.pathname + location.search"), json!("/tyk/console/"));
    tab.see("test:eve.team-a");
    tab.see("You reach team-a");
    tab.wait("[...document.querySelectorAll('tbody th')].map((one) => one.innerText).join() === 'shop'");
    tab.click("button", "Sign out");
    tab.wait("document.querySelector('.sign-in')");

    // Who is not let in is told so, and finds the way back.
    tab.eval("fetch('http://127.0.0.1:1').catch(() => 0)");
    tab.open_page(&format!("{public}/tyk/console/login/test/callback?code=x&state=y"));
    tab.see("You are not let in");
    let found = tab.accessibility().unwrap_or_default();
    assert!(found.is_empty(), "{found:#?}");
    tab.click("a", "Back to the sign-in");
    tab.wait("document.querySelector('.sign-in input[type=password]')");
}

/// A gateway whose user reaches the APIs of team A.
#[test]
fn signing_out_ends_the_session_at_the_provider_too() {
    let Some(mut browser) = Browser::start() else { return };
    let (port, own) = (free_port(), free_port());
    let public = format!("http://127.0.0.1:{own}");
    let mut settings = operators(&format!("http://127.0.0.1:{port}"), &public);
    settings["providers"][0]["sign_out_there"] = json!(true);
    let gateway = Setup::new(json!({"tollgate": {"operators": settings}})).port(own).start();
    let Some(_provider) = operator_provider(&gateway, port, &public) else { return };
    let mut tab = browser.tab();
    tab.open_page(&page(&gateway, ""));
    tab.click("a", "Sign in with Test provider");
    sign_in_there(&mut tab, "ann.ops");
    tab.wait("document.querySelector('nav[aria-label=Pages]')");
    tab.click("button", "Sign out");
    // The provider asks, and sends the browser back to the console.
    tab.click("button", "Yes, sign me out");
    tab.wait("location.pathname === '/tyk/console/' && document.querySelector('.sign-in')");
    tab.click("a", "Sign in with Test provider");
    tab.wait("document.querySelector('input[name=login]')");
    assert!(tab.complaints.is_empty(), "{:#?}", tab.complaints);
}

fn scoped(gateway: &Gateway) -> Value {
    let user = json!({"name": "eve", "role": "editor", "password": "correct horse battery", "scope": {"tags": ["team-a"]}});
    assert_eq!(gateway.control("POST", "/tyk/users", &user.to_string()).status, 200);
    user
}

/// Notes which calls of a page are refused as closed to its operator, and how many have no answer yet.
const WATCH: &str = "(() => { const own = window.fetch; window.refusedCalls = []; window.waiting = 0; window.fetch = async (...call) => { \
    window.waiting++; try { const answer = await own(...call); if (answer.status === 403) window.refusedCalls.push(String(call[0])); return answer; } \
    finally { window.waiting--; } }; return true; })()";

/// Waits until a view shows what it shows at its end, and no call of it has still to be answered; none was refused.
#[track_caller]
fn expect_all_answered(tab: &mut Tab, shown: &str) {
    tab.wait(&format!("document.body.innerText.includes({}) && window.waiting === 0", json!(shown)));
    assert_eq!(tab.eval("window.refusedCalls"), json!([]), "{shown}");
}

#[test]
fn who_reaches_some_apis_sees_these_and_no_errors() {
    let Some(mut browser) = Browser::start() else { return };
    let shop = api("shop", "/shop/", "http://127.0.0.1:9/").set("tags", json!(["team-a"])).set("do_not_track", false);
    let rights = json!({"shop": {"api_id": "shop", "api_name": "shop", "versions": ["Default"]}});
    let own = json!({"id": "own", "name": "own", "org_id": "default", "active": true, "rate": 10, "per": 60, "quota_max": -1, "access_rights": rights});
    let (conf, _policies) = with_policies(json!({}), &[own]);
    let gateway = Gateway::start(conf, [shop, api("other", "/other/", "http://127.0.0.1:9/")]);
    let user = scoped(&gateway);
    let mut tab = browser.tab();
    tab.open_page(&page(&gateway, ""));
    tab.fill("Name", "eve");
    tab.fill("Password", user["password"].as_str().unwrap());
    tab.click("button", "Sign in");
    tab.see("You reach team-a");
    tab.wait("[...document.querySelectorAll('tbody th')].map((one) => one.innerText).join() === 'shop'");
    assert_eq!(tab.eval("document.querySelectorAll('.error, .connection.bad').length"), json!(0));
    for (width, dark) in [(1280, false), (390, true)] {
        tab.screen(width, 800, dark);
        tab.screenshot(&format!("overview-scoped-{width}"));
        let found = tab.accessibility().unwrap_or_default();
        assert!(found.is_empty(), "{width}: {found:#?}");
    }
    tab.screen(1280, 800, false);
    tab.eval(WATCH);
    // The tail of an own API is open.
    tab.click("tbody a", "Live tail");
    tab.wait("location.hash.startsWith('#/live') && location.hash.includes('api=shop')");
    // The page follows from some moment on.
    eventually("a request is shown as it comes", || {
        assert_eq!(gateway.get("/shop/x").status, 500);
        tab.eval("document.body.innerText.includes('/shop/x')") == json!(true)
    });
    // The API without what the whole gateway's figures and calls are for; links to it lead to the definition.
    for (view, name, shown) in [
        ("", "Definition", "valid"),
        ("/live", "Definition", "valid"),
        ("/chain", "Chain", "requests"),
        ("/versions", "Versions", "Not versioned"),
        ("/keys", "Keys", "Keys that may call it"),
        ("/usage", "Usage", "CSV"),
    ] {
        go(&mut tab, &format!("#/apis/shop{view}"));
        tab.wait(&format!("document.querySelector('.tabs [aria-current]')?.innerText === {}", json!(name)));
        expect_all_answered(&mut tab, shown);
        let tabs = "[...document.querySelectorAll('.tabs a')].map((one) => one.innerText).join()";
        assert_eq!(tab.eval(tabs), json!("Definition,Chain,Versions,Keys,Usage"));
        assert_eq!(tab.eval("[...document.querySelectorAll('button')].some((one) => one.innerText === 'Try it')"), json!(false));
    }
    // A policy is opened and saved.
    go(&mut tab, "#/policies?open=own");
    expect_all_answered(&mut tab, "Applies to keys");
    tab.fill("Requests", "11");
    tab.click("dialog button", "Save");
    tab.see("Save this policy?");
    tab.click("dialog button", "Save");
    expect_all_answered(&mut tab, "Policy saved.");
    let stored = gateway.control("GET", "/tyk/policies/own", "").json();
    assert_eq!(stored["rate"].as_f64(), Some(11.0), "{stored}");
    expect_no_complaints(&tab);
    // Who reaches everything sees the figures.
    let mut tab = open_signed_in(&mut browser, &gateway, "");
    tab.see("Upstream p99");
}
