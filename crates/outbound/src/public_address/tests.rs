use super::is_public;

#[test]
fn only_addresses_of_the_internet_are_public() {
    for (address, is_wanted) in [
        ("1.1.1.1", true),
        ("93.184.216.34", true),
        ("172.15.255.255", true),
        ("172.32.0.1", true),
        ("192.0.1.1", true),
        ("223.255.255.255", true),
        ("0.0.0.0", false),
        ("10.1.2.3", false),
        ("100.64.0.1", false),
        ("127.0.0.1", false),
        ("127.255.255.255", false),
        ("169.254.169.254", false),
        ("172.16.0.1", false),
        ("172.31.255.255", false),
        ("192.168.1.1", false),
        ("198.19.0.1", false),
        ("224.0.0.1", false),
        ("255.255.255.255", false),
        ("2606:4700::1111", true),
        ("::1", false),
        ("::", false),
        ("fe80::1", false),
        ("fd00::1", false),
        ("ff02::1", false),
        ("2001:db8::1", false),
        ("2001::1", false),
        ("::ffff:127.0.0.1", false),
        ("::ffff:1.1.1.1", true),
        ("64:ff9b::7f00:1", false),
        ("64:ff9b::101:101", true),
        ("64:ff9b:1::1", false),
        ("2002:7f00:1::", false),
        ("2002:0a00:1::", false),
    ] {
        assert_eq!(is_public(address.parse().unwrap()), is_wanted, "{address}");
    }
}
