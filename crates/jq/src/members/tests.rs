use super::*;
use indexmap::IndexMap;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Change {
    Insert(u8, i64),
    Remove(u8),
}

proptest! {
    #[test]
    fn members_are_those_of_an_index_map(changes in proptest::collection::vec(
        prop_oneof![(0..40_u8, any::<i64>()).prop_map(|(name, value)| Change::Insert(name, value)), (0..40_u8).prop_map(Change::Remove)],
        0..120,
    )) {
        let (mut ours, mut theirs) = (NamedList::default(), IndexMap::new());
        for change in changes {
            match change {
                Change::Insert(name, value) => {
                    let name: Rc<str> = format!("n{name}").into();
                    ours.insert(name.clone(), value);
                    theirs.insert(name, value);
                }
                Change::Remove(name) => {
                    let name = format!("n{name}");
                    prop_assert_eq!(ours.shift_remove(&name), theirs.shift_remove(name.as_str()));
                }
            }
            let all: Vec<_> = ours.iter().map(|(name, value)| (name.clone(), *value)).collect();
            let expected: Vec<_> = theirs.iter().map(|(name, value)| (name.clone(), *value)).collect();
            prop_assert_eq!(all, expected);
            for (at, name) in theirs.keys().enumerate() {
                prop_assert_eq!(ours.place(name), Some(at));
            }
            prop_assert!(!ours.contains_key("other"));
        }
    }
}
