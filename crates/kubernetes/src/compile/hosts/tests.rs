use super::common;

#[test]
fn a_route_has_the_hosts_that_it_shares_with_its_listener() {
    type Case = (Option<&'static str>, &'static [&'static str], Option<&'static [&'static str]>);
    let cases: [Case; 11] = [
        (None, &[], Some(&[])),
        (None, &["A.example.com"], Some(&["a.example.com"])),
        (Some("a.example.com"), &[], Some(&[])),
        (Some("a.example.com"), &["a.example.com", "b.example.com"], Some(&["a.example.com"])),
        (Some("a.example.com"), &["*.Example.com"], Some(&["*.example.com"])),
        (Some("*.example.com"), &["a.example.com", "b.c.example.com", "example.com"], Some(&["a.example.com", "b.c.example.com"])),
        (Some("*.example.com"), &["*.a.example.com"], Some(&["*.a.example.com"])),
        (Some("*.a.example.com"), &["*.example.com", "*.com", "a.example.com"], Some(&["*.example.com", "*.com"])),
        (Some("*.example.com"), &["example.com"], None),
        (Some("a.example.com"), &["*.a.example.com"], None),
        (Some("*.example.com"), &["*.badexample.com"], None),
    ];
    for (listener, route, expected) in cases {
        let route: Vec<String> = route.iter().map(|host| (*host).to_owned()).collect();
        let expected = expected.map(|hosts| hosts.iter().map(|host| (*host).to_owned()).collect::<Vec<_>>());
        assert_eq!(common(listener, &route), expected, "{listener:?} {route:?}");
    }
}
