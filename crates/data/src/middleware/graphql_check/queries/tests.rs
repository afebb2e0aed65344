use super::*;
use crate::graphql::GraphqlApi;
use crate::middleware::graphql_check::CheckRules;
use tollgate_model::api::{GraphqlDefinition, GraphqlRules, GraphqlStatuses};

const SCHEMA: &str = "type Query { me: User user(id: ID): User } type User { id: ID name: String friends: [User] }";

fn checker() -> QueryChecker {
    let definition: GraphqlDefinition = serde_json::from_value(json!({"enabled": true, "schema": SCHEMA})).unwrap();
    let api = GraphqlApi::compile(&definition, &GraphqlRules::default()).unwrap_or_else(|problems| panic!("{problems:?}"));
    let rules = CheckRules {
        batch_max: 10,
        simple_types: false,
        persisted: true,
        websockets: false,
        statuses: GraphqlStatuses::default(),
        is_closed: false,
    };
    QueryChecker { api: Arc::new(api), rules }
}

fn decide(checker: &QueryChecker, body: &str, is_brief: bool) -> Result<PassedQueries, GraphqlOutcome> {
    let (kind, body) = (BodyKind::Json, body.as_bytes());
    checker.decide(&AskedQueries { kind, body, url_query: None, response_type: "application/json", rights: None, is_brief })
}

/// What a data thread makes of a request.
fn here(checker: &QueryChecker, body: &str) -> &'static str {
    match decide(checker, body, true) {
        Ok(_) => "passes",
        Err(GraphqlOutcome::Elsewhere) => "elsewhere",
        Err(GraphqlOutcome::Reply { .. }) => "answered",
        Err(GraphqlOutcome::Refuse(_)) => "refused",
    }
}

fn query(text: &str) -> String {
    json!({ "query": text }).to_string()
}

/// Fields that take more bytes than a data thread checks.
fn long(count: usize) -> String {
    format!("{{ me {{ {} }} }}", (0..count).map(|index| format!("a{index}: name ")).collect::<String>())
}

#[test]
fn what_may_take_long_is_decided_elsewhere() {
    let checker = checker();
    let spreads = |count: usize| format!("{{ me {{ {}}} }} fragment F on User {{ id }}", "...F ".repeat(count));
    let batch = |one: &str| format!("[{},{}]", query(one), query(&one.replace("name", "id")));
    for (body, expected) in [
        (query("{ me { id } }"), "passes"),
        (query("{ nobody }"), "refused"),
        (query(&spreads(8)), "passes"),
        (query(&spreads(9)), "elsewhere"),
        (query(&long(40)), "passes"),
        (query(&long(200)), "elsewhere"),
        // Together they are long.
        (batch(&long(60)), "elsewhere"),
        (query("{ __schema { queryType { name } } }"), "elsewhere"),
        (query("{ __schema { queryType { name } } me { id } }"), "passes"),
    ] {
        assert_eq!(here(&checker, &body), expected, "{body}");
    }
}

#[test]
fn documents_that_are_known_are_decided_here_unless_they_are_very_long() {
    let checker = checker();
    let text = long(450);
    let extensions = json!({"persistedQuery": {"version": 1, "sha256Hash": tollgate_model::hexadecimal(&Sha256::digest(&text))}});
    let sent = json!({"query": text, "extensions": extensions}).to_string();
    assert_eq!(here(&checker, &sent), "elsewhere");
    assert!(decide(&checker, &sent, false).is_ok());
    assert_eq!(here(&checker, &sent), "passes");
    // A few names can stand for many bytes.
    let named = json!({"extensions": extensions}).to_string();
    assert_eq!(here(&checker, &named), "passes");
    assert_eq!(here(&checker, &format!("[{}]", vec![named; 5].join(","))), "elsewhere");
}

#[test]
fn large_variables_are_not_noted() {
    let checker = checker();
    let noted = |bytes: usize| {
        let body = json!({"query": "query($id: ID) { user(id: $id) { id } }", "variables": {"id": "x".repeat(bytes)}}).to_string();
        let facts = decide(&checker, &body, false).ok().and_then(|passed| passed.facts).expect("it passes");
        facts.variables.is_some()
    };
    assert_eq!([noted(1_000), noted(70_000)], [true, false]);
}
