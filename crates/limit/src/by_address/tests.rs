use super::*;

fn rates(requests: f64, addresses_max: usize) -> AddressRates {
    AddressRates::new(Rate::new(requests, 1.0).unwrap(), addresses_max)
}

fn address(number: u32) -> u128 {
    u128::from(number)
}

/// How many requests at one time are admitted.
fn admitted(rates: &AddressRates, address: u128, requests: usize, now: Duration) -> usize {
    (0..requests).filter(|_| rates.admit(address, now).is_ok()).count()
}

#[test]
fn each_address_has_a_rate_of_its_own() {
    let rates = rates(5.0, 1000);
    let now = Duration::from_secs(1);
    for number in 0..100 {
        assert_eq!(admitted(&rates, address(number), 8, now), 5, "{number}");
    }
    assert_eq!(admitted(&rates, address(7), 8, now + Duration::from_millis(200)), 1);
    assert_eq!(admitted(&rates, address(7), 8, now + Duration::from_secs(5)), 5);
}

#[test]
fn addresses_that_are_idle_make_room_without_being_wronged() {
    let rates = rates(5.0, 64);
    // A thousand times as many addresses as there are slots, but only few at a time.
    for number in 0..64_000u32 {
        let now = Duration::from_millis(1000 + u64::from(number) * 200);
        assert_eq!(admitted(&rates, address(number), 8, now), 5, "{number}");
    }
}

#[test]
fn a_crowd_of_new_addresses_does_not_free_a_busy_one() {
    let rates = rates(100.0, 256);
    let now = Duration::from_secs(1);
    assert_eq!(admitted(&rates, address(0), 150, now), 100);
    for number in 1..10_000 {
        let _ = rates.admit(address(number), now);
    }
    assert_eq!(admitted(&rates, address(0), 150, now), 0);
}

#[test]
fn all_threads_together_are_let_in_as_often_as_one() {
    let rates = rates(1000.0, 16);
    let now = Duration::from_secs(1);
    let total: usize = std::thread::scope(|scope| {
        let run = || (0..1000).filter(|_| rates.admit(address(1), now).is_ok()).count();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    // Threads that race for the slot may count twice.
    assert!((1000..=1004).contains(&total), "{total}");
}
