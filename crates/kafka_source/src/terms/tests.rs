use super::*;

pub(crate) fn terms() -> ConsumerTerms {
    ConsumerTerms {
        brokers: vec!["127.0.0.1:9092".to_owned()],
        topics: vec!["prices".to_owned()],
        group: "gateway".to_owned(),
        client: "gateway-1".to_owned(),
        starts_at_end: false,
        assignment: AssignmentStrategy::Range,
        reads_committed: false,
        credentials: None,
    }
}

#[test]
fn terms_that_a_consumer_cannot_have_are_named() {
    type Change = fn(&mut ConsumerTerms);
    let credentials = |user: &str, password: &str| Some(BrokerCredentials { user: user.to_owned(), password: password.to_owned() });
    assert_eq!(ConsumerTerms { credentials: credentials("ann", "secret"), ..terms() }.check(), Ok(()));
    let cases: [(Change, &str, &str); 14] = [
        (|terms| terms.brokers.clear(), "brokers", "no brokers"),
        (|terms| terms.brokers = vec!["kafka".to_owned()], "brokers", "\"kafka\" is no host"),
        (|terms| terms.brokers = vec!["kafka:0".to_owned()], "brokers", "\"kafka:0\" is no host"),
        (|terms| terms.brokers = vec!["a:1,b:2".to_owned()], "brokers", "\"a:1,b:2\" is no host"),
        (|terms| terms.brokers = vec!["SASL_SSL://kafka:9092".to_owned()], "brokers", "is no host"),
        (|terms| terms.brokers = vec!["[::x]:9092".to_owned()], "brokers", "is no host"),
        (|terms| terms.topics.clear(), "topics", "no topics"),
        (|terms| terms.topics = vec!["^.*".to_owned()], "topics", "\"^.*\" is no name of a topic"),
        (|terms| terms.topics = vec!["..".to_owned()], "topics", "\"..\" is no name of a topic"),
        (|terms| terms.topics = vec!["x".repeat(250)], "topics", "is no name of a topic"),
        (|terms| terms.group.clear(), "group", "\"\" is no name"),
        (|terms| terms.client = "a\nb".to_owned(), "client", "is no name"),
        (
            |terms| {
                terms.credentials = Some(BrokerCredentials { user: String::new(), password: "x".to_owned() });
            },
            "credentials",
            "neither empty",
        ),
        (
            |terms| {
                terms.credentials = Some(BrokerCredentials { user: "a\0b".to_owned(), password: "x".to_owned() });
            },
            "credentials",
            "without NUL",
        ),
    ];
    for (change, term, message) in cases {
        let mut terms = terms();
        change(&mut terms);
        let fault = terms.check().expect_err(message);
        assert_eq!(fault.term, term);
        assert!(fault.message.contains(message), "{fault}");
    }
}

#[test]
fn ipv6_addresses_are_brokers() {
    assert_eq!(ConsumerTerms { brokers: vec!["[::1]:9092".to_owned()], ..terms() }.check(), Ok(()));
}

#[test]
fn passwords_are_not_printed() {
    let credentials = BrokerCredentials { user: "ann".to_owned(), password: "hidden-word".to_owned() };
    assert!(!format!("{credentials:?}").contains("hidden-word"));
}
