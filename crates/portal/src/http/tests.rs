//! The portal as browsers and attackers call it. The gateway behind it is a list of keys.

mod attacks;
mod counted;
mod guest;
mod invoices;

use crate::GrantState;
use crate::catalogue::ApiProduct;
use crate::operators::{DeveloperChange, GrantDecision, GrantPlace};
use crate::publishing::PublishedWatch;
use guest::{Guest, PASSWORD, TestPortal, settings};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use tollgate_model::config::PortalSignUpRule;

#[tokio::test]
async fn sign_up_leads_to_a_key() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    let mut ada = test.guest("192.0.2.1");
    let (status, _) = ada.call("POST", "/api/accounts", json!({"mail": "Ada@Example.com", "name": "Ada"})).await;
    assert_eq!(status, 200);
    let letter = test.letter().await;
    assert_eq!(letter.to, "ada@example.com");
    let (status, entered) = ada.call("POST", "/api/password", json!({"token": letter.token(), "password": PASSWORD})).await;
    assert_eq!((status, &entered["developer"]["mail"]), (200, &json!("ada@example.com")), "{entered}");
    let (_, products) = ada.call("GET", "/api/products", json!({})).await;
    assert_eq!(products["products"][0]["name"], "Shop", "{products}");
    let (application, grant) = ada.granted("auto").await;
    let (status, made) = ada.call("POST", &format!("/api/applications/{application}/grants/{grant}/keys"), json!({})).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!(test.door.policy_of(made["key"].as_str().unwrap()), Some("gold".to_owned()));
    let (_, shown) = ada.call("GET", &format!("/api/applications/{application}"), json!({})).await;
    assert!(!shown.to_string().contains(made["key"].as_str().unwrap()), "a key is shown once: {shown}");
}

#[tokio::test]
async fn a_request_waits_for_a_decision() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    let mut ada = test.developer("ada@example.com").await;
    let (application, grant) = ada.granted("manual").await;
    let keys = format!("/api/applications/{application}/grants/{grant}/keys");
    assert_eq!(ada.call("POST", &keys, json!({})).await.0, 409);
    let requests = test.portal.requests(Some(GrantState::Requested)).await.unwrap();
    assert_eq!(requests.len(), 1);
    let place = GrantPlace { application: &application, grant: &grant };
    let decided = |state| GrantDecision { state: Some(state), plan: None, answer: "Welcome".to_owned() };
    test.portal.decide(place, &decided(GrantState::Approved)).await.unwrap();
    assert!(test.letter().await.text.contains("Welcome"));
    let (status, made) = ada.call("POST", &keys, json!({})).await;
    assert_eq!(status, 201);
    let key = made["key"].as_str().unwrap();
    test.portal.decide(place, &decided(GrantState::Suspended)).await.unwrap();
    assert!(test.door.is_suspended(key));
    assert_eq!(ada.call("POST", &keys, json!({})).await.0, 409, "no key gets around a suspension");
    let give_up = format!("/api/applications/{application}/grants/{grant}");
    assert_eq!(ada.call("DELETE", &give_up, json!({})).await.0, 409, "nor does a new request");
    assert_eq!(ada.call("DELETE", &format!("/api/applications/{application}"), json!({})).await.0, 409);
    test.portal.decide(place, &decided(GrantState::Approved)).await.unwrap();
    assert!(!test.door.is_suspended(key));
    let plan = GrantDecision { state: None, plan: Some("auto".to_owned()), answer: String::new() };
    test.portal.decide(place, &plan).await.unwrap();
    assert_eq!(test.door.policy_of(key), Some("gold".to_owned()), "another plan is another policy");
    assert_eq!(
        test.door.told(),
        ["signed_up", "request_made", "request_approved", "access_suspended", "request_approved", "request_approved"]
    );
}

#[tokio::test]
async fn a_rotated_key_works_beside_the_new_one_for_a_while() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    let mut ada = test.developer("ada@example.com").await;
    let (application, grant) = ada.granted("auto").await;
    let keys = format!("/api/applications/{application}/grants/{grant}/keys");
    let (_, old) = ada.call("POST", &keys, json!({})).await;
    let rotate = format!("{keys}/{}/rotate", old["id"].as_str().unwrap());
    let (status, new) = ada.call("POST", &rotate, json!({"overlap_s": 600})).await;
    assert_eq!(status, 201, "{new}");
    assert_eq!(test.door.ends(old["key"].as_str().unwrap()), new["old_ends_unix_s"].as_u64());
    assert_eq!(test.door.ends(new["key"].as_str().unwrap()), Some(0));
    assert_eq!(ada.call("POST", &rotate, json!({})).await.0, 409, "it has a successor");
    assert_eq!(ada.call("POST", &rotate, json!({"overlap_s": 99_999_999})).await.0, 400);
    let remove = format!("{keys}/{}", new["id"].as_str().unwrap());
    assert_eq!(ada.call("DELETE", &remove, json!({})).await.0, 200);
    assert_eq!(test.door.policy_of(new["key"].as_str().unwrap()), None, "removed at once");
    let (_, shown) = ada.call("GET", &format!("/api/applications/{application}"), json!({})).await;
    assert_eq!(shown["grants"][0]["keys"].as_array().map(Vec::len), Some(1), "{shown}");
}

#[tokio::test]
async fn keys_that_end_and_quotas_that_run_out_are_told_once() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    let mut ada = test.developer("ada@example.com").await;
    let (application, grant) = ada.granted("auto").await;
    let keys = format!("/api/applications/{application}/grants/{grant}/keys");
    let (_, old) = ada.call("POST", &keys, json!({})).await;
    let rotate = format!("{keys}/{}/rotate", old["id"].as_str().unwrap());
    assert_eq!(ada.call("POST", &rotate, json!({"overlap_s": 86_400})).await.0, 201);
    let now = tollgate_clock::unix_s();
    for hour in 0..3 {
        test.portal.look_at_keys(now + hour * 3600).await.unwrap();
        test.portal.look_at_keys(now + hour * 3600).await.unwrap();
    }
    let mut subjects = Vec::new();
    for _ in 0..2 {
        subjects.push(test.letter().await.subject);
    }
    subjects.sort();
    let [end, quota] = ["A key ends soon", "A quota is nearly used up"].map(|subject| format!("{subject} - Developer portal"));
    assert_eq!(subjects, [end, quota], "one key ends, and both use one quota");
    assert!(!test.has_letter().await);
}

#[tokio::test]
async fn apis_of_products_that_are_seen_may_be_tried() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    let mut watch = PublishedWatch::new(test.store.clone());
    let mut seen = async || watch.changed().await.unwrap().map(|ids| ids.into_iter().collect::<Vec<_>>());
    let shop = vec!["shop".to_owned()];
    assert_eq!((test.door.tried(), seen().await), (shop.clone(), Some(shop.clone())));
    assert_eq!(seen().await, None, "nothing has changed");
    let mut product: ApiProduct = test.portal.one_published("shop").await.unwrap();
    for (is_draft, expected) in [(true, vec![]), (false, shop.clone())] {
        product.is_draft = is_draft;
        test.portal.put_published(&product, |_| true).await.unwrap();
        assert_eq!((test.door.tried(), seen().await), (expected.clone(), Some(expected)), "is_draft: {is_draft}");
    }
    test.portal.unpublish(&["shop".to_owned()], &[]).await.unwrap();
    assert_eq!((test.door.tried(), seen().await), (vec![], Some(vec![])));
    test.portal.publish(&[product], &[]).await.unwrap();
    assert_eq!((test.door.tried(), seen().await), (shop.clone(), Some(shop)));
    assert!(test.portal.remove_published::<ApiProduct>("shop", |_| true).await.unwrap());
    assert_eq!((test.door.tried(), seen().await), (vec![], Some(vec![])));
}

#[tokio::test]
async fn a_search_is_computed_once_for_each_change() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    test.publish("inner", false).await;
    let mut ada = test.developer("ada@example.com").await;
    let mut eve = test.guest("192.0.2.9");
    let asked = || test.door.asked.swap(0, Ordering::SeqCst);
    let ids = |(status, found): (u16, Value)| {
        assert_eq!(status, 200);
        found["products"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    asked();
    for _ in 0..3 {
        assert_eq!(ids(ada.call("GET", "/api/search", json!({})).await).len(), 2);
        assert_eq!(ids(eve.call("GET", "/api/search", json!({})).await), ["shop"], "what is not public is not found");
    }
    assert_eq!(asked(), 3, "each API of what somebody may find, once");
    test.publish("more", true).await;
    asked();
    assert_eq!(ids(eve.call("GET", "/api/search", json!({})).await), ["more", "shop"]);
    assert!(asked() > 0);
    test.door.version.fetch_add(1, Ordering::SeqCst);
    eve.call("GET", "/api/search", json!({})).await;
    assert!(asked() > 0, "a definition has changed");
    eve.call("GET", "/api/search", json!({})).await;
    assert_eq!(asked(), 0);
}

#[tokio::test]
async fn usage_is_of_ones_own_keys() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    let mut ada = test.developer("ada@example.com").await;
    let (application, grant) = ada.granted("auto").await;
    ada.call("POST", &format!("/api/applications/{application}/grants/{grant}/keys"), json!({})).await;
    let (status, shown) = ada.call("GET", &format!("/api/applications/{application}/usage"), json!({})).await;
    assert_eq!((status, &shown["keys"][0]["usage"][0]["requests"]), (200, &json!(3)), "{shown}");
    assert_eq!(shown["keys"][0]["state"]["quota_remaining"], 15, "{shown}");
}

#[tokio::test]
async fn a_suspended_developer_is_out_at_once_with_their_keys() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    let mut ada = test.developer("ada@example.com").await;
    let (application, grant) = ada.granted("auto").await;
    let (_, made) = ada.call("POST", &format!("/api/applications/{application}/grants/{grant}/keys"), json!({})).await;
    let key = made["key"].as_str().unwrap().to_owned();
    let id = test.portal.developers().await.unwrap()[0].id.clone();
    test.portal.suspend(&id, DeveloperChange { suspended: true }).await.unwrap();
    assert!(test.door.is_suspended(&key));
    assert_eq!(ada.call("GET", "/api/applications", json!({})).await.0, 401);
    assert_eq!(ada.sign_in("ada@example.com").await, 403);
    test.portal.suspend(&id, DeveloperChange { suspended: false }).await.unwrap();
    assert!(!test.door.is_suspended(&key));
    assert_eq!(ada.call("GET", "/api/applications", json!({})).await.0, 401, "sessions of before stay ended");
    assert_eq!(ada.sign_in("ada@example.com").await, 200);
    test.portal.remove_developer(&id).await.unwrap();
    assert_eq!(test.door.policy_of(&key), None);
    assert_eq!(ada.call("GET", "/api/applications", json!({})).await.0, 401);
    assert!(test.portal.requests(None).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_keys_of_somebody_who_has_left_the_team_are_refused_too() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    let mut ada = test.developer("ada@example.com").await;
    let mut bob = test.developer("bob@example.com").await;
    let (application, grant) = ada.granted("auto").await;
    let team = ada.team().await;
    let body = json!({"mail": "bob@example.com", "role": "member"});
    assert_eq!(ada.call("POST", &format!("/api/teams/{team}/invitations"), body).await.0, 201);
    let token = test.letter().await.token();
    assert_eq!(bob.call("POST", "/api/invitations", json!({"token": token})).await.0, 200);
    let keys = format!("/api/applications/{application}/grants/{grant}/keys");
    let (_, own) = ada.call("POST", &keys, json!({})).await;
    let (status, made) = bob.call("POST", &keys, json!({})).await;
    assert_eq!(status, 201, "{made}");
    let [own, key] = [own, made].map(|made| made["key"].as_str().unwrap().to_owned());
    let id = test.portal.developers().await.unwrap().into_iter().find(|one| one.mail == "bob@example.com").unwrap().id;
    assert_eq!(ada.call("DELETE", &format!("/api/teams/{team}/members/{id}"), json!({})).await.0, 200);
    assert!(!test.door.is_suspended(&key), "the application goes on");
    test.portal.suspend(&id, DeveloperChange { suspended: true }).await.unwrap();
    assert_eq!([&key, &own].map(|key| test.door.is_suspended(key)), [true, false]);
    test.portal.remove_developer(&id).await.unwrap();
    assert_eq!([&key, &own].map(|key| test.door.policy_of(key).is_some()), [false, true]);
}

#[tokio::test]
async fn members_invite_only_those_who_may_have_an_account() {
    let mut rule = settings(PortalSignUpRule::Domain);
    rule.sign_up.domains = vec!["example.com".to_owned()];
    rule.sign_up.per_hour_max = 3;
    let test = TestPortal::new(rule).await;
    let mut ada = test.developer("ada@example.com").await;
    let invitations = format!("/api/teams/{}/invitations", ada.team().await);
    let choose = async |test: &TestPortal, address: &str, token: String| {
        let (status, answer) =
            test.guest(address).call("POST", "/api/password", json!({"token": token, "password": PASSWORD})).await;
        (status, answer["cause"].as_str().unwrap_or_default().to_owned())
    };
    for (number, (mail, expected)) in [
        ("eve@example.org", (403, "domain")),
        ("bob@example.com", (200, "")),
        ("cleo@example.com", (200, "")),
        ("dan@example.com", (429, "too_many")),
    ]
    .into_iter()
    .enumerate()
    {
        let (status, answer) = ada.call("POST", &invitations, json!({"mail": mail, "role": "owner"})).await;
        assert_eq!((status, &answer["status"]), (201, &json!("ok")), "the answer tells nothing");
        let token = test.letter().await.token();
        let (status, cause) = choose(&test, &format!("192.0.2.{number}"), token).await;
        assert_eq!((status, cause.as_str()), expected, "{mail}");
    }
}

#[tokio::test]
async fn a_grant_makes_so_many_keys_in_a_day() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    let mut ada = test.developer("ada@example.com").await;
    let (application, grant) = ada.granted("auto").await;
    let keys = format!("/api/applications/{application}/grants/{grant}/keys");
    let (_, made) = ada.call("POST", &keys, json!({})).await;
    let mut id = made["id"].as_str().unwrap().to_owned();
    let mut statuses = Vec::new();
    for _ in 0..30 {
        let (status, made) = ada.call("POST", &format!("{keys}/{id}/rotate"), json!({"overlap_s": 0})).await;
        statuses.push(status);
        id = made["id"].as_str().map_or(id, str::to_owned);
    }
    assert_eq!(statuses.iter().position(|status| *status == 429), Some(29), "each key has a quota of its own: {statuses:?}");
}

#[tokio::test]
async fn usage_names_apis_whose_requests_nobody_records() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    let mut ada = test.developer("ada@example.com").await;
    let (application, grant) = ada.granted("auto").await;
    ada.call("POST", &format!("/api/applications/{application}/grants/{grant}/keys"), json!({})).await;
    let (_, shown) = ada.call("GET", &format!("/api/applications/{application}/usage"), json!({})).await;
    assert_eq!(shown["unrecorded"], json!(["Shop"]), "{shown}");
}

#[tokio::test]
async fn a_team_shares_its_applications_until_somebody_leaves() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    let mut ada = test.developer("ada@example.com").await;
    let mut bob = test.developer("bob@example.com").await;
    let (application, _) = ada.granted("auto").await;
    let team = ada.team().await;
    let invitations = format!("/api/teams/{team}/invitations");
    assert_eq!(ada.call("POST", &invitations, json!({"mail": "bob@example.com", "role": "member"})).await.0, 201);
    let token = test.letter().await.token();
    let mut eve = test.developer("eve@example.com").await;
    assert_eq!(eve.call("POST", "/api/invitations", json!({"token": token})).await.0, 403, "it is for another address");
    assert_eq!(bob.call("GET", &format!("/api/applications/{application}"), json!({})).await.0, 404);
    assert_eq!(bob.call("POST", "/api/invitations", json!({"token": token})).await.0, 200);
    assert_eq!(bob.call("GET", &format!("/api/applications/{application}"), json!({})).await.0, 200);
    assert_eq!(
        bob.call("POST", &invitations, json!({"mail": "eve@example.com", "role": "owner"})).await.0,
        403,
        "only owners invite"
    );
    let (_, teams) = ada.call("GET", "/api/teams", json!({})).await;
    let members = teams["teams"][0]["members"].as_array().unwrap();
    let id = |mail: &str| members.iter().find(|one| one["mail"] == mail).unwrap()["id"].as_str().unwrap().to_owned();
    let member = |who: &str| format!("/api/teams/{team}/members/{}", id(who));
    assert_eq!(bob.call("DELETE", &member("ada@example.com"), json!({})).await.0, 403);
    assert_eq!(ada.call("DELETE", &member("ada@example.com"), json!({})).await.0, 409, "a team keeps an owner");
    assert_eq!(ada.call("DELETE", &member("bob@example.com"), json!({})).await.0, 200);
    assert_eq!(bob.call("GET", &format!("/api/applications/{application}"), json!({})).await.0, 404);
}

#[tokio::test]
async fn sign_up_follows_its_rule() {
    let invitation = TestPortal::new(settings(PortalSignUpRule::Invitation)).await;
    let body = json!({"mail": "ada@example.com", "name": "Ada"});
    assert_eq!(invitation.guest("192.0.2.1").call("POST", "/api/accounts", body.clone()).await.0, 403);
    let mut rule = settings(PortalSignUpRule::Domain);
    rule.sign_up.domains = vec!["example.com".to_owned()];
    let domain = TestPortal::new(rule).await;
    assert_eq!(domain.guest("192.0.2.1").call("POST", "/api/accounts", body).await.0, 200);
    for mail in ["ada@example.org", "ada@example.com.example.org", "ada@sub.example.com", "\"@example.com\"@example.org"] {
        let body = json!({"mail": mail, "name": "Ada"});
        let (status, _) = domain.guest("192.0.2.9").call("POST", "/api/accounts", body).await;
        assert!(matches!(status, 400 | 403), "{mail}: {status}");
    }
    let invited = crate::operators::InvitationRequest { mail: "ada@example.com".to_owned(), name: "Ada".to_owned() };
    let link = invitation.portal.invite(&invited).await.unwrap().link;
    let token = link.rsplit('/').next().unwrap();
    let mut ada = invitation.guest("192.0.2.1");
    assert_eq!(ada.call("POST", "/api/password", json!({"token": token, "password": PASSWORD})).await.0, 200);
    assert_eq!(ada.call("GET", "/api/teams", json!({})).await.0, 200);
}

#[tokio::test]
async fn only_what_is_public_is_seen_from_outside() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    test.publish("inner", false).await;
    let mut ada = test.developer("ada@example.com").await;
    let mut guest = test.guest("192.0.2.7");
    let names = |answer: &Value| answer["products"].as_array().unwrap().iter().map(|one| one["id"].to_string()).collect::<String>();
    let (_, outside) = guest.call("GET", "/api/products", json!({})).await;
    let (_, inside) = ada.call("GET", "/api/products", json!({})).await;
    assert_eq!((names(&outside).contains("inner"), names(&inside).contains("inner")), (false, true));
    for path in ["/api/products/inner", "/api/products/inner/apis/shop", "/api/products/none", "/api/products/shop/apis/none"] {
        assert_eq!(guest.call("GET", path, json!({})).await.0, 404, "{path}");
    }
    assert_eq!(ada.call("GET", "/api/products/inner/apis/shop", json!({})).await.0, 200);
}

#[tokio::test]
async fn a_password_is_changed_by_whoever_has_the_old_one() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    let mut ada = test.developer("ada@example.com").await;
    let mut elsewhere = test.guest("192.0.2.8");
    assert_eq!(elsewhere.sign_in("ada@example.com").await, 200);
    let body = |old: &str, new: &str| json!({"old": old, "new": new});
    let change = "/api/account/password";
    let (status, answer) = ada.call("POST", change, body("a wrong password", "another long password")).await;
    assert_eq!((status, &answer["cause"]), (403, &json!("wrong")), "{answer}");
    let (status, answer) = ada.call("POST", change, body(PASSWORD, "short")).await;
    assert_eq!(status, 400, "{answer}");
    let before = ada.cookie.clone();
    let (status, answer) = ada.call("POST", change, body(PASSWORD, "another long password")).await;
    assert_eq!((status, &answer["developer"]["has_password"]), (200, &json!(true)), "{answer}");
    assert_ne!(ada.cookie, before, "a session that nobody has seen before");
    assert_eq!(ada.call("GET", "/api/teams", json!({})).await.0, 200, "still signed in");
    assert_eq!(elsewhere.call("GET", "/api/teams", json!({})).await.0, 401, "other sessions have ended");
    let mut stolen = test.guest("192.0.2.9");
    stolen.cookie = before;
    assert_eq!(stolen.call("GET", "/api/teams", json!({})).await.0, 401, "the old cookie is of no use");
    assert_eq!(elsewhere.sign_in("ada@example.com").await, 403, "nor is the old password");
    // Whoever has a session, and no password, does not get far.
    let mut thief = test.guest("192.0.2.10");
    thief.cookie = ada.cookie.clone();
    let mut statuses = Vec::new();
    for _ in 0..12 {
        statuses.push(thief.call("POST", change, body("a guessed password", "another long password")).await.0);
    }
    assert!(statuses.contains(&403) && statuses.contains(&429), "{statuses:?}");
}

#[tokio::test]
async fn pages_know_whether_they_may_call_apis() {
    for is_allowed in [false, true] {
        let mut rule = settings(PortalSignUpRule::Open);
        rule.try_it = is_allowed;
        let (_, told) = TestPortal::new(rule).await.guest("192.0.2.1").call("GET", "/api/session", json!({})).await;
        assert_eq!(told["portal"]["try_it"], json!(is_allowed), "{told}");
    }
}

#[tokio::test]
async fn a_search_finds_what_the_caller_sees() {
    let test = TestPortal::new(settings(PortalSignUpRule::Open)).await;
    test.publish("inner", false).await;
    let mut ada = test.developer("ada@example.com").await;
    let ids = |answer: &Value| -> Vec<String> {
        answer["products"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    let (status, outside) = test.guest("192.0.2.7").call("GET", "/api/search", json!({})).await;
    assert_eq!((status, ids(&outside)), (200, vec!["shop".to_owned()]), "{outside}");
    assert_eq!(outside["products"][0]["apis"][0]["id"], "shop", "{outside}");
    let (_, inside) = ada.call("GET", "/api/search", json!({})).await;
    assert!(ids(&inside).contains(&"inner".to_owned()), "{inside}");
}

impl Guest {
    /// Signs in with the usual password.
    async fn sign_in(&mut self, mail: &str) -> u16 {
        self.call("POST", "/api/session", json!({"mail": mail, "password": PASSWORD})).await.0
    }
}
