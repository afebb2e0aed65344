use crate::checking::document::tests::checked;

#[test]
fn depth_is_the_number_of_levels_as_in_tyk() {
    for (text, depth, levels) in [
        ("{ __typename }", 0, 1),
        ("{ me { id } }", 2, 2),
        ("{ me { pet { owner { id } } } }", 4, 4),
        ("{ me { ... on User { ...F } } } fragment F on User { pet { id } }", 3, 3),
    ] {
        let document = checked(text);
        let facts = document.operation(None).unwrap().facts.clone();
        assert_eq!((facts.depth, facts.levels), (depth, levels), "{text}");
    }
}

#[test]
fn fields_are_known_by_the_type_that_they_are_selected_on() {
    let document = checked("{ node(id: 1) { id ... on User { email __typename } ...P } } fragment P on Pet { owner { name } }");
    let facts = document.operation(None).unwrap().facts;
    let used: Vec<String> = facts.used.iter().map(|used| format!("{}.{}", used.type_name, used.field)).collect();
    assert_eq!(used, ["Node.id", "Pet.owner", "Query.node", "User.email", "User.name"]);
    let roots: Vec<_> = facts.roots.iter().map(|root| (root.type_name.as_str(), root.name.as_str(), root.depth)).collect();
    assert_eq!(roots, [("Query", "node", 2)]);
}

#[test]
fn queries_for_the_schema_are_found_wherever_they_hide() {
    for (text, introspects, only) in [
        ("{ __schema { queryType { name } } }", true, true),
        ("{ __typename __type(name: \"User\") { name } }", true, true),
        ("{ __typename }", false, false),
        ("{ ...F } fragment F on Query { __schema { queryType { name } } }", true, true),
        ("{ ... on Query { x: __schema { queryType { name } } } me { id } }", true, false),
        ("{ me { __typename } }", false, false),
    ] {
        let document = checked(text);
        let facts = document.operation(None).unwrap().facts;
        assert_eq!((facts.introspects, facts.only_introspects), (introspects, only), "{text}");
    }
}
