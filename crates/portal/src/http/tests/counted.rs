//! Work of answers to strangers, counted: questions to the store and hashes of passwords are the same for known and unknown addresses, and so are the
//! answers. Mails leave on their own way.

use super::guest::{TestPortal, settings};
use crate::operators::DeveloperChange;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use tollgate_clock::unix_s;
use tollgate_model::config::PortalSignUpRule;
use tollgate_store::{CounterValue, DocumentSpace, Memory, PendingAnswer, Question, Store, StoreFault};

/// A store that notes what it is asked.
struct NotingStore {
    inner: Memory,
    asked: Mutex<Vec<String>>,
}

impl Store for NotingStore {
    fn ask(&self, question: Question) -> PendingAnswer {
        let told = format!("{question:?}");
        // Which kind of question, and about which kind of document.
        let kind = told.split([' ', '(']).next().unwrap_or_default();
        let about = told.split("id: \"").nth(1).and_then(|rest| rest.split('-').next()).unwrap_or_default();
        self.asked.lock().unwrap().push(format!("{kind} {about}"));
        self.inner.ask(question)
    }

    fn for_each(&self, kind: DocumentSpace, see: &mut dyn FnMut(&str, &[u8])) -> Result<(), StoreFault> {
        self.inner.for_each(kind, see)
    }

    fn for_each_counter(&self, see: &mut dyn FnMut(CounterValue)) -> Result<(), StoreFault> {
        self.inner.for_each_counter(see)
    }
}

/// What a call cost, and what it said.
#[derive(Debug, PartialEq)]
struct CallCost {
    answer: (u16, Value),
    asked: Vec<String>,
    hashed: usize,
}

#[tokio::test]
async fn known_and_unknown_addresses_cost_the_same_and_are_answered_alike() {
    let store = Arc::new(NotingStore { inner: Memory::new(Arc::new(unix_s)), asked: Mutex::default() });
    let test = TestPortal::on(settings(PortalSignUpRule::Open), store.clone()).await;
    for mail in ["ada@example.com", "bob@example.com"] {
        test.developer(mail).await;
    }
    let developers = test.portal.developers().await.unwrap();
    let bob = developers.iter().find(|developer| developer.mail.starts_with("bob")).unwrap().id.clone();
    test.portal.suspend(&bob, DeveloperChange { suspended: true }).await.unwrap();
    let password = super::guest::PASSWORD;
    type Body = fn(&str, &str) -> Value;
    let calls: [(&str, Body); 3] = [
        ("/api/session", |mail, password| json!({"mail": mail, "password": password})),
        ("/api/accounts", |mail, _| json!({"mail": mail, "name": "Somebody"})),
        ("/api/password/forgotten", |mail, _| json!({"mail": mail})),
    ];
    let mut address = 0;
    for (path, body) in calls {
        let mut seen: Vec<(&str, CallCost)> = Vec::new();
        let cases = [("ada", "a wrong password"), ("eve", "a wrong password"), ("mallory", password), ("bob", password)];
        // Without a password, Mallory is another Eve.
        for (name, tried) in cases.into_iter().filter(|(name, _)| *name != "mallory" || path == "/api/session") {
            address += 1;
            let mut guest = test.guest(&format!("203.0.113.{address}"));
            store.asked.lock().unwrap().clear();
            let hashed = test.portal.hashed_passwords.load(Ordering::Relaxed);
            let answer = guest.call("POST", path, body(&format!("{name}@example.com"), tried)).await;
            let hashed = test.portal.hashed_passwords.load(Ordering::Relaxed) - hashed;
            let asked = store.asked.lock().unwrap().clone();
            seen.push((name, CallCost { answer, asked, hashed }));
        }
        let (first, work) = &seen[0];
        assert!(!work.asked.is_empty(), "{path}");
        assert_eq!(work.hashed, usize::from(path == "/api/session"), "{path}");
        for (other, seen) in &seen[1..] {
            assert_eq!(seen, work, "{path}: {first} and {other}");
        }
    }
}
