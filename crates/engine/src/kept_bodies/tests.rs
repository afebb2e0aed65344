use super::*;

#[test]
fn room_is_bounded_for_all_together_and_given_back() {
    let all = KeptBodies::new(100);
    let (mut one, mut other) = (Room::none(&all), Room::none(&all));
    assert!(one.reserve(60));
    assert!(!other.reserve(41), "only 40 are left");
    assert!(other.reserve(40));
    assert!(one.reserve(10), "there is as much already");
    assert_eq!(all.bytes(), 100);
    drop(one);
    assert_eq!(all.bytes(), 40);
    assert!(other.reserve(1000), "the only body");
    // The output of a transform is already in memory.
    other.set(250);
    assert_eq!(all.bytes(), 250);
    drop(other);
    assert_eq!(all.bytes(), 0);
}
