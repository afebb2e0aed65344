use super::*;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn limit(connections_max: u32) -> AddressLimit {
    AddressLimit::new(connections_max, Arc::new(|address| address == ip("10.0.0.1")))
}

#[test]
fn what_counts_as_one_client() {
    for (one, other, same) in [
        ("192.0.2.1", "192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false),
        ("192.0.2.1", "::ffff:192.0.2.1", true),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
        ("::", "0.0.0.0", false),
        ("::1", "127.0.0.1", false),
    ] {
        assert_eq!(client_network(ip(one)) == client_network(ip(other)), same, "{one} {other}");
    }
}

#[test]
fn an_address_gets_as_many_seats_as_it_may_and_they_come_back() {
    let limit = limit(2);
    let seats: Vec<_> = (0..2).map(|_| limit.seat(ip("192.0.2.1")).unwrap()).collect();
    assert!(limit.seat(ip("192.0.2.1")).is_err());
    assert!(limit.seat(ip("192.0.2.2")).is_ok(), "nobody else is disturbed");
    drop(seats);
    assert!(limit.seat(ip("192.0.2.1")).is_ok());
    let entries: usize = limit.counts.parts.iter().map(|part| part.lock().unwrap().len()).sum();
    assert_eq!(entries, 0, "an address without a connection is forgotten");
}

#[test]
fn a_changed_maximum_counts_what_is_there() {
    let counts = Arc::new(AddressCounts::default());
    let address = ip("192.0.2.1");
    let mut seats: Vec<_> = (0..3).map(|_| counts.seat(address, 3).unwrap()).collect();
    assert!(counts.seat(address, 3).is_err() && counts.seat(address, 2).is_err());
    seats.extend((0..2).map(|_| counts.seat(address, 5).unwrap()));
    assert!(counts.seat(address, 5).is_err());
    seats.truncate(1);
    assert!(counts.seat(address, 1).is_err() && counts.seat(address, 2).is_ok());
    assert!(counts.seat(ip("192.0.2.2"), 0).is_err());
    drop(seats);
    assert!(counts.parts.iter().all(|part| part.lock().unwrap().is_empty()));
}

#[test]
fn exempt_addresses_are_not_counted() {
    let limit = limit(1);
    let seats: Vec<_> = (0..5).map(|_| limit.seat(ip("10.0.0.1")).unwrap()).collect();
    assert!(seats.iter().all(Option::is_none));
    assert!(limit.seat(ip("::ffff:10.0.0.1")).unwrap().is_none());
}

#[test]
fn threads_that_come_and_go_leave_nothing() {
    let limit = limit(1000);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let limit = &limit;
            scope.spawn(move || {
                for round in 0..500 {
                    let _seat = limit.seat(IpAddr::from([192, 0, 2, (thread + round % 3) as u8])).unwrap();
                }
            });
        }
    });
    assert!(limit.counts.parts.iter().all(|part| part.lock().unwrap().is_empty()));
}
