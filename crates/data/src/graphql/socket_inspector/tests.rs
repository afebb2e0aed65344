use super::*;
use serde_json::json;
use tollgate_graphql::{GraphqlRights, TypeFields};
use tollgate_model::api::{GraphqlDefinition, GraphqlRules};

fn inspector(rights: GraphqlRights, is_closed: bool) -> SocketInspector {
    let schema =
        "type Query { me: User } type User { id: ID name: String friend: User } type Subscription { said(room: ID!): User }";
    let definition: GraphqlDefinition = serde_json::from_value(json!({"enabled": true, "schema": schema})).unwrap();
    let api = GraphqlApi::compile(&definition, &GraphqlRules::default()).unwrap_or_else(|problems| panic!("{problems:?}"));
    SocketInspector { api: Arc::new(api), rights: SocketRights { rights, is_closed }, persists: true }
}

fn subscribe(payload: Value) -> String {
    json!({"id": "1", "type": "subscribe", "payload": payload}).to_string()
}

fn refused(message: Value) -> SocketPassage {
    SocketPassage::Refuse(json!({"type": "error", "id": "1", "payload": message}).to_string())
}

#[test]
fn operations_pass_or_are_refused_in_the_form_of_their_protocol() {
    let restricted = vec![TypeFields { name: "User".to_owned(), fields: vec!["name".to_owned()] }];
    let rights = GraphqlRights { depth_max: 2, restricted, ..GraphqlRights::default() };
    let inspector = inspector(rights, true);
    let passes = ["{ me { id } }", "subscription { said(room: 1) { id } }"];
    for query in passes {
        for kind in ["subscribe", "start"] {
            let message = json!({"id": "1", "type": kind, "payload": {"query": query}}).to_string();
            assert_eq!(inspector.inspect(&message), SocketPassage::Pass(message));
        }
    }
    let cases = [
        ("{ me { name } }", "field: name is restricted on type: User"),
        ("{ me { friend { id } } }", "depth limit exceeded"),
        ("{ __schema { types { name } } }", "introspection is disabled"),
        ("{ you }", "field: you not defined on type: Query"),
        ("", "document doesn't contain any executable operation"),
        ("subscription($r: ID!) { said(room: $r) { id } }", "$r"),
    ];
    for (query, expected) in cases {
        let SocketPassage::Refuse(present) = inspector.inspect(&subscribe(json!({"query": query}))) else { panic!("{query}") };
        let present: Value = serde_json::from_str(&present).unwrap();
        assert_eq!((&present["type"], &present["id"]), (&json!("error"), &json!("1")));
        let message = present["payload"][0]["message"].as_str().unwrap_or_default();
        assert!(message.contains(expected), "{query}: {message}");
        let old = json!({"id": "1", "type": "start", "payload": {"query": query}}).to_string();
        let SocketPassage::Refuse(old) = inspector.inspect(&old) else { panic!("{query}") };
        let old: Value = serde_json::from_str(&old).unwrap();
        assert_eq!(old["payload"], present["payload"][0]);
    }
}

#[test]
fn what_two_servers_could_read_differently_does_not_pass_as_it_is() {
    let inspector = inspector(GraphqlRights::default(), false);
    // The last member counts for the check, and is all that the upstream gets.
    let twice = r#"{"type":"ping","id":"1","payload":{"query":"{ you }"},"type":"subscribe","payload":{"query":"{ me { id } }"},"Type":"x"}"#;
    let expected = r#"{"id":"1","type":"subscribe","payload":{"query":"{ me { id } }"}}"#;
    assert_eq!(inspector.inspect(twice), SocketPassage::Pass(expected.to_owned()));
    for payload in [json!({"Query": "{ me { id } }"}), json!([{"query": "{ me { id } }"}]), json!("{ me { id } }"), Value::Null] {
        let expected = refused(json!([{"message": "the payload is no request"}]));
        assert_eq!(inspector.inspect(&subscribe(payload.clone())), expected, "{payload}");
    }
    let ends = [
        "",
        "[]",
        "{",
        "7",
        r#"{"type":"next","id":"1"}"#,
        r#"{"type":"subscribe","payload":{"query":"{ me { id } }"}}"#,
        r#"{"id":"1"}"#,
    ];
    for message in ends {
        assert_eq!(inspector.inspect(message), SocketPassage::End("Invalid message"), "{message}");
    }
}

#[test]
fn other_messages_of_both_protocols_pass() {
    let inspector = inspector(GraphqlRights::default(), false);
    let messages = [
        json!({"type": "connection_init", "payload": {"token": "x"}}),
        json!({"type": "connection_init"}),
        json!({"type": "ping"}),
        json!({"type": "pong", "payload": {}}),
        json!({"id": "1", "type": "complete"}),
        json!({"id": "1", "type": "stop"}),
        json!({"type": "connection_terminate"}),
    ];
    for message in messages {
        assert_eq!(inspector.inspect(&message.to_string()), SocketPassage::Pass(message.to_string()));
    }
}

#[test]
fn documents_are_named_by_their_hash_once_they_are_known() {
    let inspector = inspector(GraphqlRights::default(), false);
    let query = "{ me { id } }";
    let digest: String = Sha256::digest(query.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let extensions = json!({"persistedQuery": {"version": 1, "sha256Hash": digest}});
    let named = subscribe(json!({"extensions": extensions}));
    let unknown = json!([{"message": "PersistedQueryNotFound", "extensions": {"code": "PERSISTED_QUERY_NOT_FOUND"}}]);
    assert_eq!(inspector.inspect(&named), refused(unknown));
    let whole = subscribe(json!({"query": query, "extensions": extensions}));
    assert_eq!(inspector.inspect(&whole), SocketPassage::Pass(whole.clone()));
    let SocketPassage::Pass(completed) = inspector.inspect(&named) else { panic!("{named}") };
    assert!(completed.contains(r#""query":"{ me { id } }""#), "{completed}");
    let other = subscribe(json!({"query": "{ me { name } }", "extensions": extensions}));
    assert_eq!(inspector.inspect(&other), refused(json!([{"message": "provided sha does not match query"}])));
    let silent = SocketInspector { persists: false, ..inspector };
    let off = json!([{"message": "PersistedQueryNotSupported", "extensions": {"code": "PERSISTED_QUERY_NOT_SUPPORTED"}}]);
    assert_eq!(silent.inspect(&named), refused(off));
}
