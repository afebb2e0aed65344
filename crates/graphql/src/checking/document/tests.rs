use super::{CheckedDocument, DocumentFault, DocumentFaultKind, DocumentLimits};
use crate::checking::schema::GraphqlSchema;
use crate::fault::SchemaRules;

pub(crate) const LIMITS: DocumentLimits = DocumentLimits { tokens_max: 2_000, depth_max: 20, fields_max: 1_000, aliases_max: 50 };

pub(crate) const SCHEMA: &str = "
type Query { me: User, user(id: ID!, where: Filter): User, node(id: ID!): Node, list(size: Size = SMALL, ids: [Int!]): [User!]! }
type Mutation { rename(id: ID!, name: String!): User }
type Subscription { renamed: User }
interface Node { id: ID! name: String }
type User implements Node { id: ID! name: String email: String friends: [User!]! pet: Pet }
type Pet implements Node { id: ID! name: String owner: User }
input Filter { name: String!, ages: [Int], size: Size }
enum Size { SMALL LARGE }
scalar Date
";

pub(crate) fn schema() -> GraphqlSchema {
    GraphqlSchema::compile(SCHEMA, SchemaRules::default()).unwrap().0
}

pub(crate) fn checked(text: &str) -> CheckedDocument {
    schema().check(text, &LIMITS).unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
}

fn refused(text: &str) -> DocumentFault {
    schema().check(text, &LIMITS).err().unwrap_or_else(|| panic!("{text} is accepted"))
}

#[test]
fn what_does_not_fit_the_schema_is_refused_in_tyks_words() {
    for (text, message, place) in [
        ("", "document doesn't contain any executable operation", None),
        ("# only a comment\n", "document doesn't contain any executable operation", None),
        ("fragment F on User { id }", "document doesn't contain any executable operation", None),
        ("{ nobody }", "field: nobody not defined on type: Query", Some((1, 3))),
        ("{\n  me {\n    age\n  }\n}", "field: age not defined on type: User", Some((3, 5))),
        ("{ me { ...F } }", "fragment: F undefined", Some((1, 8))),
        ("{ me { id } } fragment F on User { id }", "fragment: F defined but not used", Some((1, 15))),
        ("{ me { ...F } } fragment F on User { friends { ...F } }", "fragment spread: F forms fragment cycle", Some((1, 17))),
        ("query A { me { id } } query A { me { id } }", "operation name must be unique: A", Some((1, 29))),
        ("{ me { id } } { me { id } }", "anonymous operation name the only operation", None),
        ("{ user { id } }", "argument: id is required on field: user but missing", None),
        ("{ me(x: 1) { id } }", "Unknown argument \"x\" on field \"Query.me\".", None),
        ("{ me { id @nothing } }", "directive: nothing undefined", None),
        ("query($x: Nothing) { me { id } }", "Unknown type \"Nothing\".", None),
        ("{ me }", "interface, union and object types must have a subselection set", None),
        ("{ me { id }", "syntax error", None),
        ("query($x: ID!) { me { id } }", "unused variable: `$x`", None),
        ("{ a: me { id } a: user(id: 1) { id } }", "cannot select different fields into the same alias `a`", None),
        ("type Query { a: Int }", "document doesn't contain any executable operation", None),
    ] {
        let fault = refused(text);
        assert_eq!(fault.kind, DocumentFaultKind::Invalid, "{text}");
        let error = fault.errors.iter().find(|error| error.message.contains(message));
        let error = error.unwrap_or_else(|| panic!("{text}: {:?}", fault.errors));
        if let Some((line, column)) = place {
            assert_eq!(error.locations.first().map(|at| (at.line, at.column)), Some((line, column)), "{text}");
        }
    }
}

#[test]
fn what_asks_for_too_much_is_refused() {
    let deep = |levels: usize| format!("{{ me {} id {} }}", "{ friends ".repeat(levels) + "{", "}".repeat(levels + 1));
    let chain: String = (0..400).map(|n| format!("fragment F{n} on User {{ ...F{} }}\n", n + 1)).collect();
    let bomb: String = (0..30)
        .map(|n| format!("fragment F{n} on User {{ a: friends {{ ...F{m} }} b: friends {{ ...F{m} }} }}\n", m = n + 1))
        .collect();
    for (text, message) in [
        (deep(25), "levels of fields; at most 20 are allowed".to_owned()),
        (deep(300), "nests too deeply".to_owned()),
        (format!("{{ me {{ {} }} }}", "id ".repeat(3_000)), "more than 2000 tokens".to_owned()),
        (
            format!("{{ me {{ {} }} }}", (0..60).map(|n| format!("a{n}: id ")).collect::<String>()),
            "60 aliases; at most 50".to_owned(),
        ),
        (format!("{{ me {{ ...F0 }} }}\n{bomb}fragment F30 on User {{ id }}"), "levels of fields".to_owned()),
        (format!("{{ me {{ id {} }} }}", "@include(if: true) ".repeat(500)), "tokens".to_owned()),
        (format!("{{ list(ids: [{}]) {{ id }} }}", "1 ".repeat(5_000)), "tokens".to_owned()),
        (format!("{{ list(ids: {}1{}) {{ id }} }}", "[".repeat(400), "]".repeat(400)), "nests too deeply".to_owned()),
        (format!("{{ me {{ ...F0 }} }}\n{chain}fragment F400 on User {{ id }}"), String::new()),
    ] {
        let fault = refused(&text);
        assert_eq!(fault.kind, DocumentFaultKind::Limit, "{:.60} {:?}", text, fault.errors);
        assert!(fault.errors[0].message.contains(&message), "{:.60}: {:?}", text, fault.errors);
    }
}

#[test]
fn fragments_count_as_often_as_they_are_spread_and_are_measured_once() {
    let bomb: String = (0..12).map(|n| format!("fragment F{n} on User {{ ...F{m} ...F{m} ...F{m} }}\n", m = n + 1)).collect();
    let fault = refused(&format!("{{ me {{ ...F0 }} }}\n{bomb}fragment F12 on User {{ id }}"));
    assert_eq!(fault.kind, DocumentFaultKind::Limit);
    assert!(fault.errors[0].message.starts_with("the query has 531442 fields"), "{:?}", fault.errors);
}

#[test]
fn the_operation_is_the_one_that_the_request_names() {
    let two = checked("query A { me { id } } mutation B { rename(id: 1, name: \"n\") { id } }");
    assert_eq!(two.operation(Some("B")).unwrap().facts.kind, crate::OperationKind::Mutation);
    assert_eq!(two.operation(None).err().unwrap().message, "operation name is required when providing multiple operations");
    assert_eq!(two.operation(Some("")).err().unwrap().message, "operation name is required when providing multiple operations");
    assert_eq!(two.operation(Some("C")).err().unwrap().message, "cannot find an operation with name: C");
    assert!(checked("{ me { id } }").operation(Some("A")).is_err());
    assert!(checked("query A { me { id } }").operation(None).is_ok());
}

#[test]
fn whatever_clients_send_is_judged_without_a_panic() {
    let seeds = [
        "query A($id: ID! = 1, $f: Filter) @include(if: true) { x: user(id: $id, where: $f) { ...F friends { id } } } fragment F on User { pet { id } }",
        "mutation { rename(id: \"\\u{1F600}\\n\", name: \"\"\"a \"b\" \"\"\") { ... on User @skip(if: false) { id } __typename } }",
        "subscription S { renamed { id } } # end",
        "{ list(ids: [1, -2], size: LARGE) { name } node(id: 3.5e2) { ... on Pet { owner { name } } } __schema { types { name } } }",
    ];
    let schema = schema();
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut valid = 0;
    for round in 0..3_000 {
        let mut bytes = seeds[round % seeds.len()].as_bytes().to_vec();
        for _ in 0..random(4) {
            let at = random(bytes.len());
            match random(4) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] = b"{}()[]:!$@.\"\\#,| 0aX\n\xff"[random(22)],
                2 => bytes.extend_from_within(at..),
                _ => drop(bytes.remove(at.min(bytes.len() - 1))),
            }
            if bytes.is_empty() {
                bytes.push(b'{');
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        match schema.check(&text, &LIMITS) {
            Err(fault) => assert!(!fault.errors.is_empty() && fault.errors.len() <= super::ERRORS_MAX, "{text}"),
            Ok(document) => {
                valid += 1;
                if let Ok(operation) = document.operation(None) {
                    assert!(operation.facts.levels <= LIMITS.depth_max && operation.facts.fields <= LIMITS.fields_max, "{text}");
                    let _ = operation.check_variables(&schema, None);
                }
            }
        }
        let body = serde_json::json!({ "query": text }).to_string();
        assert_eq!(crate::parse_body(body.as_bytes(), 1).unwrap().0[0].query, text);
        let _ = crate::parse_body(&bytes, 3);
    }
    assert!(valid > 300, "{valid}");
}
