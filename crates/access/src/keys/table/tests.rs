use super::*;

fn entry(shown: &str) -> StoredKey {
    StoredKey::new(StoredSession { shown: shown.to_owned(), session: Session::default() }.to_bytes().into(), None, false)
}

fn table(keys: &[(u8, &str)]) -> KeyTable {
    let table = KeyTable::default();
    keys.iter().for_each(|(digest, shown)| table.insert([*digest; 32], shown, entry(shown)));
    table
}

#[test]
fn keys_that_are_shown_alike_are_told_apart() {
    let table = table(&[(1, "aa"), (2, "bb"), (3, "aa")]);
    assert_eq!((table.shown_as("aa"), table.shown_as("bb"), table.shown_as("cc")), (vec![[1; 32], [3; 32]], vec![[2; 32]], vec![]));
    assert!(table.remove(&[1; 32]).is_some());
    assert_eq!(table.shown_as("aa"), [[3; 32]]);
    assert!(table.remove(&[3; 32]).is_some() && table.remove(&[3; 32]).is_none());
    assert_eq!((table.digests(), table.len()), (vec![[2; 32]], 1));
    assert_eq!(table.by_shown().len(), 1);
}

#[test]
fn a_key_that_comes_to_be_shown_otherwise_is_found_by_the_new_form_alone() {
    let table = table(&[(1, "plain")]);
    table.insert([1; 32], "hashed", entry("hashed"));
    assert_eq!((table.shown_as("plain"), table.shown_as("hashed")), (vec![], vec![[1; 32]]));
    assert_eq!(table.by_shown().len(), 1);
}

#[test]
fn an_entry_is_small() {
    assert!(size_of::<StoredKey>() <= 56, "{}", size_of::<StoredKey>());
}
