//! The console of several gateways on one Redis, in a real browser: one page for all of them.

use serde_json::json;

use crate::console_pages::{expect_no_complaints, go, open_signed_in};
use crate::harness::browser::Browser;
use crate::harness::{Gateway, Upstream, api, eventually};
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

#[test]
fn three_gateways_that_share_definitions_are_one_console() {
    let Some(mut browser) = Browser::start() else { return };
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let conf = || {
        let mut conf = on(&server);
        conf["enable_analytics"] = json!(true);
        crate::harness::definition::merge(&mut conf, &json!({"tollgate": {"shared_definitions": true}}));
        conf
    };
    let gateways: Vec<Gateway> = (0..3).map(|_| Gateway::start(conf(), [])).collect();
    wait_for(&gateways[0], "/tyk/nodes", |nodes| nodes["nodes"].as_array().is_some_and(|rows| rows.len() == 3));
    let mut tab = open_signed_in(&mut browser, &gateways[0], "#/apis?new=1");
    tab.fill("Name", "Shop");
    tab.fill("Upstream", &upstream.url());
    tab.eval("(() => { const choice = document.querySelector('dialog select'); choice.value = 'keyless'; choice.dispatchEvent(new Event('change', {bubbles: true})); })()");
    tab.click("button", "Make the API");
    tab.wait("location.hash === '#/apis/shop'");
    // What is made on one serves on all.
    for (place, gateway) in gateways.iter().enumerate() {
        eventually("the API is everywhere", || gateway.get("/shop/").status == 200);
        for _ in 0..place {
            gateway.get("/shop/more");
        }
    }
    go(&mut tab, "#/apis/shop/definition");
    tab.fill("Name", "The shop");
    tab.wait("[...document.querySelectorAll('button')].some((one) => one.innerText === 'Save' && !one.disabled)");
    tab.click("button", "Save");
    tab.see("All 3 gateways load it within seconds.");
    tab.click("dialog button", "Save");
    tab.see("Undo this save");
    for gateway in &gateways {
        eventually("the change is everywhere", || gateway.control("GET", "/tyk/apis/shop", "").json()["name"] == "The shop");
    }

    // Usage is that of all, and of each.
    let total = |usage: &serde_json::Value| -> u64 {
        usage["rows"].as_array().into_iter().flatten().filter_map(|row| row["hits"].as_u64()).sum()
    };
    let asked = "/tyk/usage?by=node&last=1h&nodes=all";
    let usage =
        wait_for(&gateways[1], asked, |usage| total(usage) >= 6 && usage["rows"].as_array().is_some_and(|rows| rows.len() == 3));
    assert_eq!((usage["nodes"].as_array().map(Vec::len), &usage["missing"]), (Some(3), &json!([])), "{usage}");
    let sums = gateways[0].control("GET", "/tyk/usage?by=api&last=1h&nodes=all", "").json();
    assert_eq!(total(&sums), total(&usage), "{sums} {usage}");
    assert!(total(&gateways[0].control("GET", "/tyk/usage?by=api&last=1h", "").json()) < total(&sums));
    go(&mut tab, "#/usage?last=1h&split=node");
    tab.wait("document.querySelectorAll('tbody tr').length === 3");
    tab.screenshot("usage-cluster");

    // The figures of each gateway, from one page.
    let other = format!(":{}", gateways[2].port);
    let names = gateways[0].control("GET", "/tyk/nodes", "").json();
    let name =
        names["nodes"].as_array().into_iter().flatten().filter_map(|row| row["node"].as_str()).find(|name| name.ends_with(&other));
    let name = name.expect("the third gateway");
    go(&mut tab, &format!("#/system?node={name}"));
    tab.wait(&format!("[...document.querySelectorAll('.panel h2')].some((one) => one.innerText.includes('Process') && one.innerText.includes({}))", json!(name)));
    tab.screenshot("system-other-gateway");
    assert_eq!(gateways[0].control("GET", "/tyk/live?apis=0&node=nobody", "").status, 502);
    expect_no_complaints(&tab);
}
