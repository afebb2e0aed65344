use super::*;

const WAITING_MAX: usize = 256;

/// Makes a queue to which each client has added this many items, numbered from 0. Also returns how many were rejected.
fn filled(lines: &[(u128, usize)]) -> (FairQueue<u128, (u128, usize)>, usize) {
    let queue = FairQueue::new(WAITING_MAX);
    let mut refused = 0;
    for (of, count) in lines {
        refused += (0..*count).filter(|number| !queue.put(*of, (*of, *number))).count();
    }
    (queue, refused)
}

/// The items in the order in which they are served.
fn served(queue: &FairQueue<u128, (u128, usize)>) -> Vec<(u128, usize)> {
    queue.end();
    std::iter::from_fn(|| queue.take()).collect()
}

#[test]
fn askers_are_served_in_turn_and_each_in_his_order() {
    let (queue, _) = filled(&[(1, 3), (2, 1), (3, 2)]);
    assert_eq!(served(&queue), [(1, 0), (2, 0), (3, 0), (1, 1), (3, 1), (1, 2)]);
}

#[test]
fn one_alone_has_all_the_room_and_no_more() {
    let (queue, refused) = filled(&[(1, WAITING_MAX + 10)]);
    assert_eq!((refused, served(&queue).len()), (10, WAITING_MAX));
}

#[test]
fn who_sends_too_many_gives_way_to_others_from_the_end() {
    let (queue, refused) = filled(&[(1, WAITING_MAX), (2, 1)]);
    assert_eq!(refused, 0);
    let order = served(&queue);
    assert_eq!((order.len(), order[1]), (WAITING_MAX, (2, 0)), "the other one is next but one");
    assert_eq!(order.last(), Some(&(1, WAITING_MAX - 2)), "the last of the long line is gone");
}

#[test]
fn two_who_send_too_many_end_with_half_each() {
    let (queue, refused) = filled(&[(1, WAITING_MAX), (2, WAITING_MAX)]);
    assert_eq!(refused, WAITING_MAX / 2);
    let order = served(&queue);
    assert_eq!(order.iter().filter(|(of, _)| *of == 2).count(), WAITING_MAX / 2);
}

#[test]
fn lines_of_one_each_are_not_cut_short() {
    let lines: Vec<(u128, usize)> = (0..WAITING_MAX as u128).map(|of| (of, 1)).collect();
    let (queue, _) = filled(&lines);
    assert!(!queue.put(u128::MAX, (0, 0)));
    assert_eq!(served(&queue).len(), WAITING_MAX);
}
