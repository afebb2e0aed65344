use super::*;
use serde_json::json;

/// The targets in an answer; the parent is a text that is JSON itself.
fn read(answer: &Value, parent: &str, host: &str, port: &str, takes_all: bool) -> Result<Vec<String>, String> {
    read_below(answer, parent, !parent.is_empty(), host, port, takes_all)
}

fn read_below(
    answer: &Value,
    parent: &str,
    is_nested: bool,
    host: &str,
    port: &str,
    takes_all: bool,
) -> Result<Vec<String>, String> {
    let shape = AnswerShape {
        parent_path: (!parent.is_empty()).then(|| parent.to_owned()),
        is_nested,
        host_path: host.to_owned(),
        port_path: port.to_owned(),
        scheme: "",
        target_path: String::new(),
        is_list: false,
        takes_all,
    };
    targets(answer.to_string().as_bytes(), &shape)
}

#[test]
fn the_answers_of_known_services_are_read() {
    let consul =
        json!([{"Node": "foobar", "Address": "10.1.10.12", "ServicePort": 8000}, {"Address": "10.1.10.13", "ServicePort": 8001}]);
    assert_eq!(read(&consul, "", "Address", "ServicePort", true).unwrap(), ["http://10.1.10.12:8000", "http://10.1.10.13:8001"]);
    assert_eq!(read(&consul, "", "Address", "ServicePort", false).unwrap(), ["http://10.1.10.12:8000"]);
    let etcd = json!({"action": "get", "node": {"key": "/services/single", "value": "{\"hostname\": \"http://a.test\", \"port\": \"80\"}"}});
    assert_eq!(read(&etcd, "node.value", "hostname", "port", false).unwrap(), ["http://a.test:80"]);
    let etcd_list = json!({"node": {"value": "[{\"hostname\": \"http://a.test\", \"port\": \"80\"}, {\"hostname\": \"b.test\"}]"}});
    assert_eq!(read(&etcd_list, "node.value", "hostname", "port", true).unwrap(), ["http://a.test:80", "http://b.test"]);
    let eureka = json!({"application": {"name": "ROUTE", "instance": [
        {"hostName": "a.test", "port": {"$": "6002", "@enabled": true}}, {"hostName": "b.test", "port": {"$": 6003}},
    ]}});
    assert_eq!(
        read(&eureka, "", "application.instance.hostName", "application.instance.port.$", true).unwrap(),
        ["http://a.test:6002", "http://b.test:6003"]
    );
}

#[test]
fn paths_are_relative_to_the_items_of_the_parent() {
    let mesos = json!({"tasks": [
        {"id": "a", "host": "10.141.141.10", "ports": [31002, 31003]}, {"host": "10.141.141.11", "ports": [31004]}, {"host": "c"},
    ]});
    let targets = ["http://10.141.141.10:31002", "http://10.141.141.11:31004", "http://c"];
    assert_eq!(read_below(&mesos, "tasks", false, "host", "ports", true).unwrap(), targets);
    assert_eq!(read_below(&mesos, "tasks", false, "host", "ports.0", true).unwrap(), targets);
    let instance = json!({"hostName": "a.test", "port": {"$": 6002, "@enabled": "true"}, "net.ip": "10.0.0.1"});
    for instances in [json!([instance.clone()]), instance.clone()] {
        let eureka = json!({"application": {"name": "ROUTE", "instance": instances}});
        let read = |host| read_below(&eureka, "application.instance", false, host, "port.$", true).unwrap();
        assert_eq!(
            (read("hostName"), read("net~1ip")),
            (vec!["http://a.test:6002".to_owned()], vec!["http://10.0.0.1:6002".to_owned()])
        );
    }
    let consul = json!([{"Value": "{\"host\": \"a\"}"}, {"Value": "[{\"host\": \"b\"}, {\"host\": \"c\"}]"}]);
    assert_eq!(read(&consul, "Value", "host", "", true).unwrap(), ["http://a", "http://b", "http://c"]);
    assert_eq!(read_below(&json!({"tasks": []}), "tasks", false, "host", "", true).unwrap_err(), "the answer has nothing at tasks");
}

#[test]
fn lists_of_texts_and_addresses_with_ports_are_read() {
    assert_eq!(read(&json!({"hosts": ["a:1", "https://b/"]}), "", "hosts", "", true).unwrap(), ["http://a:1", "https://b"]);
    assert_eq!(read(&json!(["a:1", "b:2"]), "", "", "", true).unwrap(), ["http://a:1", "http://b:2"]);
    assert_eq!(read(&json!({"hosts": ["a", "b"], "port": 80}), "", "hosts", "port", true).unwrap(), ["http://a:80", "http://b:80"]);
}

#[test]
fn garbage_is_an_error_that_says_what_is_missing() {
    for (answer, expected) in [
        (json!([]), "the answer has no host at Address"),
        (json!({"Address": null}), "the answer has no host at Address"),
        (json!("text"), "the answer has no host at Address"),
        (json!([{"Address": "a", "Port": 70_000}]), "\"70000\" is not a port"),
        (json!([{"Address": "a b"}]), "\"a b\" is not a host"),
    ] {
        assert_eq!(read(&answer, "", "Address", "Port", true).unwrap_err(), expected);
    }
    assert_eq!(read(&json!({}), "node.value", "a", "", true).unwrap_err(), "the answer has nothing at node.value");
    assert!(read(&json!({"node": "no json"}), "node", "a", "", true).unwrap_err().starts_with("the text at node is not JSON"));
    let list = AnswerShape { is_list: true, ..AnswerShape::default() };
    assert_eq!(targets(b"{}", &list).unwrap_err(), "the answer is not a list");
    assert!(targets(b"<html>", &AnswerShape::default()).unwrap_err().starts_with("the answer is not JSON"));
}

#[test]
fn an_endless_list_is_cut() {
    let hosts: Vec<String> = (0..2_000).map(|number| format!("h{number}")).collect();
    assert_eq!(read(&json!(hosts), "", "", "", true).unwrap().len(), TARGETS_MAX);
}
