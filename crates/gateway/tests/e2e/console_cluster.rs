//! The console of several gateways on one Redis, in a real browser: one page for all of them.

use serde_json::json;

use crate::console_pages::{expect_no_complaints, go, open_signed_in};
use crate::harness::browser::Browser;
use crate::harness::{Gateway, Upstream, api};
use crate::keys::{call, create, session_for};
use crate::servers::Server;
use crate::shared_keys::on;
use crate::statistics::wait_for;

#[test]
fn one_console_shows_all_gateways_what_differs_and_what_each_refused() {
    let Some(mut browser) = Browser::start() else { return };
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let shop = || api("shop", "/shop/", &upstream.url()).with_keys().set("do_not_track", false);
    let (first, second) = (Gateway::start(on(&server), [shop()]), Gateway::start(on(&server), [shop()]));
    wait_for(&first, "/tyk/nodes", |nodes| nodes["nodes"].as_array().is_some_and(|rows| rows.len() == 2));
    let key = create(&first, &session_for(&["shop"], json!({"alias": "acme", "rate": 1, "per": 60})));
    // The other gateway refuses; whoever looks at this one sees it.
    assert_eq!(second.get("/shop/unknown").status, 401);
    let mut tab = open_signed_in(&mut browser, &first, "#/live");
    tab.click("button", "GET /shop/unknown");
    tab.see("The request has no key or token.");
    let other = format!(":{}", second.port);
    tab.wait(&format!("document.querySelector('dialog')?.innerText.includes({})", json!(other)));
    tab.key("Escape", "");

    go(&mut tab, "#/system");
    tab.wait("[...document.querySelectorAll('.badge')].filter((one) => one.innerText === 'as the others').length === 2");
    second.write_api(&api("extra", "/extra/", &upstream.url()));
    second.reload();
    tab.see("differs: definitions");
    tab.screenshot("system-cluster");

    // A key that is deactivated here is refused there.
    go(&mut tab, "#/keys");
    tab.click("tbody a", "acme");
    tab.click("button", "Deactivate");
    tab.wait("document.querySelector('.page-head .badge')?.innerText === 'inactive'");
    assert_eq!(call(&second, "/shop/", &key).status, 403);
    // A change of a definition says whom it reaches.
    go(&mut tab, "#/apis/shop/definition");
    tab.fill("Name", "The shop");
    tab.wait("[...document.querySelectorAll('button')].some((one) => one.innerText === 'Save' && !one.disabled)");
    tab.click("button", "Save");
    tab.see("gets it; the other one keeps its files");
    expect_no_complaints(&tab);
}
