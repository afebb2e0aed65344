//! A portal for tests, and browsers of people who use it.

use crate::catalogue::{ApiProduct, PlanApproval, ProductPlan};
use crate::door::{
    DoorReply, GatewayDoor, KeyChange, KeyRefusal, KeyUsage, MadeKey, PortalKeyState, PortalNotice, PublishedApi, WantedKey,
};
use crate::http::{Visitor, router};
use crate::letters::Letter;
use crate::mail::MailQueue;
use crate::portal::Portal;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use axum::http::header::{COOKIE, SET_COOKIE};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::Receiver;
use tollgate_clock::unix_s;
use tollgate_model::config::{PortalSettings, PortalSignUpRule};
use tollgate_store::{Memory, Store};
use tower::ServiceExt;

pub(super) const PASSWORD: &str = "correct horse battery";

pub(super) fn settings(by: PortalSignUpRule) -> PortalSettings {
    let mut settings = PortalSettings {
        listen: "127.0.0.1:0".to_owned(),
        url: "https://portal.example".to_owned(),
        gateway_url: "https://api.example".to_owned(),
        ..PortalSettings::default()
    };
    settings.sign_up.by = by;
    settings
}

/// A portal with one product: `auto` needs no approval, `manual` does.
pub(super) struct TestPortal {
    pub portal: Arc<Portal>,
    pub door: Arc<KeyRack>,
    pub router: Router,
    pub store: Arc<dyn Store>,
    letters: tokio::sync::Mutex<Receiver<Letter>>,
}

impl TestPortal {
    pub(super) async fn new(settings: PortalSettings) -> TestPortal {
        TestPortal::on(settings, Arc::new(Memory::new(Arc::new(unix_s)))).await
    }

    pub(super) async fn on(settings: PortalSettings, store: Arc<dyn Store>) -> TestPortal {
        let door = Arc::new(KeyRack::default());
        let (queue, letters) = MailQueue::pair();
        let portal = Arc::new(Portal::with_mail(settings, store.clone(), door.clone(), (queue, None)).unwrap());
        let test = TestPortal { router: router(portal.clone()), store, portal, door, letters: tokio::sync::Mutex::new(letters) };
        test.publish("shop", true).await;
        test
    }

    pub(super) async fn publish(&self, id: &str, is_public: bool) {
        let plan = |id: &str, policy: &str, approval| ProductPlan {
            id: id.to_owned(),
            name: id.to_owned(),
            summary: String::new(),
            policy: policy.to_owned(),
            approval,
            price: None,
        };
        let plans = vec![plan("auto", "gold", PlanApproval::Automatic), plan("manual", "silver", PlanApproval::Manual)];
        let (id, name) = (id.to_owned(), "Shop".to_owned());
        let product = ApiProduct { id, name, apis: vec!["shop".to_owned()], plans, is_public, ..ApiProduct::default() };
        self.portal.put_published(&product, |_| true).await.unwrap();
    }

    pub(super) fn guest(&self, address: &str) -> Guest {
        Guest { router: self.router.clone(), address: address.parse().unwrap(), cookie: None }
    }

    /// The next letter; a test that waits for one that nobody sends hangs.
    pub(super) async fn letter(&self) -> Letter {
        self.letters.lock().await.recv().await.unwrap()
    }

    pub(super) async fn has_letter(&self) -> bool {
        self.letters.lock().await.try_recv().is_ok()
    }

    /// Somebody who is signed in. Each has an address of their own.
    pub(super) async fn developer(&self, mail: &str) -> Guest {
        let digit = u32::from(mail.as_bytes()[0]);
        let mut guest = self.guest(&format!("198.51.100.{digit}"));
        let name = mail.split('@').next().unwrap();
        assert_eq!(guest.call("POST", "/api/accounts", json!({"mail": mail, "name": name})).await.0, 200);
        let token = self.letter().await.token();
        let (status, answer) = guest.call("POST", "/api/password", json!({"token": token, "password": PASSWORD})).await;
        assert_eq!(status, 200, "{answer}");
        guest
    }
}

/// A browser.
pub(super) struct Guest {
    router: Router,
    address: std::net::IpAddr,
    pub cookie: Option<String>,
}

impl Guest {
    pub(super) async fn call(&mut self, method: &str, path: &str, body: Value) -> (u16, Value) {
        self.send(method, path, body, &[("x-tollgate-portal", "1"), ("sec-fetch-site", "same-origin")]).await
    }

    pub(super) async fn send(&mut self, method: &str, path: &str, body: Value, headers: &[(&str, &str)]) -> (u16, Value) {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(cookie) = &self.cookie {
            request = request.header(COOKIE, cookie);
        }
        let mut request = request.body(Body::from(body.to_string())).unwrap();
        request.extensions_mut().insert(Visitor { address: self.address });
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        if let Some(line) = response.headers().get(SET_COOKIE) {
            self.cookie = line.to_str().unwrap().split(';').next().map(str::to_owned);
        }
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    pub(super) async fn team(&mut self) -> String {
        let (_, answer) = self.call("GET", "/api/session", json!({})).await;
        answer["developer"]["teams"][0].as_str().unwrap().to_owned()
    }

    /// Makes an application, and asks for a plan.
    pub(super) async fn granted(&mut self, plan: &str) -> (String, String) {
        let team = self.team().await;
        let (_, made) = self.call("POST", "/api/applications", json!({"team": team, "name": "App"})).await;
        let application = made["id"].as_str().unwrap().to_owned();
        let body = json!({"product": "shop", "plan": plan});
        let (status, asked) = self.call("POST", &format!("/api/applications/{application}/grants"), body).await;
        assert_eq!(status, 201, "{asked}");
        (application, asked["grant"].as_str().unwrap().to_owned())
    }
}

impl Letter {
    /// The token of the link in it.
    pub(super) fn token(&self) -> String {
        let line = self.text.lines().find(|line| line.starts_with("https://portal.example/#/")).unwrap();
        line.rsplit('/').next().unwrap().to_owned()
    }
}

/// The keys of a gateway that knows one API and two policies.
#[derive(Default)]
pub(super) struct KeyRack {
    keys: Mutex<BTreeMap<String, ListKey>>,
    notices: Mutex<Vec<&'static str>>,
    /// Calls by key and day.
    calls: Mutex<BTreeMap<(String, u64), u64>>,
    tried: Mutex<HashSet<String>>,
    /// How often somebody asked for an API.
    pub asked: AtomicU64,
    pub version: AtomicU64,
}

struct ListKey {
    policy: String,
    is_suspended: bool,
    ends: u64,
}

impl KeyRack {
    fn see<T>(&self, key: &str, see: impl FnOnce(&ListKey) -> T) -> Option<T> {
        self.keys.lock().unwrap().get(key).map(see)
    }

    pub(super) fn policy_of(&self, key: &str) -> Option<String> {
        self.see(key, |key| key.policy.clone())
    }

    pub(super) fn is_suspended(&self, key: &str) -> bool {
        self.see(key, |key| key.is_suspended).unwrap()
    }

    pub(super) fn ends(&self, key: &str) -> Option<u64> {
        self.see(key, |key| key.ends)
    }

    pub(super) fn count(&self) -> usize {
        self.keys.lock().unwrap().len()
    }

    /// Calls are made with a key, on the day of a time.
    pub(super) fn use_key(&self, key: &str, unix_s: u64, calls: u64) {
        *self.calls.lock().unwrap().entry((key.to_owned(), unix_s / 86_400 * 86_400)).or_default() += calls;
    }

    /// Ids of the APIs that pages may try.
    pub(super) fn tried(&self) -> Vec<String> {
        self.tried.lock().unwrap().iter().cloned().collect()
    }

    pub(super) fn told(&self) -> Vec<&'static str> {
        self.notices.lock().unwrap().clone()
    }
}

impl GatewayDoor for KeyRack {
    fn api(&self, id: &str) -> Option<PublishedApi> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let text = str::to_owned;
        (id == "shop").then(|| PublishedApi {
            id: text(id),
            name: text("Shop"),
            listen_path: text("/shop/"),
            host: String::new(),
            key_header: text("Authorization"),
            token_path: String::new(),
            is_recorded: false,
            kind: String::new(),
            document: None,
        })
    }

    fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }

    fn has_policy(&self, id: &str) -> bool {
        ["gold", "silver"].contains(&id)
    }

    fn set_tried(&self, apis: HashSet<String>) {
        *self.tried.lock().unwrap() = apis;
    }

    fn make_key(&self, wanted: WantedKey) -> DoorReply<'_, MadeKey> {
        let mut keys = self.keys.lock().unwrap();
        let key = format!("key-{}-{}", keys.len(), wanted.alias);
        keys.insert(key.clone(), ListKey { policy: wanted.policy, is_suspended: false, ends: 0 });
        Box::pin(std::future::ready(Ok(MadeKey { listed_id: key.clone(), key, secret: String::new() })))
    }

    fn change_key(&self, listed_id: String, change: KeyChange) -> DoorReply<'_, bool> {
        let mut keys = self.keys.lock().unwrap();
        let found = keys.get_mut(&listed_id);
        let is_there = found.is_some();
        match (found, change) {
            (Some(key), KeyChange::EndsAt(ends)) => key.ends = ends,
            (Some(key), KeyChange::Suspended(is_suspended)) => key.is_suspended = is_suspended,
            (Some(key), KeyChange::Policy(policy)) => key.policy = policy,
            (None, _) => {}
        }
        Box::pin(std::future::ready(Ok(is_there)))
    }

    fn remove_key(&self, listed_id: String) -> DoorReply<'_, bool> {
        let removed = self.keys.lock().unwrap().remove(&listed_id).is_some();
        Box::pin(std::future::ready(Ok(removed)))
    }

    fn key_state(&self, listed_id: String) -> DoorReply<'_, Option<PortalKeyState>> {
        let state = self.see(&listed_id, |key| PortalKeyState {
            is_suspended: key.is_suspended,
            ends_unix_s: i64::try_from(key.ends).unwrap(),
            quota_max: 100,
            quota_remaining: 15,
            quota_renews_unix_s: i64::try_from(unix_s()).unwrap() / 86_400 * 86_400 + 86_400,
            ..PortalKeyState::default()
        });
        Box::pin(std::future::ready(Ok(state)))
    }

    fn usage(&self, listed_id: String, from_unix_s: u64, _: u64) -> DoorReply<'_, Vec<KeyUsage>> {
        let used = self.see(&listed_id, |_| KeyUsage { from_unix_s, requests: 3, good: 2 });
        Box::pin(std::future::ready(Ok(used.into_iter().collect())))
    }

    fn usage_id(&self, listed_id: String) -> DoorReply<'_, Option<String>> {
        let id = self.see(&listed_id, |_| listed_id.clone());
        Box::pin(std::future::ready(Ok(id)))
    }

    fn calls(&self, usage_ids: Vec<String>, day_unix_s: u64) -> DoorReply<'_, Vec<(String, u64)>> {
        let calls = self.calls.lock().unwrap();
        let found = usage_ids.into_iter().filter_map(|id| Some((id.clone(), *calls.get(&(id, day_unix_s))?)));
        let found = found.collect();
        Box::pin(std::future::ready(Ok(found)))
    }

    fn last_used(&self, listed_id: String) -> DoorReply<'_, Option<u64>> {
        Box::pin(std::future::ready(Ok(self.see(&listed_id, |_| 60))))
    }

    fn refusals(&self, _: String, _: usize) -> DoorReply<'_, Vec<KeyRefusal>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn tell(&self, notice: PortalNotice) {
        self.notices.lock().unwrap().push(notice.what);
    }
}
