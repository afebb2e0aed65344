use super::{ADDRESSES_MAX, FREE_GUESSES, Guesses};
use std::net::{IpAddr, Ipv4Addr};

fn address(number: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(number))
}

#[test]
fn an_address_without_guesses_learns_nothing_and_has_another_each_second() {
    let mut guesses = Guesses::default();
    for _ in 0..FREE_GUESSES {
        assert_eq!(guesses.judge(address(1), 100, || false), Ok(false));
    }
    assert_eq!(guesses.judge(address(1), 100, || unreachable!()), Err(1));
    assert_eq!(guesses.judge(address(2), 100, || true), Ok(true));
    for second in 101..110 {
        assert_eq!(guesses.judge(address(1), second, || false), Ok(false));
        assert_eq!(guesses.judge(address(1), second, || unreachable!()), Err(1));
    }
    assert_eq!(guesses.judge(address(1), 110, || true), Ok(true));
}

#[test]
fn right_guesses_cost_nothing() {
    let mut guesses = Guesses::default();
    for _ in 0..10 * FREE_GUESSES {
        assert_eq!(guesses.judge(address(1), 7, || true), Ok(true));
    }
    assert!(guesses.0.is_empty());
}

#[test]
fn memory_is_bounded_and_keeps_those_who_guess_most() {
    let mut guesses = Guesses::default();
    for _ in 0..FREE_GUESSES {
        assert_eq!(guesses.judge(address(u32::MAX), 5, || false), Ok(false));
    }
    for number in 0..2 * ADDRESSES_MAX as u32 {
        assert_eq!(guesses.judge(address(number), 5, || false), Ok(false));
    }
    assert!(guesses.0.len() <= ADDRESSES_MAX);
    assert_eq!(guesses.judge(address(u32::MAX), 5, || unreachable!()), Err(1));
}
