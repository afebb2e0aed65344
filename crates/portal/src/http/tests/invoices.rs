//! Invoices: what is counted when, and what stays of what is gone.

use super::guest::{Guest, TestPortal, settings};
use crate::catalogue::ApiProduct;
use crate::invoice::Invoice;
use crate::invoice_month::InvoiceMonth;
use crate::operators::{GrantDecision, GrantPlace};
use crate::price::PlanPrice;
use serde_json::{Value, json};
use tollgate_clock::unix_s;
use tollgate_model::config::PortalSignUpRule;

const HOUR_S: u64 = 3600;
const DAY_S: u64 = 24 * HOUR_S;

/// Gives both plans of the product prices of a month, and a cent for each call beyond ten.
async fn set_prices(test: &TestPortal, auto: &str, manual: &str) {
    let mut product: ApiProduct = test.portal.one_published("shop").await.unwrap();
    for (plan, per_month) in product.plans.iter_mut().zip([auto, manual]) {
        plan.price = Some(PlanPrice {
            currency: "EUR".to_owned(),
            per_month: per_month.to_owned(),
            per_call: "0.01".to_owned(),
            free_calls: 10,
        });
    }
    test.portal.put_published(&product, |_| true).await.unwrap();
}

async fn new_key(ada: &mut Guest, application: &str, grant: &str) -> (String, String) {
    let (status, made) = ada.call("POST", &format!("/api/applications/{application}/grants/{grant}/keys"), json!({})).await;
    assert_eq!(status, 201, "{made}");
    (made["id"].as_str().unwrap().to_owned(), made["key"].as_str().unwrap().to_owned())
}

/// Lines of the present month: plan, calls, sum.
async fn lines(ada: &mut Guest) -> Vec<(String, u64, String)> {
    let (team, month) = (ada.team().await, InvoiceMonth::of(unix_s()).to_string());
    let (status, invoice) = ada.call("GET", &format!("/api/teams/{team}/invoices/{month}"), json!({})).await;
    assert_eq!(status, 200, "{invoice}");
    let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    let lines = invoice["lines"].as_array().unwrap().iter();
    lines.map(|line| (text(line, "plan"), line["calls"].as_u64().unwrap(), text(line, "sum"))).collect()
}

fn line(plan: &str, calls: u64, sum: &str) -> (String, u64, String) {
    (plan.to_owned(), calls, sum.to_owned())
}

#[tokio::test]
async fn calls_of_keys_that_are_gone_are_paid_for() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    set_prices(&test, "5", "20").await;
    let mut ada = test.developer("ada@example.com").await;
    let (application, grant) = ada.granted("auto").await;
    let (id, key) = new_key(&mut ada, &application, &grant).await;
    let (_, other) = new_key(&mut ada, &application, &grant).await;
    test.door.use_key(&key, unix_s(), 30);
    test.door.use_key(&other, unix_s(), 5);
    assert_eq!(lines(&mut ada).await, [line("auto", 35, "5.25")]);
    assert_eq!(lines(&mut ada).await, [line("auto", 35, "5.25")], "looking costs nothing");
    let path = format!("/api/applications/{application}/grants/{grant}/keys/{id}");
    assert_eq!(ada.call("DELETE", &path, json!({})).await.0, 200);
    // Written a little later than the key was removed.
    test.door.use_key(&key, unix_s(), 1);
    assert_eq!(lines(&mut ada).await, [line("auto", 36, "5.26")]);
    assert_eq!(ada.call("DELETE", &format!("/api/applications/{application}"), json!({})).await.0, 200);
    test.door.use_key(&other, unix_s(), 4);
    assert_eq!(lines(&mut ada).await, [line("auto", 40, "5.30")], "an application that is gone was used, too");
}

#[tokio::test]
async fn the_last_plan_of_a_month_is_paid_for() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    set_prices(&test, "5", "20").await;
    let mut ada = test.developer("ada@example.com").await;
    let (application, grant) = ada.granted("auto").await;
    let (_, key) = new_key(&mut ada, &application, &grant).await;
    test.door.use_key(&key, unix_s(), 20);
    assert_eq!(lines(&mut ada).await, [line("auto", 20, "5.10")]);
    let place = GrantPlace { application: &application, grant: &grant };
    let decision = GrantDecision { state: None, plan: Some("manual".to_owned()), answer: String::new() };
    test.portal.decide(place, &decision).await.unwrap();
    let found = lines(&mut ada).await;
    assert_eq!(found.iter().map(|(_, calls, _)| calls).sum::<u64>(), 20, "no call is paid for twice: {found:?}");
    assert!(found.iter().any(|(plan, ..)| plan == "manual"), "{found:?}");
}

#[tokio::test]
async fn a_month_that_is_over_stays_as_it_was() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    set_prices(&test, "5", "20").await;
    let mut ada = test.developer("ada@example.com").await;
    let (application, grant) = ada.granted("auto").await;
    let (_, key) = new_key(&mut ada, &application, &grant).await;
    let (team, now) = (ada.team().await, unix_s());
    let (first, second) = (InvoiceMonth::of(now).after(), InvoiceMonth::of(now).after().after());
    let read = async |month: InvoiceMonth| {
        let found = test.portal.month(&team, month).await.unwrap().unwrap_or_default();
        Invoice::of(month.to_string(), &found)
    };
    let end = second.start_unix_s();
    test.portal.count_calls(first.start_unix_s() + DAY_S).await.unwrap();
    for (unix_s, calls) in [(first.start_unix_s(), 10), (first.start_unix_s() + 2 * DAY_S, 10), (end - 1, 10), (end + DAY_S, 11)] {
        test.door.use_key(&key, unix_s, calls);
    }
    test.portal.count_calls(end - HOUR_S / 2).await.unwrap();
    test.door.use_key(&key, end - 1, 3);
    for at in [end + HOUR_S, end + HOUR_S, end + 2 * DAY_S] {
        test.portal.count_calls(at).await.unwrap();
    }
    assert_eq!(read(first).await.lines[0].sum, "5.23", "33 calls, ten of them free");
    set_prices(&test, "7", "20").await;
    test.door.use_key(&key, end - 1, 100);
    test.portal.count_calls(end + 3 * DAY_S).await.unwrap();
    assert_eq!(read(first).await.lines[0].sum, "5.23", "neither a new price nor late calls change it");
    let line = &read(second).await.lines[0];
    assert_eq!(
        (line.calls, line.sum.as_str()),
        (11, "7.01"),
        "prices are those at the end of a month, and the free calls are new ones"
    );
}

#[tokio::test]
async fn without_prices_nothing_is_counted_and_there_are_no_invoices() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    let mut ada = test.developer("ada@example.com").await;
    let (application, grant) = ada.granted("auto").await;
    let (_, key) = new_key(&mut ada, &application, &grant).await;
    test.door.use_key(&key, unix_s(), 20);
    test.portal.count_calls(unix_s()).await.unwrap();
    let team = ada.team().await;
    let (_, found) = ada.call("GET", &format!("/api/teams/{team}/invoices"), json!({})).await;
    assert_eq!(found["months"], json!([]));
    // From the hour on in which there are prices, the month counts from its first day.
    set_prices(&test, "5", "20").await;
    let (_, found) = ada.call("GET", &format!("/api/teams/{team}/invoices"), json!({})).await;
    assert_eq!(found["months"], json!([InvoiceMonth::of(unix_s()).to_string()]));
    assert_eq!(lines(&mut ada).await, [line("auto", 20, "5.10")]);
}

#[tokio::test]
async fn a_month_must_be_one() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    let mut ada = test.developer("ada@example.com").await;
    let team = ada.team().await;
    for month in ["2026", "2026-13", "2026-1", "x", "..%2F..%2Fteam"] {
        for path in [format!("/api/teams/{team}/invoices/{month}"), format!("/api/teams/{team}/invoices/{month}/csv")] {
            assert_eq!(ada.call("GET", &path, json!({})).await.0, 400, "{path}");
        }
    }
}
