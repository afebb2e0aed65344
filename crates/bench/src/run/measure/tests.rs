use super::turns;
use std::collections::BTreeMap;

#[test]
fn everybody_has_every_place_and_every_predecessor() {
    for count in [2, 4, 6] {
        let mut pairs: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for round in 0..count {
            let order: Vec<usize> = turns(count, round as u32).collect();
            let mut all = order.clone();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>(), "{order:?}");
            order.windows(2).for_each(|pair| *pairs.entry((pair[0], pair[1])).or_default() += 1);
        }
        assert!(pairs.values().all(|times| *times == 1) && pairs.len() == count * (count - 1), "{pairs:?}");
    }
    assert_eq!(turns(1, 3).collect::<Vec<_>>(), [0]);
}
