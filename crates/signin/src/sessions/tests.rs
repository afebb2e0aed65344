use super::{PeopleSessions, SESSIONS_MAX, SessionLife, USE_NOTED_AFTER_S};
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tollgate_store::{DocumentSpace, Memory, Store};

const LIFE: SessionLife = SessionLife { life_s: 10_000, idle_s: 1_000 };

/// The store in memory answers at once.
fn now<T>(work: impl Future<Output = T>) -> T {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("the store in memory does not wait"),
    }
}

fn store() -> Memory {
    Memory::new(Arc::new(|| 0))
}

fn start(sessions: PeopleSessions<'_>, holder: &str, at: u64) -> String {
    now(sessions.start(holder, &holder, "hash", LIFE, at)).expect("started")
}

fn is_found(sessions: PeopleSessions<'_>, token: &str, at: u64) -> bool {
    now(sessions.find::<String>(token, at)).expect("an answer").is_some()
}

fn is_used(sessions: PeopleSessions<'_>, token: &str, at: u64) -> bool {
    let found = now(sessions.find::<String>(token, at)).expect("an answer");
    found.is_some_and(|session| now(sessions.note_use(&session, at)).is_ok())
}

#[test]
fn a_session_ends_without_use_and_in_any_case_after_its_life() {
    let store = store();
    let sessions = PeopleSessions::new(&store, DocumentSpace::Console);
    let token = start(sessions, "ann", 0);
    let found = now(sessions.find::<String>(&token, 999)).expect("an answer").expect("a session");
    assert_eq!((&*found.person, found.begun_unix_s, found.ends_unix_s), ("ann", 0, LIFE.life_s));
    assert!(!is_found(sessions, &token, 1_000), "a look keeps nothing going");
    let token = start(sessions, "ann", 0);
    for at in (0..LIFE.life_s).step_by(900) {
        assert!(is_used(sessions, &token, at), "{at}");
    }
    assert!(!is_found(sessions, &token, LIFE.life_s));
    // Frequent uses are one note.
    let token = start(sessions, "ann", 0);
    assert!(is_used(sessions, &token, USE_NOTED_AFTER_S - 1));
    assert!(!is_found(sessions, &token, LIFE.idle_s));
}

#[test]
fn sessions_of_a_person_are_bounded_and_the_idlest_goes_first() {
    let store = store();
    let sessions = PeopleSessions::new(&store, DocumentSpace::Console);
    let bob = start(sessions, "bob", 0);
    let tokens: Vec<String> = (0..SESSIONS_MAX as u64).map(|at| start(sessions, "ann", at)).collect();
    assert_eq!(tokens.iter().collect::<BTreeSet<_>>().len(), SESSIONS_MAX);
    assert!(is_used(sessions, &tokens[0], 500));
    let new = start(sessions, "ann", 501);
    let found: Vec<bool> = tokens.iter().map(|token| is_found(sessions, token, 502)).collect();
    assert_eq!(found.iter().filter(|found| !**found).count(), 1);
    assert!(!found[1] && is_found(sessions, &new, 502) && is_found(sessions, &bob, 502));
}

#[test]
fn what_has_ended_stays_so_and_all_others_go_on() {
    let store = store();
    let sessions = PeopleSessions::new(&store, DocumentSpace::Console);
    let [one, other] = ["ann", "ann"].map(|holder| start(sessions, holder, 0));
    let found = now(sessions.find::<String>(&one, 900)).expect("an answer").expect("a session");
    now(sessions.end(&one, 900)).expect("ended");
    // A gateway that has just found it notes its use.
    now(sessions.note_use(&found, 900)).expect("an answer");
    now(sessions.bind(&one, "hash", 900)).expect("an answer");
    assert!(!is_found(sessions, &one, 901));
    assert!(is_found(sessions, &other, 901));
}

#[test]
fn a_session_is_bound_to_what_it_was_bound_to_last() {
    let store = store();
    let sessions = PeopleSessions::new(&store, DocumentSpace::Console);
    let [kept, left] = ["ann", "ann"].map(|holder| start(sessions, holder, 0));
    now(sessions.bind(&kept, "new hash", 1)).expect("bound");
    let bound = |token: &str, text: &str| {
        let found = now(sessions.find::<String>(token, 2)).expect("an answer").expect("a session");
        found.is_bound_to(text)
    };
    assert!(bound(&kept, "new hash") && !bound(&kept, "hash"));
    assert!(bound(&left, "hash") && !bound(&left, "new hash"));
}

#[test]
fn other_texts_are_no_tokens_and_leave_nothing_in_the_store() {
    let store = store();
    let sessions = PeopleSessions::new(&store, DocumentSpace::Console);
    let token = start(sessions, "ann", 0);
    let other_secret = format!("{}{}", &token[..32], "0".repeat(64));
    let other_person = format!("{}{}", "0".repeat(32), &token[32..]);
    for text in ["", "x", &token[..95], &token.to_uppercase(), &other_secret, &other_person, &"é".repeat(48)] {
        assert!(!is_found(sessions, text, 1), "{text}");
        now(sessions.end(text, 1)).expect("an answer");
        now(sessions.bind(text, "hash", 1)).expect("an answer");
    }
    assert!(is_found(sessions, &token, 1));
    assert!(!is_found(PeopleSessions::new(&store, DocumentSpace::Portal), &token, 1), "each space has its own");
    let page = now(store.page(DocumentSpace::Console, String::new(), None, 10)).expect("a page");
    assert_eq!(page.documents.len(), 1);
    let text = String::from_utf8_lossy(&page.documents[0].1).into_owned();
    assert!(!text.contains(&token[32..]) && !text.contains("hash"), "{text}");
}
