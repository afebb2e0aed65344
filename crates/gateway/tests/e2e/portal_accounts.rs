//! What people see of their own at the portal: when their keys end, and how they change their password.

use serde_json::json;

use crate::harness::browser::{Browser, Tab};
use crate::portal::{PASSWORD, Stage, expect_accessible, stage};

/// A page of somebody who is signed in.
fn signed_in(browser: &mut Browser, stage: &Stage) -> Tab {
    let mut tab = browser.tab();
    tab.open_page(&stage.page("#/sign-in"));
    tab.fill("Mail address", "ada@example.com");
    tab.fill("Password", PASSWORD);
    tab.click("button", "Sign in");
    tab.see("Orders and articles");
    tab
}

#[test]
fn a_key_says_when_its_policy_ends_it() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(None, json!({}));
    let rights = json!({"shop": {"api_id": "shop", "api_name": "shop", "versions": ["Default"]}});
    let gold = json!({"id": "gold", "name": "gold", "org_id": "default", "active": true, "rate": 1000, "per": 60, "quota_max": -1,
        "key_expires_in": 30 * 24 * 3600, "access_rights": rights});
    stage.control("PUT", "/tyk/policies/gold", &gold);
    let mut ada = stage.invited("ada@example.com");
    let grant = ada.granted("free");
    ada.key(&grant);
    let mut tab = signed_in(&mut browser, &stage);
    tab.eval(&format!("location.hash = '#/applications/{}'", grant.split('/').nth(3).expect("an id")));
    tab.wait("/ends in (29|30) d/.test(document.body.innerText)");
    expect_accessible(&mut tab);
    assert!(tab.complaints.is_empty(), "{:#?}", tab.complaints);
}

#[test]
fn a_password_is_changed_without_a_mail_and_ends_other_sessions() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(None, json!({}));
    let mut elsewhere = stage.invited("ada@example.com");
    let mut tab = signed_in(&mut browser, &stage);
    tab.click("a", "Ada");
    tab.fill("Old password", "a wrong password");
    tab.fill("New password", "another long password");
    tab.click("button", "Change the password");
    tab.see("The old password is wrong");
    expect_accessible(&mut tab);
    assert_eq!(elsewhere.call("GET", "/api/teams", &json!({})).status, 200);
    tab.fill("Old password", PASSWORD);
    tab.click("button", "Change the password");
    tab.see("The password is changed.");
    assert_eq!(tab.eval("document.querySelector('[name=old]').value"), json!(""));
    assert_eq!(elsewhere.call("GET", "/api/teams", &json!({})).status, 401, "other sessions have ended");
    // This one goes on.
    tab.eval("location.hash = '#/teams'");
    tab.see("ada@example.com");
    let mut enter =
        |password: &str| elsewhere.call("POST", "/api/session", &json!({"mail": "ada@example.com", "password": password})).status;
    assert_eq!((enter(PASSWORD), enter("another long password")), (403, 200));
    assert!(tab.complaints.is_empty(), "{:#?}", tab.complaints);
}
