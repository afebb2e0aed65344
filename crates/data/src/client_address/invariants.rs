//! Invariants of the client address, for any request head. The function panics when one is violated. The fuzzer calls it, and so do the
//! tests, with the same corpus.

use crate::client_address::ClientAddress;
use std::net::{IpAddr, Ipv4Addr};
use tollgate_http::{HeaderStorage, Request};

const PROXY: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const STRANGER: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));

/// An untrusted peer is the client, whatever it sends. Whatever a client sends before a trusted proxy's entry changes nothing.
pub(super) fn client_address(bytes: &[u8]) {
    let mut storage = HeaderStorage::new();
    let Ok(Some(request)) = Request::parse(bytes, &mut storage) else { return };
    let trusted_proxies = vec!["10.0.0.0/8".parse().expect("a network"), "2001:db8::/32".parse().expect("a network")];
    let of =
        |header: &str, xff_depth| ClientAddress { trusted_proxies: trusted_proxies.clone(), xff_depth, header: header.to_owned() };
    for rules in [of("", 0), of("", 1), of("", 2), of("", u64::MAX), of("x-client", 0), of("x-forwarded-for", 0)] {
        assert_eq!(rules.of(STRANGER, &request), STRANGER, "a stranger is believed");
        let found = rules.of(PROXY, &request);
        assert_eq!(found, found.to_canonical(), "one client would have two addresses");
        let named = |name: &str| request.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let can_be_named =
            if rules.header.is_empty() { named("x-real-ip") || named("x-forwarded-for") } else { named(&rules.header) };
        assert!(can_be_named || found == PROXY, "{found} stands nowhere");
    }
    spoofed(&request, &of("x-forwarded-for", 0));
}

/// Repeats the head behind a proxy that appends the stranger's address; the stranger must be the client.
fn spoofed(request: &Request<'_>, rules: &ClientAddress) {
    let mut head = b"GET / HTTP/1.1\r\nHost: h\r\n".to_vec();
    for (_, value) in request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(&rules.header)) {
        head.extend([b"X-Forwarded-For: ", value, b"\r\n"].concat());
    }
    head.extend(format!("X-Forwarded-For: {STRANGER}, 10.9.9.9\r\n\r\n").bytes());
    let mut storage = HeaderStorage::new();
    // The added line may exceed the maximum number of lines.
    let Ok(Some(request)) = Request::parse(&head, &mut storage) else { return };
    assert_eq!(rules.of(PROXY, &request), STRANGER, "a client has named itself");
}
