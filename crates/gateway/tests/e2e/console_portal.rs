//! The console's pages about the developer portal: an operator publishes, decides and suspends in a real browser, and developers see it at once.
//! Screenshots stay in `target/console-screenshots`.

use serde_json::{Value, json};

use crate::console_pages::{expect_no_complaints, go, open_signed_in};
use crate::harness::browser::{Browser, Tab};
use crate::harness::gateway::SECRET;
use crate::harness::{Connection, Response, eventually, request};
use crate::keys::call;
use crate::portal::{Stage, expect_accessible, follow, stage};

/// Chooses an entry of the last field with this label.
fn choose(tab: &mut Tab, label: &str, value: &str) {
    let found = format!(
        "[...document.querySelectorAll('select')].filter((one) => one.checkVisibility() && (one.getAttribute('aria-label') === {label} \
         || one.closest('label')?.querySelector('span')?.innerText === {label})).at(-1)",
        label = json!(label)
    );
    tab.wait(&format!("[...({found})?.options ?? []].some((one) => one.value === {})", json!(value)));
    tab.eval(&format!(
        "(() => {{ const one = {found}; one.value = {}; one.dispatchEvent(new Event('change', {{bubbles: true}})); }})()",
        json!(value)
    ));
}

/// Waits until calls of an application are counted.
#[track_caller]
fn expect_counted(stage: &Stage, application: &str) {
    let path = format!("/tyk/portal/applications/{application}/usage");
    eventually("its calls are counted", || {
        stage.control("GET", &path, &json!({}))["keys"][0]["requests"].as_u64().is_some_and(|calls| calls > 0)
    });
}

/// What the catalogue shows to strangers.
fn catalogue(stage: &Stage) -> String {
    let headers = ["X-Tollgate-Portal: 1"];
    Connection::open(stage.portal).ask(request("GET", "/api/products", &headers, "")).text().to_owned()
}

#[test]
fn an_operator_publishes_a_product_and_withdraws_it() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(None, json!({}));
    let mut tab = open_signed_in(&mut browser, &stage.gateway, "#/portal/products");
    tab.click("button", "New product");
    tab.fill("Name", "Stock of goods");
    tab.fill("Summary", "What there is");
    tab.click("dialog label.choice", "shop");
    tab.click("label.choice", "Seen without signing in");
    tab.click("button", "Add a plan");
    tab.fill("Plan's name", "Trial");
    choose(&mut tab, "Policy", "gold");
    choose(&mut tab, "Requests are approved", "automatic");
    expect_accessible(&mut tab);
    tab.click("button", "Save the draft");
    tab.see("Saved as a draft");
    assert!(!catalogue(&stage).contains("Stock of goods"), "developers do not see drafts");
    tab.click("a", "Stock of goods");
    tab.click("button", "Publish");
    tab.see("Published.");
    let seen = catalogue(&stage);
    assert!(seen.contains("stock-of-goods") && seen.contains("Trial"), "{seen}");
    tab.click("a", "Stock of goods");
    tab.click("button", "Withdraw");
    tab.see("Withdrawn.");
    assert!(!catalogue(&stage).contains("Stock of goods"));
    go(&mut tab, "#/portal/pages?new=1");
    tab.fill("Title", "Terms of use");
    tab.fill("Text", "Be kind.");
    tab.click("button", "Publish");
    tab.wait("document.querySelector('tbody')?.innerText.includes('Terms of use')");
    let pages = stage.control("GET", "/tyk/portal/pages", &json!({}));
    assert!(pages.to_string().contains("terms-of-use"), "{pages}");
    // What the gateway refuses is said where it is seen, and nothing is lost.
    go(&mut tab, "#/portal/products?new=1");
    tab.fill("Name", "Nothing");
    tab.click("button", "Publish");
    tab.see("apis: must name");
    assert_eq!(tab.eval("document.querySelector('dialog input').value"), json!("Nothing"));
    assert!(tab.complaints.iter().all(|one| one.contains("400")), "{:#?}", tab.complaints);
}

#[test]
fn what_somebody_else_has_changed_meanwhile_is_not_overwritten() {
    let stage = stage(None, json!({}));
    let ask = |method: &str, path: &str, body: &Value, version: Option<&str>| {
        let secret = format!("x-tyk-authorization: {SECRET}");
        let lines = [Some(secret), version.map(|version| format!("If-Match: {version}")), Some("Connection: close".to_owned())];
        let lines: Vec<&str> = lines.iter().flatten().map(String::as_str).collect();
        stage.gateway.send(request(method, path, &lines, &body.to_string()))
    };
    let none = json!({});
    for (path, mut document) in [
        ("/tyk/portal/products/shop", json!({"name": "Shop", "apis": ["shop"]})),
        ("/tyk/portal/pages/start", json!({"title": "Start"})),
    ] {
        let version = |answer: &Response| answer.header("etag").expect("a version").to_owned();
        let read = ask("GET", path, &none, None);
        let old = version(&read);
        assert_eq!(read.json()["id"], path.rsplit('/').next().expect("an id"));
        assert_eq!(ask("PUT", path, &document, Some(&old)).status, 200);
        let new = version(&ask("GET", path, &none, None));
        assert_ne!(old, new);
        document["order"] = json!(7);
        for (method, body) in [("PUT", &document), ("DELETE", &none)] {
            let late = ask(method, path, body, Some(&old));
            assert_eq!(late.status, 412, "{method} {path}: {late}");
        }
        assert_eq!(version(&ask("GET", path, &none, None)), new, "nothing was written");
        // Of several at the same time, one is first.
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let put = |order: u16| {
                let mut document = document.clone();
                document["order"] = json!(order);
                let (ask, new) = (&ask, &new);
                scope.spawn(move || ask("PUT", path, &document, Some(new)).status)
            };
            let all: Vec<_> = (100..104).map(put).collect();
            all.into_iter().map(|one| one.join().expect("an answer")).collect()
        });
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
        let last = version(&ask("GET", path, &none, None));
        assert_eq!(ask("DELETE", path, &none, Some(&last)).status, 200);
        assert_eq!((ask("GET", path, &none, None).status, ask("PUT", path, &document, Some(&last)).status), (404, 412));
    }

    // In the console, too.
    let Some(mut browser) = Browser::start() else { return };
    stage.control("PUT", "/tyk/portal/pages/terms", &json!({"title": "Terms"}));
    let mut tab = open_signed_in(&mut browser, &stage.gateway, "#/portal/pages");
    tab.click("a", "Terms");
    tab.fill("Title", "Terms of use");
    stage.control("PUT", "/tyk/portal/pages/terms", &json!({"title": "Our terms"}));
    tab.click("button", "Save");
    tab.see("Not saved: somebody else changed this page since it was opened.");
    tab.screenshot("portal-page-conflict");
    assert_eq!(stage.control("GET", "/tyk/portal/pages/terms", &none)["title"], "Our terms");
}

#[test]
fn an_operator_decides_and_suspends_and_developers_notice_with_the_next_request() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(None, json!({"enable_analytics": true}));
    let mut ada = stage.invited("ada@example.com");
    let grant = ada.granted("large");
    let mut tab = open_signed_in(&mut browser, &stage.gateway, "#/portal");
    tab.see("1 waits for a decision.");
    tab.click("tbody button", "App");
    tab.wait("[...document.querySelectorAll('dialog button')].some((one) => one.innerText === 'Reject' && one.disabled)");
    expect_accessible(&mut tab);
    tab.fill("Answer", "Please say what for.");
    tab.click("dialog button", "Reject");
    tab.see("No request waits for a decision.");
    let path = grant.split("/grants").next().expect("a path");
    let application = ada.call("GET", path, &json!({}));
    assert!(application.text().contains("Please say what for."), "{application}");
    choose(&mut tab, "State", "rejected");
    tab.click("tbody button", "App");
    tab.click("dialog button", "Approve");
    tab.see("The developer can make keys.");
    let (key, _) = ada.key(&grant);
    assert_eq!(call(&stage.gateway, "/shop/", &key).status, 200);
    go(&mut tab, "#/portal/applications");
    tab.click("tbody a", "App");
    tab.wait("document.querySelector('dialog tbody tr')");
    tab.click("dialog button", "Change");
    choose(&mut tab, "Plan", "free");
    tab.click("dialog button", "Change the plan");
    tab.see("Plan changed.");
    let statuses = || (0..4).map(|_| call(&stage.gateway, "/shop/", &key).status).collect::<Vec<_>>();
    eventually("the larger plan", || statuses() == [200; 4]);
    go(&mut tab, "#/portal/developers");
    tab.click("a", "ada@example.com");
    tab.click("dialog button", "Suspend");
    tab.click("dialog button", "Suspend");
    tab.see("Suspended: signed out");
    assert_eq!(call(&stage.gateway, "/shop/", &key).status, 403);
    assert_eq!(ada.call("GET", "/api/applications", &json!({})).status, 401);
    tab.click("a", "ada@example.com");
    tab.click("dialog button", "Let them go on");
    tab.see("They may sign in again");
    eventually("it is served again", || call(&stage.gateway, "/shop/", &key).status == 200);
    expect_counted(&stage, path.rsplit('/').next().expect("an id"));
    go(&mut tab, "#/portal/applications");
    tab.click("tbody a", "App");
    tab.wait(
        "Number(document.querySelector('dialog tbody td.number')?.innerText) > 0 && document.querySelector('dialog tbody time')",
    );
    expect_no_complaints(&tab);
}

/// Every page, at the width of a desk and of a telephone, light and dark: nothing is cut off, and axe finds nothing. The pictures are for people.
#[test]
fn every_page_about_the_portal_fits_every_screen() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(None, json!({"enable_analytics": true}));
    let mut ada = stage.invited("ada@example.com");
    stage.invited("bob@example.com");
    ada.granted("large");
    let grant = ada.granted("free");
    let (key, _) = ada.key(&grant);
    assert_eq!(call(&stage.gateway, "/shop/", &key).status, 200);
    let application = grant.split('/').nth(3).expect("an id");
    expect_counted(&stage, application);
    let developer = stage.control("GET", "/tyk/portal/developers", &json!({}))[0]["id"].as_str().expect("an id").to_owned();
    let opened = format!("#/portal/applications?open={application}");
    let person = format!("#/portal/developers?open={developer}");
    let row = "document.querySelector('tbody tr')";
    let dialog = "document.querySelector('dialog .facts, dialog .form')";
    let views = [
        ("requests", "#/portal", row),
        ("products", "#/portal/products", row),
        (
            "product",
            "#/portal/products?open=shop",
            "document.querySelectorAll('dialog .choices label').length && document.querySelectorAll('dialog select option').length > 3",
        ),
        ("pages", "#/portal/pages", row),
        ("page", "#/portal/pages?open=start", dialog),
        ("applications", "#/portal/applications", row),
        ("application", &opened, "document.querySelector('dialog tbody tr time')"),
        ("developers", "#/portal/developers", "document.querySelectorAll('tbody tr').length >= 4"),
        ("developer", &person, dialog),
        ("invite", "#/portal/developers?new=1", dialog),
    ];
    let mut tab = open_signed_in(&mut browser, &stage.gateway, "#/portal");
    let mut wrong = Vec::new();
    for (width, height) in [(1280, 800), (360, 740)] {
        for dark in [false, true] {
            tab.screen(width, height, dark);
            for (name, view, complete) in views {
                go(&mut tab, view);
                tab.wait(complete);
                let place = format!("console-portal-{name}-{width}-{}", if dark { "dark" } else { "light" });
                tab.screenshot(&place);
                if tab.eval("document.documentElement.scrollWidth > innerWidth") == json!(true) {
                    wrong.push(format!("{place} is wider than the screen"));
                }
                wrong.extend(tab.accessibility().unwrap_or_default().into_iter().map(|one| format!("{place}: {one}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    expect_no_complaints(&tab);
}

#[test]
fn the_keyboard_alone_approves_a_request() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(None, json!({}));
    let mut ada = stage.invited("ada@example.com");
    let grant = ada.granted("large");
    let mut tab = open_signed_in(&mut browser, &stage.gateway, "#/portal");
    tab.see("1 waits for a decision.");
    follow(&mut tab, "App");
    tab.wait("document.querySelector('dialog textarea')");
    follow(&mut tab, "Approve");
    tab.see("No request waits for a decision.");
    assert_eq!(call(&stage.gateway, "/shop/", &ada.key(&grant).0).status, 200);
}
