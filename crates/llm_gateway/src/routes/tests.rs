use super::{Way, in_order};
use std::sync::Arc;

fn ways(weights: &[u32]) -> Vec<Way> {
    let way = |(provider, weight): (usize, &u32)| Way {
        provider,
        model: None,
        weight: *weight,
        standing: Arc::default(),
        figures: Arc::default(),
    };
    weights.iter().enumerate().map(way).collect()
}

#[test]
fn weights_say_who_is_first_and_the_order_who_is_next() {
    let order = |weights: &[u32], chance| in_order(ways(weights), chance).iter().map(|way| way.provider).collect::<Vec<_>>();
    assert_eq!(order(&[0, 0, 0], 7), [0, 1, 2]);
    assert_eq!(order(&[1, 3, 0], 0), [0, 1, 2]);
    for chance in 1..4 {
        assert_eq!(order(&[1, 3, 0], chance), [1, 0, 2], "{chance}");
    }
    assert_eq!(order(&[1, 3, 0], 4), [0, 1, 2]);
}
