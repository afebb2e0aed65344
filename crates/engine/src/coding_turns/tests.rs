use super::*;

/// Whether each of the slices may go on after one look at the sockets.
fn look(turns: &CodingTurns, waiting: &mut Vec<(usize, WaitingSlice)>) -> Vec<usize> {
    let mut gone = Vec::new();
    waiting.retain_mut(|(name, slice)| {
        let goes = turns.go_on(slice);
        if goes {
            gone.push(*name);
        }
        !goes
    });
    gone
}

#[test]
fn few_slices_go_on_at_a_time_in_the_order_in_which_they_came() {
    let turns = CodingTurns::default();
    assert!(!turns.take(), "the first slice waits for a look at the sockets too");
    let mut waiting: Vec<_> = (0..10).map(|name| (name, turns.wait())).collect();
    assert_eq!(look(&turns, &mut waiting), [0, 1, 2, 3]);
    // Whoever comes back queues behind those that still wait.
    waiting.insert(0, (0, turns.wait()));
    assert!(!turns.take());
    assert_eq!(look(&turns, &mut waiting), [4, 5, 6, 7]);
    assert_eq!(look(&turns, &mut waiting), [0, 8, 9]);
    // One of four is left for the next that comes.
    assert!(turns.take());
    assert!(!turns.take());
}

#[test]
fn slices_that_are_given_up_do_not_hold_up_others() {
    let turns = CodingTurns::default();
    (0..100).for_each(|_| {
        turns.wait();
    });
    let mut waiting = vec![(7, turns.wait())];
    let looks = (0..100).find(|_| !look(&turns, &mut waiting).is_empty());
    assert_eq!(looks, Some(25));
}
