use super::{Filed, Lease, LeaseGrant, LimitParams, Take};

const TERMS: LimitParams = LimitParams { limit: 5, window_us: 1_000_000, gateways: 3, rank: 0, singly: false };

fn answer(places: u64, again_us: u64) -> LeaseGrant {
    LeaseGrant { places, life_us: 10_000, filed: Filed::default(), again_us, free: 0, memory: 1, forgot: false }
}

fn alone(lease: &mut Lease, terms: &LimitParams, requests: u64, now_us: u64) -> usize {
    (0..requests).filter(|_| lease.take_alone(terms, now_us) == Take::Taken).count()
}

#[test]
fn one_asks_and_the_others_wait() {
    let mut lease = Lease::default();
    assert_eq!(lease.take(&TERMS, 0), Take::Wait { asks: true });
    assert_eq!(lease.take(&TERMS, 0), Take::Wait { asks: false });
    assert_eq!(lease.take(&TERMS, 1), Take::Wait { asks: false });
    let ask = lease.ask(&TERMS, 1);
    assert_eq!(ask.scarce, 3);
    lease.answered(&TERMS, &ask, &answer(3, 0), 2);
    assert_eq!([2, 2, 2].map(|now| lease.take(&TERMS, now)), [Take::Taken; 3]);
    assert_eq!(lease.take(&TERMS, 2), Take::Wait { asks: true });
}

#[test]
fn a_refusal_holds_until_a_place_may_be_free() {
    let mut lease = Lease::default();
    lease.take(&TERMS, 0);
    let ask = lease.ask(&TERMS, 0);
    lease.answered(&TERMS, &ask, &answer(0, 700), 10);
    assert_eq!(lease.take(&TERMS, 10), Take::Refused(700));
    assert_eq!(lease.take(&TERMS, 709), Take::Refused(1));
    assert_eq!(lease.take(&TERMS, 710), Take::Wait { asks: true });
}

#[test]
fn what_is_given_back_can_be_taken_again_but_not_for_long() {
    let mut lease = Lease::default();
    lease.take(&TERMS, 0);
    let ask = lease.ask(&TERMS, 0);
    lease.answered(&TERMS, &ask, &answer(1, 0), 0);
    assert_eq!(lease.take(&TERMS, 0), Take::Taken);
    lease.give_back();
    assert_eq!(lease.take(&TERMS, 1), Take::Taken);
    lease.give_back();
    assert_eq!(lease.take(&TERMS, 500_000), Take::Wait { asks: true });
}

#[test]
fn a_question_that_is_lost_is_asked_again() {
    let mut lease = Lease::default();
    assert_eq!(lease.take(&TERMS, 0), Take::Wait { asks: true });
    lease.unanswered();
    assert_eq!(lease.take(&TERMS, 1), Take::Wait { asks: true });
    assert_eq!(lease.take(&TERMS, 1_000_000), Take::Wait { asks: false });
    assert_eq!(lease.take(&TERMS, 1_000_001), Take::Wait { asks: true });
}

#[test]
fn places_that_came_too_late_are_given_back_and_the_next_last_longer() {
    let mut lease = Lease::default();
    lease.take(&TERMS, 0);
    let ask = lease.ask(&TERMS, 0);
    assert_eq!(ask.scarce_us, 10_000);
    lease.answered(&TERMS, &ask, &answer(1, 0), 30_000);
    assert_eq!(lease.take(&TERMS, 30_000), Take::Wait { asks: true });
    let ask = lease.ask(&TERMS, 30_000);
    assert_eq!((ask.scarce_us, ask.back.map(|back| (back.places, back.unused))), (20_000, Some((1, 1))));
    // Nobody waits for this one any more.
    lease.unanswered();
    lease.answered_late(&TERMS, &ask, &answer(1, 0), 90_000);
    assert_eq!(lease.take(&TERMS, 90_000), Take::Wait { asks: true });
    assert_eq!(lease.ask(&TERMS, 90_000).back.map(|back| back.unused), Some(1));
}

#[test]
fn the_shares_of_all_gateways_are_the_limit() {
    for (limit, gateways) in [(9, 3), (10, 3), (1, 3), (2, 5), (1_000, 7)] {
        let share = |rank| alone(&mut Lease::default(), &LimitParams { limit, gateways, rank, ..TERMS }, limit, 0);
        assert_eq!((0..gateways).map(share).sum::<usize>(), limit as usize, "{limit} of {gateways}");
    }
    let mut lease = Lease::default();
    let terms = LimitParams { limit: 9, ..TERMS };
    assert_eq!(alone(&mut lease, &terms, 9, 0), 3);
    assert!(matches!(lease.take_alone(&terms, 500_000), Take::Refused(left) if left > 500_000));
    assert_eq!(lease.take_alone(&terms, 1_060_000), Take::Taken);
}

/// The store last answered that two of nine places are free, and this gateway has used five.
fn five_of_nine(terms: &LimitParams) -> Lease {
    let mut lease = Lease::default();
    lease.take(terms, 0);
    let ask = lease.ask(terms, 0);
    lease.answered(terms, &ask, &LeaseGrant { free: 2, ..answer(5, 0) }, 0);
    assert!((0..5).all(|_| lease.take(terms, 0) == Take::Taken));
    lease
}

#[test]
fn a_share_goes_on_as_the_load_was_and_becomes_equal_with_time() {
    let terms = LimitParams { limit: 9, ..TERMS };
    let mut lease = five_of_nine(&terms);
    assert_eq!(alone(&mut lease, &terms, 9, 1_000), 1, "its part of what was free");
    assert_eq!(alone(&mut lease, &terms, 9, 1_150_000), 3, "it goes down to its equal part");
    let mut lease = five_of_nine(&terms);
    alone(&mut lease, &terms, 9, 1_000);
    assert_eq!(alone(&mut lease, &terms, 9, 2_500_000), 3);
    let mut idle = Lease::default();
    idle.take(&terms, 0);
    let ask = idle.ask(&terms, 0);
    idle.answered(&terms, &ask, &answer(0, 100), 0);
    assert_eq!([1_000, 1_500_000, 2_500_000].map(|now_us| alone(&mut idle, &terms, 9, now_us)), [0, 0, 3]);
}

#[test]
fn what_passed_without_the_store_is_told_once_and_again_to_one_that_has_forgotten() {
    let terms = LimitParams { limit: 900, ..TERMS };
    let mut lease = Lease::default();
    lease.take(&terms, 0);
    let ask = lease.ask(&terms, 0);
    lease.answered(&terms, &ask, &LeaseGrant { life_us: 500_000, free: 30, ..answer(10, 0) }, 0);
    assert!((0..10).all(|_| lease.take(&terms, 0) == Take::Taken));
    assert_eq!(alone(&mut lease, &terms, 4, 100_000), 4);
    let ask = lease.tell(&terms, 200_000).unwrap();
    assert_eq!(ask.told.iter().map(|told| (told.age_us, told.places)).collect::<Vec<_>>(), [(50_000, 4)]);
    assert_eq!(ask.memory, 1);
    lease.answered(&terms, &ask, &LeaseGrant { memory: 2, forgot: true, ..answer(0, 0) }, 200_000);
    let ask = lease.tell(&terms, 200_000).unwrap();
    assert_eq!((ask.memory, ask.told.iter().map(|told| told.places).sum::<u64>()), (2, 14));
    lease.answered(&terms, &ask, &LeaseGrant { memory: 2, ..answer(0, 0) }, 200_000);
    assert!(lease.has_told() && lease.tell(&terms, 200_000).is_none());
}

#[test]
fn after_a_silence_a_gateway_keeps_to_its_share_until_the_others_are_back() {
    let terms = LimitParams { limit: 9, ..TERMS };
    let mut lease = five_of_nine(&terms);
    assert_eq!(alone(&mut lease, &terms, 9, 900_000), 1);
    assert!(matches!(lease.take(&terms, 950_000), Take::Wait { asks: true }));
    let ask = lease.ask(&terms, 950_000);
    assert_eq!((ask.scarce, ask.told.len()), (0, 1));
    lease.answered(&terms, &ask, &answer(0, 0), 950_000);
    assert!(matches!(lease.take(&terms, 960_000), Take::Refused(_)));
    // All but one have left the window.
    assert!(matches!(lease.take(&terms, 1_200_000), Take::Wait { asks: true }));
    let ask = lease.ask(&terms, 1_200_000);
    lease.answered(&terms, &ask, &answer(9, 0), 1_200_000);
    let taken = (0..9).filter(|_| lease.take(&terms, 1_200_000) == Take::Taken).count();
    assert_eq!(taken, 5, "its share is six");
    assert_eq!(lease.take(&terms, 2_160_000), Take::Wait { asks: true });
}
