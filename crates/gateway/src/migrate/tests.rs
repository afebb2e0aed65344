use super::{SessionNames, SourceDocument, to_own, to_shared};
use tollgate_access::keys;
use tollgate_model::key;
use tollgate_model::session::{Session, StoredSession};

fn names(shown: &[&str]) -> SessionNames {
    let mut names = SessionNames::default();
    for shown in shown {
        let digest = key::digest(&format!("token of {shown}"));
        names.by_digest.insert(digest, (*shown).to_owned());
        names.by_name.insert((*shown).to_owned(), digest);
    }
    names
}

#[test]
fn quotas_are_called_after_their_keys_in_both_stores() {
    let names = names(&["5b8e", "a-b", "b"]);
    for (shown, scope, shared) in
        [("5b8e", "", "quota-5b8e"), ("5b8e", "api-1", "quota-api-1-5b8e"), ("a-b", "", "quota-a-b"), ("b", "x", "quota-x-b")]
    {
        let own = keys::own_quota_name(&key::digest(&format!("token of {shown}")), scope);
        assert_eq!(names.shared_quota(&own).as_deref(), Some(shared));
        assert_eq!(names.own_quota(shared), Some(own));
    }
}

#[test]
fn quotas_of_nobody_are_told_apart_from_other_counters() {
    let names = names(&["5b8e"]);
    assert_eq!(names.own_quota("quota-77"), None);
    assert_eq!(names.shared_quota(&keys::own_quota_name(&key::digest("gone"), "")), None);
    assert_eq!(names.own_quota("other").as_deref(), Some("other"));
}

#[test]
fn tokens_of_clients_end_in_the_other_store_too() {
    for (client, ends) in [("shop", Some(1_600)), ("", None)] {
        let session = Session { expires: 1_000, oauth_client_id: client.to_owned(), ..Session::default() };
        let shared =
            SourceDocument { id: "5b8e".to_owned(), value: session.to_json().to_string().into_bytes(), expires_unix_s: None };
        let stored = StoredSession { shown: "5b8e".to_owned(), session };
        let own =
            SourceDocument { id: tollgate_access::digest::hex(&key::digest("t")), value: stored.to_bytes(), expires_unix_s: None };
        assert_eq!(to_shared(&own).map(|translated| translated.4), Some(ends), "{client:?}");
        assert_eq!(to_own(&shared).map(|translated| translated.4), Some(ends), "{client:?}");
    }
}
