use super::{GraphqlSchema, SchemaRules};

const PLAIN: SchemaRules = SchemaRules { is_subgraph: false };

fn faults(text: &str) -> Vec<String> {
    GraphqlSchema::compile(text, PLAIN).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

#[test]
fn every_fault_is_told_with_its_place() {
    for (text, wanted) in [
        ("", "is empty"),
        ("  \n", "is empty"),
        ("type Query { a: Strin }", "line 1, column 17: cannot find type `Strin` in this document"),
        ("type Query {\n  a: Int\n  b: Missing\n}", "line 3, column 6: cannot find type `Missing` in this document"),
        ("type Other { a: Int }", "missing query root operation type in schema definition"),
        ("type Query { a: Int", "line 1, column 20: syntax error: expected R_CURLY, got EOF"),
        ("type Query { a: Int } { a }", "must not contain"),
        ("type Query { a: Int } type Query { b: Int }", "the type `Query` is defined multiple times in the schema"),
        ("interface I { x: Int } type Query implements I { a: Int }", "does not satisfy interface `I`"),
        ("input A { b: B! } input B { a: A! } type Query { f(a: A): Int }", "cannot reference itself"),
    ] {
        let found = faults(text);
        assert!(found.iter().any(|fault| fault.contains(wanted)), "{text:?}: {found:?}");
    }
}

#[test]
fn several_faults_are_told_together() {
    assert_eq!(faults("type Query { a: A\n b: B }").len(), 2);
}

#[test]
fn directives_that_nobody_declared_are_only_noted() {
    let (schema, notes) = GraphqlSchema::compile("type Query @shareable { a: Int @cost(weight: 5) }", PLAIN).unwrap();
    assert_eq!(notes.iter().map(ToString::to_string).collect::<Vec<_>>().len(), 2, "{notes:?}");
    assert!(notes[0].message.contains("@shareable"), "{notes:?}");
    assert!(schema.types() > 5);
    assert!(faults("type Query @shareable { a: Nothing }").iter().all(|fault| !fault.contains("@shareable")));
}

#[test]
fn a_subgraph_has_what_routers_ask_every_subgraph_for() {
    let rules = SchemaRules { is_subgraph: true };
    let text = "type User @key(fields: \"id\") { id: ID! } extend type Query { me: User }";
    let (schema, _) = GraphqlSchema::compile(text, rules).unwrap();
    let limits = crate::checking::document::tests::LIMITS;
    let document = "query($r: [_Any!]!) { _entities(representations: $r) { ... on User { id } } _service { sdl } }";
    assert_eq!(schema.check(document, &limits).err(), None);
    let (declared, _) =
        GraphqlSchema::compile("scalar _Any type _Service { sdl: String } type Query { _service: _Service! }", rules).unwrap();
    assert_eq!(declared.check("{ _service { sdl } }", &limits).err(), None);
    let (none, _) = GraphqlSchema::compile("type Query { a: Int }", rules).unwrap();
    assert!(none.check("{ _entities(representations: []) { __typename } }", &limits).is_err());
}
