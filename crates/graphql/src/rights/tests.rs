use super::{FieldDepth, GraphqlRights, TypeFields};
use crate::checking::document::tests::{checked, schema};

fn types(written: &[(&str, &[&str])]) -> Vec<TypeFields> {
    let fields = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    written.iter().map(|(name, names)| TypeFields { name: (*name).to_owned(), fields: fields(names) }).collect()
}

fn said(rights: &GraphqlRights, text: &str) -> String {
    let document = checked(text);
    rights.check(document.operation(None).unwrap(), &schema()).err().map(|denial| denial.to_string()).unwrap_or_default()
}

#[test]
fn depth_is_limited_for_queries_and_for_single_fields() {
    const TOO_DEEP: &str = "depth limit exceeded";
    let deep = |depth_max| GraphqlRights { depth_max, ..GraphqlRights::default() };
    let fields = |depth_max, own| GraphqlRights {
        depth_max,
        fields: vec![FieldDepth { type_name: "Query".to_owned(), field_name: "me".to_owned(), depth_max: own }],
        ..GraphqlRights::default()
    };
    let three = "{ me { pet { id } } }";
    for (rights, text, wanted) in [
        (deep(3), three, ""),
        (deep(2), three, TOO_DEEP),
        (deep(0), three, ""),
        (deep(-1), three, ""),
        (deep(1), "{ __typename }", ""),
        (deep(1), "{ __schema { types { fields { type { name } } } } }", ""),
        (fields(-1, 1), three, TOO_DEEP),
        (fields(-1, 2), three, ""),
        (fields(1, -1), three, ""),
        (fields(1, 5), "{ node(id: 1) { id } }", TOO_DEEP),
        (fields(2, 0), "{ node(id: 1) { id } }", ""),
    ] {
        assert_eq!(said(&rights, text), wanted, "{rights:?} {text}");
    }
}

#[test]
fn fields_are_allowed_or_restricted_by_type() {
    let restricted = |written: &[(&str, &[&str])]| GraphqlRights { restricted: types(written), ..GraphqlRights::default() };
    let allowed = |written: &[(&str, &[&str])]| GraphqlRights { allowed: types(written), ..GraphqlRights::default() };
    let email = "field: email is restricted on type: User";
    for (rights, text, wanted) in [
        (restricted(&[("User", &["email"])]), "{ me { id } }", ""),
        (restricted(&[("User", &["email"])]), "{ me { x: email } }", email),
        (restricted(&[("User", &["email"])]), "{ me { pet { owner { ...F } } } } fragment F on User { email }", email),
        (restricted(&[("User", &["*"])]), "{ me { id } }", "all fields of User type are restricted"),
        (restricted(&[("User", &["*"])]), "{ __schema { queryType { name } } }", ""),
        // Through an interface of the type.
        (restricted(&[("User", &["name"])]), "{ node(id: 1) { name } }", "field: name is restricted on type: User"),
        (restricted(&[("User", &["name"])]), "{ node(id: 1) { id } }", ""),
        (allowed(&[("Query", &["me"]), ("User", &["*"])]), "{ me { email __typename } }", ""),
        (allowed(&[("Query", &["me"]), ("User", &["id"])]), "{ me { email } }", email),
        (allowed(&[("Query", &["*"])]), "{ me { id } }", "field: id is restricted on type: User"),
        (allowed(&[("Query", &["me"])]), "{ __type(name: \"User\") { name } }", ""),
        // A query for the schema does not free what stands beside it.
        (
            allowed(&[("Query", &["me"])]),
            "{ __schema { queryType { name } } node(id: 1) { id } }",
            "field: id is restricted on type: Node",
        ),
    ] {
        assert_eq!(said(&rights, text), wanted, "{rights:?} {text}");
    }
}

#[test]
fn the_schema_can_be_closed() {
    let closed = GraphqlRights { disable_introspection: true, ..GraphqlRights::default() };
    assert_eq!(
        said(&closed, "{ me { id } ...F } fragment F on Query { __schema { queryType { name } } }"),
        "introspection is disabled"
    );
    assert_eq!(said(&closed, "{ me { __typename id } }"), "");
}
