//! Invoices of the developer portal: real calls through gateways on one Redis, what they cost, and who sees it where.

use serde_json::{Value, json};

use crate::console_pages::open_signed_in;
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::keys::call;
use crate::portal::{Caller, PASSWORD, Stage, expect_accessible, stage};
use crate::servers::Server;
use crate::shared_keys::on;

/// The team of whoever signed up alone.
fn team(caller: &mut Caller) -> String {
    let session = caller.call("GET", "/api/session", &json!({})).json();
    session["developer"]["teams"][0].as_str().expect("a team").to_owned()
}

/// Makes calls with a key, with these statuses.
fn use_key(stage: &Stage, key: &str, statuses: &[u16]) {
    for status in statuses {
        assert_eq!(call(&stage.gateway, "/shop/", key).status, *status);
    }
}

#[test]
fn calls_through_all_gateways_are_on_one_invoice() {
    let server = Server::start(&[]);
    let mut conf = on(&server);
    conf["enable_analytics"] = json!(true);
    let (first, second) = (stage(None, conf.clone()), stage(None, conf));
    let mut ada = first.invited("ada@example.com");
    let grant = ada.granted("free");
    let (key, id) = ada.key(&grant);
    use_key(&first, &key, &[200; 4]);
    use_key(&second, &key, &[200; 3]);
    let team = team(&mut ada);
    let place = format!("/api/teams/{team}/invoices");
    let mut months = json!(null);
    eventually("all calls are counted", || {
        months = ada.call("GET", &place, &json!({})).json()["months"].clone();
        let month = months[0].as_str().expect("a month").to_owned();
        let invoice = ada.call("GET", &format!("{place}/{month}"), &json!({})).json();
        let line = &invoice["lines"][0];
        line["calls"] == 7 && line["sum"] == "0.004" && invoice["sums"] == json!({"EUR": "0.004"})
    });
    let month = months[0].as_str().expect("a month");
    // A key that is gone has made its calls.
    assert_eq!(ada.call("DELETE", &format!("{grant}/keys/{id}"), &json!({})).status, 200);
    let csv = ada.call("GET", &format!("{place}/{month}/csv"), &json!({}));
    assert_eq!((csv.status, csv.header("content-type")), (200, Some("text/csv; charset=utf-8")), "{csv}");
    let expected = format!(
        "month,application,product,plan,calls,free_calls,price_per_call,price_per_month,sum,currency\r\n\
         {month},App,Shop,Free,7,5,0.002,0.00,0.004,EUR\r\n"
    );
    assert_eq!(csv.text(), expected);
    // Operators see the same at each gateway.
    for stage in [&first, &second] {
        let path = format!("/tyk/portal/teams/{team}/invoices");
        assert_eq!(stage.control("GET", &path, &json!({})), months);
        let csv = stage.gateway.control("GET", &format!("{path}/{month}?format=csv"), "");
        assert_eq!((csv.status, csv.text()), (200, expected.clone()));
        for (path, status) in
            [(format!("{path}/2026"), 400), (format!("{path}/{month}?format=xml"), 400), (path.replace(&team, "x"), 404)]
        {
            assert_eq!(stage.gateway.control("GET", &path, "").status, status, "{path}");
        }
    }
    let mut eve = second.invited("eve@example.com");
    for path in [place.clone(), format!("{place}/{month}"), format!("{place}/{month}/csv")] {
        assert_eq!(eve.call("GET", &path, &json!({})).status, 404, "{path} of another team");
    }
}

#[test]
fn a_new_key_goes_on_with_the_quota_of_the_application() {
    let server = Server::start(&[]);
    let (first, second) = (stage(None, on(&server)), stage(None, on(&server)));
    let mut ada = first.invited("ada@example.com");
    let grant = ada.granted("free");
    let right = json!({"shop": {"api_id": "shop", "api_name": "shop", "versions": ["Default"]}});
    let six = json!({"id": "gold", "name": "gold", "org_id": "default", "active": true, "quota_max": 6, "quota_renewal_rate": 3600, "access_rights": right});
    for stage in [&first, &second] {
        stage.control("PUT", "/tyk/policies/gold", &six);
    }
    let (old, id) = ada.key(&grant);
    use_key(&first, &old, &[200; 3]);
    let rotated = ada.call("POST", &format!("{grant}/keys/{id}/rotate"), &json!({"overlap_s": 3600}));
    assert_eq!(rotated.status, 201, "{rotated}");
    let new = rotated.json()["key"].as_str().expect("a key").to_owned();
    use_key(&second, &new, &[200; 2]);
    use_key(&second, &old, &[200, 403]);
    use_key(&first, &new, &[403]);
    // Whoever gives the plan up and asks again, goes on too.
    assert_eq!(ada.call("DELETE", &grant, &json!({})).status, 200);
    let grants = grant.rsplit_once('/').expect("a path").0;
    let asked = ada.call("POST", grants, &json!({"product": "shop", "plan": "free"})).json();
    let grant = format!("{grants}/{}", asked["grant"].as_str().expect("an id"));
    let (key, _) = ada.key(&grant);
    use_key(&first, &key, &[403]);
}

#[test]
fn invoices_are_shown_to_developers_and_operators() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(None, json!({}));
    let mut ada = stage.invited("ada@example.com");
    let grant = ada.granted("large");
    let place = grant.replace("/api/", "/tyk/portal/");
    let decided: Value = stage.control("PATCH", &place, &json!({"state": "approved"}));
    assert_eq!(decided["state"], "approved");
    let (key, _) = ada.key(&grant);
    use_key(&stage, &key, &[200, 200, 429]);
    let mut tab = browser.tab();
    tab.open_page(&stage.page("#/products/shop"));
    tab.see("0.002 EUR a call after 5 free ones in a month");
    tab.see("49 EUR a month");
    tab.open_page(&stage.page("#/sign-in"));
    tab.fill("Mail address", "ada@example.com");
    tab.fill("Password", PASSWORD);
    tab.click("button", "Sign in");
    tab.see("Ada");
    tab.click("a", "Applications");
    tab.click("a", "Invoices");
    for (width, dark) in [(375, true), (1280, false)] {
        tab.screen(width, 740, dark);
        tab.see("49.00 EUR");
        assert_eq!(tab.eval("document.documentElement.scrollWidth > innerWidth"), json!(false), "at {width}");
        tab.screenshot(&format!("portal-invoices-{width}"));
        expect_accessible(&mut tab);
    }
    tab.click("a", "Applications");
    // Until it is there, the longer name in the menu would be clicked.
    tab.see("shop: approved");
    tab.click("a", "App");
    tab.see("this month until now");
    tab.see("49.00 EUR");
    tab.screenshot("portal-costs-1280");
    expect_accessible(&mut tab);
    let mut tab = open_signed_in(&mut browser, &stage.gateway, "#/portal/developers");
    tab.click("a", "Invoices");
    for (width, dark) in [(1280, false), (375, true)] {
        tab.screen(width, 740, dark);
        tab.see("49.00 EUR");
        tab.screenshot(&format!("console-invoices-{width}"));
        expect_accessible(&mut tab);
    }
}
