use super::worded;

#[test]
fn faults_that_tyk_has_words_for_are_said_in_them() {
    for (library, tyk) in [
        ("type `Query` does not have a field `x`", "field: x not defined on type: Query"),
        ("cannot find directive `@a` in this document", "directive: a undefined"),
        ("the required argument `Query.user(id:)` is not provided", "argument: id is required on field: user but missing"),
        ("something that nobody knows", "something that nobody knows"),
        ("an `odd` sentence", "an `odd` sentence"),
        ("", ""),
    ] {
        assert_eq!(worded(library), tyk);
    }
}
