use super::super::own_quota_name;
use super::*;

fn saved(names: &[(u8, &str, i64)]) -> SavedQuotas {
    let saved = SavedQuotas::default();
    for (byte, scope, value) in names {
        saved.add(&CounterValue { name: own_quota_name(&[*byte; 32], scope), value: *value, renews_unix_s: 9 });
    }
    saved
}

#[test]
fn a_quota_is_taken_once() {
    let saved = saved(&[(1, "", 5), (1, "api-1", 6), (2, "", 7)]);
    assert_eq!(saved.take(&[1; 32], "api-1"), Some((6, 9)));
    assert_eq!(saved.take(&[1; 32], "api-1"), None);
    assert_eq!((saved.take(&[1; 32], ""), saved.take(&[2; 32], "")), (Some((5, 9)), Some((7, 9))));
}

#[test]
fn a_key_is_forgotten_with_all_its_scopes_and_no_other() {
    let saved = saved(&[(0, "", 1), (1, "", 2), (1, "a", 3), (1, "b", 4), (2, "", 5)]);
    assert!(saved.forget(&[1; 32]));
    assert!(!saved.forget(&[9; 32]));
    let left = |byte: u8, scope: &str| saved.take(&[byte; 32], scope).map(|(value, _)| value);
    assert_eq!([left(0, ""), left(1, ""), left(1, "a"), left(1, "b"), left(2, "")], [Some(1), None, None, None, Some(5)]);
}

#[test]
fn counters_of_another_kind_are_left_out() {
    let saved = SavedQuotas::default();
    for name in ["", "quota-", "quota-12-", "other-00", "quota-zz-"] {
        saved.add(&CounterValue { name: name.to_owned(), value: 1, renews_unix_s: 9 });
    }
    assert!(saved.lock().is_empty());
}
