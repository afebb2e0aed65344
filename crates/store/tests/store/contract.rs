//! One body for every store.

use crate::setting::{
    Time, all, all_counters, ask, counters, delete, embedded, get, list, put, put_new, replace, save_counters, wait,
};
use tollgate_store::question::{DOCUMENT_BYTES_MAX, ID_BYTES_MAX, PAGE_BYTES_MAX};
use tollgate_store::{CounterValue, DocumentSpace, Memory, Question, Store, StoreFaultKind};

#[test]
fn the_embedded_store_keeps_the_contract() {
    let directory = tempfile::tempdir().unwrap();
    let time = Time::new();
    contract(&embedded(directory.path(), &time), &time);
}

#[test]
fn the_store_in_memory_keeps_the_contract() {
    let time = Time::new();
    contract(&Memory::new(time.clock()), &time);
}

/// Begins with an empty store.
pub(crate) fn contract(store: &dyn Store, time: &Time) {
    what_was_put_is_there_until_it_is_deleted(store);
    new_documents_replace_nothing(store);
    a_document_is_replaced_only_while_it_is_the_expected_one(store, time);
    kinds_have_nothing_to_do_with_each_other(store);
    any_text_is_an_id(store);
    what_expired_is_not_there(store, time);
    pages_are_complete_and_in_order(store, time);
    pages_of_large_documents_are_short(store);
    counters_are_kept_until_they_renew(store, time);
    counters_are_deleted_by_name_and_by_prefix(store);
    too_large_questions_are_refused_and_change_nothing(store);
    a_reply_need_not_be_waited_for(store);
}

fn what_was_put_is_there_until_it_is_deleted(store: &dyn Store) {
    assert_eq!(get(store, DocumentSpace::Session, "k1"), None);
    assert!(!put(store, DocumentSpace::Session, "k1", b"{}", None));
    assert_eq!(get(store, DocumentSpace::Session, "k1").as_deref(), Some(&b"{}"[..]));
    assert!(put(store, DocumentSpace::Session, "k1", b"", None));
    assert_eq!(get(store, DocumentSpace::Session, "k1").as_deref(), Some(&b""[..]));
    assert!(delete(store, DocumentSpace::Session, "k1"));
    assert!(!delete(store, DocumentSpace::Session, "k1"));
    assert_eq!(get(store, DocumentSpace::Session, "k1"), None);
}

fn new_documents_replace_nothing(store: &dyn Store) {
    assert!(!put_new(store, DocumentSpace::Session, "new", b"1", None));
    assert!(put_new(store, DocumentSpace::Session, "new", b"2", None));
    assert_eq!(get(store, DocumentSpace::Session, "new").as_deref(), Some(&b"1"[..]));
    delete(store, DocumentSpace::Session, "new");
}

fn a_document_is_replaced_only_while_it_is_the_expected_one(store: &dyn Store, time: &Time) {
    assert!(!replace(store, DocumentSpace::Session, "old", [b"", b"1"], None), "there is none");
    assert_eq!(get(store, DocumentSpace::Session, "old"), None);
    put(store, DocumentSpace::Session, "old", b"1", None);
    assert!(!replace(store, DocumentSpace::Session, "old", [b"0", b"2"], None), "it is another one");
    assert!(replace(store, DocumentSpace::Session, "old", [b"1", b"\xff2"], None));
    assert_eq!(get(store, DocumentSpace::Session, "old").as_deref(), Some(&b"\xff2"[..]));
    assert!(replace(store, DocumentSpace::Session, "old", [b"\xff2", b"3"], Some(time.now() + 1_000)));
    assert_eq!(get(store, DocumentSpace::Session, "old").as_deref(), Some(&b"3"[..]));
    time.pass(1_000);
    assert!(!replace(store, DocumentSpace::Session, "old", [b"3", b"4"], None), "it has expired");
    time.rewind();
    put(store, DocumentSpace::Session, "old", b"5", None);
    assert!(replace(store, DocumentSpace::Session, "old", [b"5", b"6"], Some(0)));
    assert_eq!(get(store, DocumentSpace::Session, "old"), None, "what has expired is not there");
    delete(store, DocumentSpace::Session, "old");
}

fn kinds_have_nothing_to_do_with_each_other(store: &dyn Store) {
    for kind in DocumentSpace::ALL {
        assert!(!put(store, kind, "same", format!("{kind:?}").as_bytes(), None));
    }
    for kind in DocumentSpace::ALL {
        let document = ("same".to_owned(), format!("{kind:?}").into_bytes());
        assert_eq!(list(store, kind, "", None, 10).documents, std::slice::from_ref(&document));
        assert_eq!(all(store, kind), [document]);
        assert!(delete(store, kind, "same"));
    }
}

fn any_text_is_an_id(store: &dyn Store) {
    let long = "k".repeat(ID_BYTES_MAX);
    let ids = ["", "\0", "a\0b", "a", "a\n", "%", "_", "'; DROP TABLE document", "é", "\u{10ffff}", &long];
    for id in ids {
        assert!(!put(store, DocumentSpace::Session, id, id.as_bytes(), None), "{id:?}");
    }
    for id in ids {
        assert_eq!(get(store, DocumentSpace::Session, id).as_deref(), Some(id.as_bytes()), "{id:?}");
    }
    let mut sorted = ids.map(str::to_owned).to_vec();
    sorted.sort();
    let listed = |documents: Vec<(String, Vec<u8>)>| documents.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(listed(all(store, DocumentSpace::Session)), sorted);
    assert_eq!(listed(list(store, DocumentSpace::Session, "a", None, 10).documents), ["a", "a\0b", "a\n"]);
    for id in ids {
        assert!(delete(store, DocumentSpace::Session, id), "{id:?}");
    }
}

fn what_expired_is_not_there(store: &dyn Store, time: &Time) {
    // Long times: a server's clock goes on by itself meanwhile.
    let expires = Some(time.now() + 1_000);
    put(store, DocumentSpace::Session, "brief", b"1", expires);
    put(store, DocumentSpace::Session, "deleted", b"1", expires);
    put(store, DocumentSpace::Session, "kept", b"1", expires);
    assert!(put(store, DocumentSpace::Session, "kept", b"2", None), "replaces the expiry as well");
    put(store, DocumentSpace::Session, "past", b"1", Some(0));
    assert_eq!(get(store, DocumentSpace::Session, "past"), None);
    time.pass(900);
    assert_eq!(get(store, DocumentSpace::Session, "brief").as_deref(), Some(&b"1"[..]));
    time.pass(100);
    assert_eq!(get(store, DocumentSpace::Session, "brief"), None);
    assert!(!delete(store, DocumentSpace::Session, "deleted"));
    let kept = [("kept".to_owned(), b"2".to_vec())];
    assert_eq!(list(store, DocumentSpace::Session, "", None, 10).documents, kept);
    assert_eq!(all(store, DocumentSpace::Session), kept);
    assert!(!put_new(store, DocumentSpace::Session, "brief", b"3", None));
    // Longer than the time between two sweeps.
    time.pass(1_000);
    assert_eq!(get(store, DocumentSpace::Session, "brief").as_deref(), Some(&b"3"[..]));
    assert_eq!(get(store, DocumentSpace::Session, "kept").as_deref(), Some(&b"2"[..]));
    assert!(!put(store, DocumentSpace::Session, "far", b"1", Some(u64::MAX)));
    assert_eq!(get(store, DocumentSpace::Session, "far").as_deref(), Some(&b"1"[..]));
    for id in ["brief", "kept", "far"] {
        assert!(delete(store, DocumentSpace::Session, id), "{id}");
    }
    time.rewind();
}

fn pages_are_complete_and_in_order(store: &dyn Store, time: &Time) {
    let ids: Vec<String> = (0..100).map(|n| format!("org{}-{n:03}", n % 3)).collect();
    for (n, id) in ids.iter().enumerate() {
        let expires_unix_s = (n % 10 == 0).then(|| time.now() + 100);
        put(store, DocumentSpace::Policy, id, id.as_bytes(), expires_unix_s);
    }
    time.pass(100);
    for (prefix, limit) in
        [("", 0), ("", 1), ("", 7), ("", 1_000), ("org1-", 4), ("org1-", 30), ("org1-", 31), ("org9", 5), ("org1-001", 1)]
    {
        let living = ids.iter().enumerate().filter(|(n, id)| n % 10 != 0 && id.starts_with(prefix));
        let mut expected: Vec<String> = living.map(|(_, id)| id.clone()).collect();
        expected.sort();
        let mut found = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = list(store, DocumentSpace::Policy, prefix, after.as_deref(), limit);
            assert!(page.documents.len() <= limit.max(1));
            found.extend(page.documents.into_iter().map(|(id, _)| id));
            after = page.next;
            if after.is_none() {
                break;
            }
            assert!(found.len() < expected.len(), "a page that says there are more is followed by some");
        }
        assert_eq!(found, expected, "{prefix:?} by {limit}");
    }
    let page = list(store, DocumentSpace::Policy, "org1-", Some("org0"), 1);
    assert_eq!(page.documents[0].0, "org1-001", "an id before the prefix skips nothing");
    assert_eq!(list(store, DocumentSpace::Policy, "org1-", Some("org2"), 1).documents, []);
    for id in &ids {
        delete(store, DocumentSpace::Policy, id);
    }
    time.rewind();
}

fn pages_of_large_documents_are_short(store: &dyn Store) {
    let value = vec![b'x'; PAGE_BYTES_MAX / 2];
    for id in ["1", "2", "3"] {
        put(store, DocumentSpace::Api, id, &value, None);
    }
    let first = list(store, DocumentSpace::Api, "", None, 10);
    assert_eq!(first.documents.len(), 2);
    let second = list(store, DocumentSpace::Api, "", first.next.as_deref(), 10);
    assert_eq!((second.documents.len(), second.next), (1, None));
    for id in ["1", "2", "3"] {
        delete(store, DocumentSpace::Api, id);
    }
}

fn counters_are_kept_until_they_renew(store: &dyn Store, time: &Time) {
    let counter = |name: &str, value, renews_unix_s| CounterValue { name: name.into(), value, renews_unix_s };
    let (a, b, c) = (counter("a", 1, time.now() + 500), counter("b", i64::MIN, u64::MAX), counter("c", i64::MAX, 0));
    save_counters(store, vec![a.clone(), b.clone(), c]);
    assert_eq!(counters(store, &["b", "x", "a", "c", "b"]), [b.clone(), a.clone(), b.clone()]);
    assert_eq!(all_counters(store), [a.clone(), b.clone()]);
    let a = counter("a", 2, a.renews_unix_s);
    save_counters(store, vec![a.clone()]);
    assert_eq!(counters(store, &["a"]), [a]);
    time.pass(500);
    assert_eq!(counters(store, &["a", "b"]), std::slice::from_ref(&b));
    assert_eq!(all_counters(store), [b]);
    time.rewind();
    assert_eq!(counters(store, &[]), []);
    save_counters(store, Vec::new());
}

fn counters_are_deleted_by_name_and_by_prefix(store: &dyn Store) {
    let names = ["quota-1", "quota-1-x", "quota-2", "quota", "quotb"];
    let save = || {
        let counter = |name: &&str| CounterValue { name: name.to_string(), value: 1, renews_unix_s: u64::MAX };
        save_counters(store, names.iter().map(counter).collect());
    };
    let left = || counters(store, &names).into_iter().map(|counter| counter.name).collect::<Vec<_>>();
    let delete = |names: &[&str]| {
        let names = names.iter().map(|name| name.to_string()).collect();
        ask(store, Question::DeleteCounters { names }).unwrap().existed().unwrap()
    };
    let delete_under =
        |prefix: &str| ask(store, Question::DeleteCountersUnder { prefix: prefix.into() }).unwrap().existed().unwrap();
    save();
    assert!(delete(&["quota-1", "nothing"]));
    assert!(!delete(&["quota-1", "nothing"]));
    assert_eq!(left(), ["quota-1-x", "quota-2", "quota", "quotb"]);
    save();
    assert!(delete_under("quota-1"));
    assert!(!delete_under("quota-1"));
    assert_eq!(left(), ["quota-2", "quota", "quotb"]);
    assert!(delete_under(""));
    assert_eq!(all_counters(store), []);
}

fn too_large_questions_are_refused_and_change_nothing(store: &dyn Store) {
    let put = |id: String, bytes| Question::Put { kind: DocumentSpace::Api, id, value: vec![0; bytes], expires_unix_s: None };
    for question in [put("k".repeat(ID_BYTES_MAX + 1), 1), put("k".into(), DOCUMENT_BYTES_MAX + 1)] {
        assert_eq!(ask(store, question).unwrap_err().kind, StoreFaultKind::TooLarge);
    }
    assert_eq!(all(store, DocumentSpace::Api), []);
    assert!(ask(store, put("k".into(), DOCUMENT_BYTES_MAX)).is_ok());
    assert_eq!(get(store, DocumentSpace::Api, "k").map(|value| value.len()), Some(DOCUMENT_BYTES_MAX));
    delete(store, DocumentSpace::Api, "k");
}

fn a_reply_need_not_be_waited_for(store: &dyn Store) {
    let put = Question::Put { kind: DocumentSpace::Session, id: "unwatched".into(), value: b"1".to_vec(), expires_unix_s: None };
    drop(store.ask(put));
    let first = store.ask(Question::Delete { kind: DocumentSpace::Session, id: "unwatched".into() });
    let second = store.ask(Question::Delete { kind: DocumentSpace::Session, id: "unwatched".into() });
    // Carried out as they were asked, not as they are waited for.
    let (second, first) = wait(async { (second.await, first.await) });
    assert!(first.unwrap().existed().unwrap());
    assert!(!second.unwrap().existed().unwrap());
}
