use super::*;

#[path = "invariants.rs"]
mod invariants;

#[test]
fn addresses_are_read_as_proxies_write_them() {
    for (text, expected) in [
        ("192.0.2.1", Some("192.0.2.1")),
        (" 192.0.2.1\t", Some("192.0.2.1")),
        ("192.0.2.1:4711", Some("192.0.2.1")),
        ("2001:db8::1", Some("2001:db8::1")),
        ("[2001:db8::1]:4711", Some("2001:db8::1")),
        ("::ffff:192.0.2.1", Some("192.0.2.1")),
        ("[2001:db8::1]", None),
        ("192.0.2.1:", None),
        ("192.0.2.01", None),
        ("unknown", None),
        ("_hidden", None),
        ("", None),
    ] {
        assert_eq!(address(text), expected.map(|address| address.parse().unwrap()), "{text:?}");
    }
}

/// Runs the fuzzer's corpus without a fuzzer.
#[test]
fn what_a_client_writes_does_not_make_it_another() {
    crate::mutation::Corpus::read("client_address").each_and_mutated(20_000, invariants::client_address);
}
