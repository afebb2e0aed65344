use super::{ADDRESSES_MAX, FREE_TRIES, TRIES_PER_S, Tries, WAIT_S_MAX};
use std::net::{IpAddr, Ipv4Addr};

fn address(number: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(number))
}

#[test]
fn after_the_free_tries_each_wrong_one_doubles_the_wait() {
    let mut tries = Tries::default();
    let me = address(1);
    for left in (0..FREE_TRIES).rev() {
        assert_eq!(tries.admit(me, 100), Ok(()));
        assert_eq!(tries.left(me), left);
    }
    let mut now = 100;
    for wait in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, WAIT_S_MAX, WAIT_S_MAX] {
        assert_eq!(tries.admit(me, now), Err(wait));
        assert_eq!(tries.admit(me, now + wait - 1), Err(1));
        now += wait;
        assert_eq!(tries.admit(me, now), Ok(()), "{wait}");
    }
    assert_eq!(tries.admit(address(2), now), Ok(()));
    // A quiet time forgives.
    now += 2 * WAIT_S_MAX;
    assert_eq!(tries.admit(me, now), Ok(()));
    assert_eq!(tries.left(me), FREE_TRIES - 1);
}

#[test]
fn a_right_try_forgives_the_wrong_ones() {
    let mut tries = Tries::default();
    for _ in 0..FREE_TRIES {
        assert_eq!(tries.admit(address(1), 0), Ok(()));
    }
    tries.right(address(1));
    assert_eq!(tries.left(address(1)), FREE_TRIES);
    assert_eq!(tries.admit(address(1), 0), Ok(()));
    tries.unchecked(address(1));
    assert_eq!(tries.left(address(1)), FREE_TRIES);
}

#[test]
fn many_addresses_together_have_a_limit_and_bounded_memory() {
    let mut tries = Tries::default();
    for number in 0..TRIES_PER_S {
        assert_eq!(tries.admit(address(number), 7), Ok(()));
    }
    assert_eq!(tries.admit(address(999), 7), Err(1));
    assert_eq!(tries.admit(address(999), 8), Ok(()));
    for number in 0..2 * ADDRESSES_MAX as u32 {
        let _ = tries.admit(address(number), 10 + u64::from(number) / 8);
    }
    assert!(tries.addresses.len() <= ADDRESSES_MAX);
}

#[test]
fn a_network_of_ipv6_is_one_client() {
    let mut tries = Tries::default();
    for host in 1..=FREE_TRIES {
        assert_eq!(tries.admit(format!("2001:db8::{host}").parse().unwrap(), 0), Ok(()));
    }
    assert_eq!(tries.admit("2001:db8::ffff".parse().unwrap(), 0), Err(1));
    assert_eq!(tries.admit("2001:db8:0:1::1".parse().unwrap(), 0), Ok(()));
    assert_eq!(tries.left("::ffff:0.0.0.9".parse().unwrap()), tries.left(address(9)));
}
