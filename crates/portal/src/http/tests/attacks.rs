//! What strangers and other developers try. Tests of endpoints go over the whole table, so that a new endpoint is tried as well.

use super::guest::{PASSWORD, TestPortal, settings};
use crate::http::{PortalNeeds, ROUTES};
use crate::operators::DeveloperChange;
use serde_json::{Value, json};
use tollgate_model::config::PortalSignUpRule;

async fn open() -> TestPortal {
    TestPortal::new(settings(PortalSignUpRule::Open)).await
}

const NOBODYS: &str = "0123456789abcdef0123456789abcdef";

/// A path with these parts.
fn filled(path: &str, application: &str, grant: &str, key: &str, team: &str, member: &str) -> String {
    let path = path.replace("{application}", application).replace("{grant}", grant).replace("{key}", key);
    path.replace("{team}", team)
        .replace("{member}", member)
        .replace("{product}", "shop")
        .replace("{api}", "shop")
        .replace("{page}", "none")
}

#[tokio::test]
async fn no_endpoint_answers_a_foreign_page() {
    let test = open().await;
    let mut ada = test.developer("ada@example.com").await;
    let before = ada.call("GET", "/api/session", json!({})).await;
    let foreign: [&[(&str, &str)]; 6] = [
        &[],
        &[("sec-fetch-site", "same-origin")],
        &[("x-tollgate-portal", "1"), ("sec-fetch-site", "cross-site")],
        &[("x-tollgate-portal", "1"), ("sec-fetch-site", "same-site")],
        &[("x-tollgate-portal", "1"), ("host", "portal.example"), ("origin", "https://evil.example")],
        &[("x-tollgate-portal", "1"), ("host", "portal.example"), ("origin", "null")],
    ];
    for route in ROUTES {
        for headers in foreign {
            let path = filled(route.path, &format!("{NOBODYS}-{NOBODYS}"), NOBODYS, NOBODYS, NOBODYS, NOBODYS);
            let (status, answer) = ada.send(route.method, &path, json!({}), headers).await;
            assert_eq!((status, &answer["cause"]), (403, &json!("csrf")), "{} {path} {headers:?}", route.method);
        }
    }
    assert_eq!(ada.call("GET", "/api/session", json!({})).await, before, "still signed in");
}

#[tokio::test]
async fn who_is_not_signed_in_gets_nothing() {
    let test = open().await;
    for (cookie, name) in [(None, "none"), (Some(format!("tollgate_portal={NOBODYS}{NOBODYS}")), "guessed")] {
        for route in ROUTES.iter().filter(|route| route.needs == PortalNeeds::Developer) {
            let mut guest = test.guest("192.0.2.1");
            guest.cookie.clone_from(&cookie);
            let path = filled(route.path, &format!("{NOBODYS}-{NOBODYS}"), NOBODYS, NOBODYS, NOBODYS, NOBODYS);
            assert_eq!(guest.call(route.method, &path, json!({})).await.0, 401, "{} {path}, cookie {name}", route.method);
        }
    }
}

#[tokio::test]
async fn ids_of_another_team_are_as_good_as_none() {
    let test = open().await;
    let mut ada = test.developer("ada@example.com").await;
    let mut eve = test.developer("eve@example.com").await;
    let (application, grant) = ada.granted("auto").await;
    let (_, made) = ada.call("POST", &format!("/api/applications/{application}/grants/{grant}/keys"), json!({})).await;
    let (key, team) = (made["id"].as_str().unwrap(), ada.team().await);
    let (_, session) = ada.call("GET", "/api/session", json!({})).await;
    let member = session["developer"]["id"].as_str().unwrap().to_owned();
    let (eves, _) = eve.granted("auto").await;
    let (_, before) = ada.call("GET", &format!("/api/applications/{application}"), json!({})).await;
    let mut tried = 0;
    for route in ROUTES.iter().filter(|route| ["{application}", "{team}"].iter().any(|part| route.path.contains(part))) {
        let none = format!("{NOBODYS}-{NOBODYS}");
        let own_team = eves.split('-').next().unwrap();
        let mixed = format!("{own_team}-{}", application.split('-').nth(1).unwrap());
        let body = json!({"name": "Mine", "product": "shop", "plan": "auto", "mail": "eve@example.com", "role": "owner"});
        // Some bodies have members that are not theirs: those are refused before, so each is tried with those that fit.
        for body in [
            json!({}),
            json!({"name": body["name"]}),
            json!({"product": "shop", "plan": "auto"}),
            json!({"mail": body["mail"], "role": body["role"]}),
        ] {
            let real = filled(route.path, &application, &grant, key, &team, &member);
            let nothing = filled(route.path, &none, NOBODYS, NOBODYS, NOBODYS, NOBODYS);
            let crossed = filled(route.path, &mixed, &grant, key, NOBODYS, &member);
            let [real, nothing, crossed] = [
                eve.call(route.method, &real, body.clone()).await,
                eve.call(route.method, &nothing, body.clone()).await,
                eve.call(route.method, &crossed, body).await,
            ];
            assert_eq!(real, nothing, "{} {}", route.method, route.path);
            assert_eq!(crossed, nothing, "{} {}", route.method, route.path);
            assert!(matches!(real.0, 400 | 404), "{} {}: {real:?}", route.method, route.path);
            tried += usize::from(real.0 == 404);
        }
    }
    assert!(tried >= 12, "most were refused for the id and not for the body: {tried}");
    let body = json!({"team": team, "name": "Mine"});
    assert_eq!(eve.call("POST", "/api/applications", body).await.0, 404, "a team in a body");
    // Parts that are one's own do not open those of others.
    let (own, own_grant) = eve.granted("auto").await;
    let path = format!("/api/applications/{own}/grants/{own_grant}/keys/{key}");
    assert_eq!(eve.call("DELETE", &path, json!({})).await.0, 404);
    let path = format!("/api/applications/{own}/grants/{grant}/keys/{key}/rotate");
    assert_eq!(eve.call("POST", &path, json!({})).await.0, 404);
    assert_eq!(ada.call("GET", &format!("/api/applications/{application}"), json!({})).await.1, before, "nothing has changed");
    assert_eq!(test.door.count(), 1);
}

#[tokio::test]
async fn answers_do_not_tell_who_has_an_account() {
    let test = open().await;
    test.developer("ada@example.com").await;
    let mut answers = Vec::new();
    for (address, mail) in [("192.0.2.1", "ada@example.com"), ("192.0.2.2", "nobody@example.com")] {
        let mut guest = test.guest(address);
        let sign_in = guest.call("POST", "/api/session", json!({"mail": mail, "password": "a wrong password"})).await;
        let sign_up = guest.call("POST", "/api/accounts", json!({"mail": mail, "name": "Ada"})).await;
        let forgotten = guest.call("POST", "/api/password/forgotten", json!({"mail": mail})).await;
        answers.push([sign_in, sign_up, forgotten]);
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0].clone().map(|(status, _)| status), [403, 200, 200]);
}

#[tokio::test]
async fn passwords_are_not_guessed_from_one_address_nor_from_many() {
    let test = open().await;
    test.developer("ada@example.com").await;
    let guess = json!({"mail": "ada@example.com", "password": "a wrong password"});
    let mut guest = test.guest("192.0.2.1");
    let mut statuses = Vec::new();
    for _ in 0..7 {
        statuses.push(guest.call("POST", "/api/session", guess.clone()).await.0);
    }
    assert!(statuses.contains(&429), "an address has few tries: {statuses:?}");
    let mut refused = Value::Null;
    for network in 0..250 {
        let (_, answer) = test.guest(&format!("203.0.113.{network}")).call("POST", "/api/session", guess.clone()).await;
        // One second is the wait when all addresses together try too often.
        if answer["wait_s"].as_u64().is_some_and(|wait_s| wait_s > 1) {
            refused = answer;
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(refused["wait_s"].as_u64().is_some_and(|wait_s| wait_s <= 30), "so has an account, and waits are short: {refused}");
}

#[tokio::test]
async fn a_session_that_somebody_else_knows_is_not_taken_over() {
    let test = open().await;
    let mut ada = test.developer("ada@example.com").await;
    let first = ada.cookie.clone();
    assert_eq!(ada.sign_in("ada@example.com").await, 200);
    assert_ne!(ada.cookie, first, "each sign-in makes a token");
    let mut thief = test.guest("192.0.2.1");
    thief.cookie = first;
    assert_eq!(thief.call("GET", "/api/teams", json!({})).await.0, 401, "the one before has ended");
    // Pages of other hosts and paths can set a cookie without the prefix, with a token of whoever they like.
    let mut swapped = test.guest("192.0.2.4");
    swapped.cookie = ada.cookie.as_ref().map(|cookie| cookie.replace("__Host-", ""));
    assert_eq!(swapped.call("GET", "/api/teams", json!({})).await.0, 401);
    // A token that an attacker made up does not become a session.
    let mut lured = test.guest("192.0.2.2");
    lured.cookie = Some(format!("__Host-tollgate_portal={NOBODYS}{NOBODYS}"));
    assert_eq!(lured.sign_in("ada@example.com").await, 200);
    let mut attacker = test.guest("192.0.2.3");
    attacker.cookie = Some(format!("__Host-tollgate_portal={NOBODYS}{NOBODYS}"));
    assert_eq!(attacker.call("GET", "/api/teams", json!({})).await.0, 401);
    assert_eq!(lured.call("DELETE", "/api/session", json!({})).await.0, 200);
    assert_eq!(lured.call("GET", "/api/teams", json!({})).await.0, 401);
}

#[tokio::test]
async fn a_link_works_once() {
    let test = open().await;
    let mut ada = test.developer("ada@example.com").await;
    // As if the minute after the mail of the sign-up were over.
    let mailed = format!("mailed-{}", crate::one_use::digest("ada@example.com"));
    test.portal.documents.remove(&mailed).await.unwrap();
    assert_eq!(ada.call("POST", "/api/password/forgotten", json!({"mail": "ada@example.com"})).await.0, 200);
    let token = test.letter().await.token();
    let body = json!({"token": token, "password": "another long password"});
    let (mut one, mut two) = (test.guest("192.0.2.1"), test.guest("192.0.2.2"));
    let (first, second) =
        tokio::join!(one.call("POST", "/api/password", body.clone()), two.call("POST", "/api/password", body.clone()));
    let mut statuses = [first.0, second.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 410], "of two at a time, one gets it");
    assert_eq!(test.guest("192.0.2.3").call("POST", "/api/password", body).await.0, 410);
    assert_eq!(ada.call("GET", "/api/teams", json!({})).await.0, 401, "sessions of the old password have ended");
    let body = json!({"token": token, "password": PASSWORD, "name": "x"});
    assert_eq!(test.guest("192.0.2.4").call("POST", "/api/password", body).await.0, 410);
}

#[tokio::test]
async fn a_bad_password_does_not_use_up_a_link() {
    let test = open().await;
    let mut guest = test.guest("192.0.2.1");
    guest.call("POST", "/api/accounts", json!({"mail": "ada@example.com", "name": "Ada"})).await;
    let token = test.letter().await.token();
    let choose = |password: &str| json!({"token": token, "password": password});
    assert_eq!(guest.call("POST", "/api/password", choose("short")).await.0, 400);
    assert_eq!(guest.call("POST", "/api/password", choose(PASSWORD)).await.0, 200);
}

#[tokio::test]
async fn mass_sign_up_is_bounded() {
    let mut rule = settings(PortalSignUpRule::Open);
    rule.sign_up.per_hour_max = 8;
    let test = TestPortal::new(rule).await;
    let mut statuses = Vec::new();
    for turn in 0..10 {
        let body = json!({"mail": format!("bot{turn}@example.com"), "name": "Bot"});
        statuses.push(test.guest("192.0.2.1").call("POST", "/api/accounts", body).await.0);
    }
    assert!(statuses.contains(&429), "an address has few: {statuses:?}");
    let mut refused = String::new();
    for turn in 0..250 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        let body = json!({"mail": format!("bot{turn}@example.org"), "name": "Bot"});
        let (status, answer) = test.guest(&format!("203.0.113.{turn}")).call("POST", "/api/accounts", body).await;
        statuses.push(status);
        refused = answer["message"].to_string();
        if refused.contains("in this hour") {
            break;
        }
    }
    assert!(refused.contains("in this hour"), "so have all addresses together: {refused}");
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 8, "{statuses:?}");
    assert!(test.portal.developers().await.unwrap().is_empty(), "nobody has an account before they have shown their address");
}

#[tokio::test]
async fn nobody_floods_a_mail_box() {
    let test = open().await;
    for turn in 1..5 {
        let body = json!({"mail": "ada@example.com", "name": "Ada"});
        assert_eq!(test.guest(&format!("192.0.2.{turn}")).call("POST", "/api/accounts", body).await.0, 200);
    }
    assert!(test.has_letter().await);
    assert!(!test.has_letter().await, "one mail in a while");
}

#[tokio::test]
async fn names_are_one_line_and_addresses_are_addresses() {
    let test = open().await;
    let mut ada = test.developer("ada@example.com").await;
    for name in ["", "   ", "a\r\nBcc: x@example.com", "a\u{202e}b", "a\u{0}b", &"a".repeat(101)] {
        assert_eq!(ada.call("PUT", "/api/account", json!({"name": name})).await.0, 400, "{name:?}");
        assert_eq!(ada.call("POST", "/api/teams", json!({"name": name})).await.0, 400, "{name:?}");
    }
    let mut guest = test.guest("192.0.2.1");
    for mail in [
        "",
        "ada",
        "@",
        "a@b@c",
        "ada@example.com\r\nBcc: x@example.com",
        "ada@example.com,x@example.com",
        "ada <a@example.com>",
        "a b@example.com",
    ] {
        let body = json!({"mail": mail, "name": "Ada"});
        assert_eq!(guest.call("POST", "/api/accounts", body).await.0, 400, "{mail:?}");
    }
    // Text that is markup elsewhere is text here.
    let (status, answer) = ada.call("PUT", "/api/account", json!({"name": "<script>alert(1)</script>"})).await;
    assert_eq!((status, &answer["developer"]["name"]), (200, &json!("<script>alert(1)</script>")));
}

#[tokio::test]
async fn broken_bodies_are_refused_with_a_reason() {
    let test = open().await;
    let mut ada = test.developer("ada@example.com").await;
    let own = [("x-tollgate-portal", "1"), ("sec-fetch-site", "same-origin")];
    for route in ROUTES.iter().filter(|route| ["POST", "PUT"].contains(&route.method)) {
        let path = filled(route.path, &format!("{NOBODYS}-{NOBODYS}"), NOBODYS, NOBODYS, NOBODYS, NOBODYS);
        for body in [
            json!([]),
            json!("text"),
            json!(null),
            json!({"nobody": {"knows": "this"}}),
            json!({"mail": 5, "token": [], "name": {}}),
        ] {
            let (status, answer) = ada.send(route.method, &path, body, &own).await;
            assert!(matches!(status, 400 | 404), "{} {path}: {status}", route.method);
            assert!(answer["message"].as_str().is_some_and(|message| !message.is_empty()), "{} {path}: {answer}", route.method);
        }
    }
}

#[tokio::test]
async fn suspension_wins_against_a_key_that_is_being_made() {
    let test = open().await;
    let mut ada = test.developer("ada@example.com").await;
    let (application, grant) = ada.granted("auto").await;
    let id = test.portal.developers().await.unwrap()[0].id.clone();
    let path = format!("/api/applications/{application}/grants/{grant}/keys");
    let (made, suspended) =
        tokio::join!(ada.call("POST", &path, json!({})), test.portal.suspend(&id, DeveloperChange { suspended: true }));
    suspended.unwrap();
    if let Some(key) = made.1["key"].as_str() {
        assert!(test.door.is_suspended(key), "a key that was made before is refused");
    }
}
