use super::*;
use serde_json::{Value, json};

fn read(changes: Value) -> Result<(GraphSource, Arc<ConsumerTerms>), (String, String)> {
    let mut entry = json!({
        "kind": "Kafka", "name": "stock",
        "config": {"broker_addresses": ["kafka:9092"], "topics": ["stock.{{.arguments.name}}"], "group_id": "shop", "client_id": "gateway"},
    });
    for (field, value) in changes.as_object().unwrap() {
        entry["config"][field] = value.clone();
    }
    source(&serde_json::from_value(entry).unwrap())
}

#[test]
fn fields_have_the_values_that_tyk_knows() {
    let (_, plain) = read(json!({})).unwrap();
    assert_eq!((plain.assignment, plain.reads_committed, plain.starts_at_end), (AssignmentStrategy::Range, false, false));
    assert_eq!(plain.credentials, None);
    let (_, all) = read(json!({
        "kafka_version": "V2_8_0_0", "start_consuming_latest": true, "balance_strategy": "BalanceStrategySticky",
        "isolation_level": "ReadCommitted", "sasl": {"enable": true, "user": "ann", "password": "secret"},
    }))
    .unwrap();
    assert_eq!((all.assignment, all.reads_committed, all.starts_at_end), (AssignmentStrategy::Sticky, true, true));
    assert!(all.credentials.is_some());
    let (_, robin) = read(json!({"balance_strategy": "BalanceStrategyRoundRobin", "isolation_level": "ReadUncommitted"})).unwrap();
    assert_eq!((robin.assignment, robin.reads_committed), (AssignmentStrategy::RoundRobin, false));
}

#[test]
fn a_wrong_source_is_told_with_its_field() {
    let cases = [
        (json!({"broker_addresses": []}), "config.broker_addresses", "no brokers"),
        (json!({"broker_addresses": ["kafka"]}), "config.broker_addresses", "no host with a port"),
        (json!({"broker_addresses": ["{{.arguments.host}}:9092"]}), "config.broker_addresses", "no host with a port"),
        (json!({"topics": []}), "config.topics", "no topics"),
        (json!({"topics": ["^stock"]}), "config.topics", "no name of a topic"),
        (json!({"topics": ["{{.arguments}}"]}), "config", ".arguments.NAME"),
        (json!({"group_id": ""}), "config.group_id", "is no name"),
        (json!({"client_id": ""}), "config.client_id", "is no name"),
        (json!({"kafka_version": "V9"}), "config.kafka_version", "V0_10_2_0"),
        (json!({"balance_strategy": "Sticky"}), "config.balance_strategy", "BalanceStrategySticky"),
        (json!({"isolation_level": "Committed"}), "config.isolation_level", "ReadCommitted"),
        (json!({"sasl": {"enable": true, "user": "ann"}}), "config.sasl", "user and password"),
    ];
    for (changes, field, message) in cases {
        let (place, told) = read(changes.clone()).map(|_| ()).expect_err(message);
        assert!(place == field && told.contains(message), "{changes}: {place}: {told}");
    }
}

#[test]
fn variables_are_left_out_of_the_check() {
    for (name, expected) in [
        ("plain", "plain"),
        ("a.{{.arguments.x}}", "a.x"),
        ("{{ .request.headers.Tenant }}-{{.arguments.y}}.b", "x-x.b"),
        ("open {{", "open x"),
    ] {
        assert_eq!(without_variables(name.to_owned()), expected);
    }
}
