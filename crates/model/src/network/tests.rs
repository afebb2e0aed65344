use super::parse_network;

#[test]
fn addresses_and_ranges_are_ranges() {
    for (text, range) in
        [("10.1.2.3", "10.1.2.3/32"), (" ::1 ", "::1/128"), ("10.1.2.3/8", "10.0.0.0/8"), ("2001:db8::1/32", "2001:db8::/32")]
    {
        assert_eq!(parse_network(text).unwrap().to_string(), range);
    }
    for text in ["", "10.0.0", "10.0.0.0/33", "host", "10.0.0.1:80"] {
        assert_eq!(parse_network(text), None, "{text}");
    }
}
