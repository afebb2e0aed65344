//! Compositions whose result is written out. The cases in `tests/cases` hold the rest.

use super::*;

/// The start of a subgraph of Federation 2.
const LINK: &str = r#"extend schema @link(url: "https://specs.apollo.dev/federation/v2.5", import: ["@key", "@external", "@requires", "@provides", "@shareable", "@inaccessible", "@override", "@interfaceObject", "@tag", "@extends"])"#;

fn composed(subgraphs: &[(&str, &str)]) -> Result<(Supergraph, Vec<CompositionFinding>), Vec<CompositionFinding>> {
    let texts: Vec<SubgraphText<'_>> = subgraphs.iter().map(|(name, sdl)| SubgraphText { name, sdl }).collect();
    compose(&texts)
}

fn valid(subgraphs: &[(&str, &str)]) -> Supergraph {
    composed(subgraphs).unwrap_or_else(|findings| panic!("{findings:#?}")).0
}

fn errors(subgraphs: &[(&str, &str)]) -> Vec<String> {
    composed(subgraphs)
        .map(|(supergraph, _)| supergraph.schema)
        .expect_err("must not compose")
        .iter()
        .map(ToString::to_string)
        .collect()
}

const USERS: (&str, &str) = ("users", "type Query { me: User } type User @key(fields: \"id\") { id: ID! name: String }");
const REVIEWS: (&str, &str) = (
    "reviews",
    "extend type User @key(fields: \"id\") { id: ID! @external reviews: [Review!] } type Review { body: String author: User @provides(fields: \"name\") } \
     extend type User { name: String @external }",
);

#[test]
fn an_extended_entity_of_federation_1_has_the_fields_of_both() {
    let supergraph = valid(&[USERS, REVIEWS]);
    assert_eq!(
        supergraph.schema,
        "type Query {\n  me: User\n}\n\ntype User {\n  id: ID!\n  name: String\n  reviews: [Review!]\n}\n\ntype Review {\n  body: String\n  author: User\n}\n"
    );
    let user = &supergraph.subgraphs[1].types["User"];
    assert_eq!(user.keys, [EntityKey { fields: "id".to_owned(), resolvable: true }]);
    assert!(!user.fields["id"].is_external, "a key field of an extension is resolved there");
    assert!(user.fields["name"].is_external);
    let review = &supergraph.subgraphs[1].types["Review"];
    assert_eq!(review.fields["author"].provides.as_deref(), Some("name"));
    assert!(review.keys.is_empty());
}

#[test]
fn root_types_have_their_usual_names() {
    let supergraph =
        valid(&[("a", "schema { query: Root mutation: Changes } type Root { a: Int again: Root } type Changes { b: Int }")]);
    assert_eq!(supergraph.schema, "type Query {\n  a: Int\n  again: Query\n}\n\ntype Mutation {\n  b: Int\n}\n");
    assert_eq!(supergraph.subgraphs[0].types["Query"].own_name.as_deref(), Some("Root"));
}

#[test]
fn errors_name_subgraph_line_and_column() {
    let found = errors(&[("a", "type Query {\n  a: Nothing\n}"), ("b", "type Query { b: Int }")]);
    assert_eq!(found, ["subgraph `a`, line 2, column 6: cannot find type `Nothing` in this document"]);
    let found = errors(&[("a", "type Query {\n  a: Int }\n type T @key(fields: \"x\") { id: ID }")]);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("subgraph `a`, line 3, column 9: @key of `T`: `x`: "), "{found:#?}");
}

#[test]
fn an_overridden_field_belongs_to_the_other_subgraph() {
    let a = format!("{LINK} type Query {{ t: T }} type T @key(fields: \"id\") {{ id: ID! x: Int }}");
    let b = format!("{LINK} type T @key(fields: \"id\") {{ id: ID! x: Int @override(from: \"a\") }}");
    let supergraph = valid(&[("a", &a), ("b", &b)]);
    assert!(supergraph.subgraphs[0].types["T"].fields["x"].is_overridden);
    assert!(!supergraph.subgraphs[1].types["T"].fields["x"].is_overridden);
}

#[test]
fn interface_objects_add_fields_to_all_implementations() {
    let a = format!(
        "{LINK} type Query {{ media: [Media] }} interface Media @key(fields: \"id\") {{ id: ID! }} type Book implements Media @key(fields: \"id\") {{ id: ID! pages: Int }}"
    );
    let b = format!("{LINK} type Media @interfaceObject @key(fields: \"id\") {{ id: ID! stars: Int @shareable }}");
    let supergraph = valid(&[("a", &a), ("b", &b)]);
    assert!(
        supergraph.schema.contains("type Book implements Media {\n  id: ID!\n  pages: Int\n  stars: Int\n}"),
        "{}",
        supergraph.schema
    );
    assert!(supergraph.subgraphs[1].types["Media"].is_interface_object);
    assert_eq!(supergraph.subgraphs[0].types["Media"].possible_types, ["Book"]);
}

#[test]
fn inaccessible_elements_are_in_subgraphs_and_not_in_the_schema() {
    let a = format!(
        "{LINK} type Query {{ t: T secret: Secret @inaccessible }} type Secret @inaccessible {{ a: Int }} type T @key(fields: \"id\") {{ id: ID! @inaccessible x(a: Int @inaccessible): Int }}"
    );
    let supergraph = valid(&[("a", &a)]);
    assert_eq!(supergraph.schema, "type Query {\n  t: T\n}\n\ntype T {\n  x: Int\n}\n");
    assert!(supergraph.subgraphs[0].types["T"].fields.contains_key("id"));
}

#[test]
fn names_of_imports_are_the_subgraphs_own() {
    let a = r#"extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", as: "fed", import: [{name: "@key", as: "@primary"}, "FieldSet"])
        scalar FieldSet
        directive @fed__shareable on OBJECT | FIELD_DEFINITION
        type Query { t: T } type T @primary(fields: "id") { id: ID! x: Int @fed__shareable }"#;
    let b = r#"extend schema @link(url: "https://specs.apollo.dev/federation/v2.0") type T @federation__key(fields: "id") { id: ID! x: Int @federation__shareable }"#;
    let supergraph = valid(&[("a", a), ("b", b)]);
    assert_eq!(supergraph.schema, "type Query {\n  t: T\n}\n\ntype T {\n  id: ID!\n  x: Int\n}\n");
    assert_eq!(supergraph.subgraphs[0].types["T"].keys.len(), 1);
}

#[test]
fn what_subgraphs_declare_of_federation_is_tolerated() {
    let declared = "scalar _Any scalar _FieldSet union _Entity = User type _Service { sdl: String } \
        directive @key(fields: _FieldSet!) repeatable on OBJECT | INTERFACE directive @external on FIELD_DEFINITION directive @extends on OBJECT \
        type Query { _service: _Service! _entities(representations: [_Any!]!): [_Entity]! me: User } \
        type User @key(fields: \"id\") { id: ID! name: String }";
    let supergraph = valid(&[("a", declared), REVIEWS]);
    assert!(!supergraph.schema.contains('_'), "{}", supergraph.schema);
    let only_entities = "extend type User @key(fields: \"id\") { id: ID! @external age: Int } type Query { _service: _Service! } type _Service { sdl: String }";
    assert!(valid(&[("a", declared), ("b", only_entities)]).schema.contains("age: Int"));
}

#[test]
fn nesting_without_bounds_is_an_error() {
    let deep = format!("type Query {{ a: {}Int{} }}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(!errors(&[("a", &deep)]).is_empty());
    let key = format!("type Query {{ t: T }} type T @key(fields: \"{}\") {{ id: ID! t: T }}", "t { ".repeat(5_000));
    assert!(!errors(&[("a", &key)]).is_empty());
}

/// The work of the search is limited: without its shortcuts, each of these would take longer than anyone waits.
#[test]
fn hostile_schemas_are_searched_in_few_steps() {
    let nested = format!("{}id{}", "t { ".repeat(20), " }".repeat(20));
    let entity =
        |at: usize| format!("{LINK} type Query {{ t{at}: T }} type T @key(fields: \"{nested}\") {{ id: ID! t: T! x{at}: Int }}");
    let texts: Vec<(String, String)> = (0..12).map(|at| (format!("s{at}"), entity(at))).collect();
    let all =
        |texts: &[(String, String)]| composed(&texts.iter().map(|(name, sdl)| (name.as_str(), sdl.as_str())).collect::<Vec<_>>());
    assert!(all(&texts).is_ok());
    // Each field is in all subgraphs but one: there are as many sets of ways as there are sets of subgraphs.
    let fields =
        |at: usize| (0..24).filter(|field| *field != at).map(|field| format!("f{field}: T @shareable ")).collect::<String>();
    let shared = |at: usize| format!("{LINK} type Query {{ t: T @shareable }} type T {{ {} v: Int @shareable }}", fields(at));
    let texts: Vec<(String, String)> = (0..24).map(|at| (format!("s{at}"), shared(at))).collect();
    assert!(all(&texts).is_ok());
    let root = |at: usize| if at == 0 { "type Query { t: T }" } else { "" };
    let link = |at: usize| {
        format!(
            "{LINK} {} type T @key(fields: \"k{at}\") @key(fields: \"k{}\") {{ k{at}: ID! k{}: ID! }}",
            root(at),
            at + 1,
            at + 1
        )
    };
    let texts: Vec<(String, String)> = (0..100).rev().map(|at| (format!("s{at}"), link(at))).collect();
    assert!(all(&texts).is_ok());
    let wide = format!("type Query {{ t: T }} type T @key(fields: \"{}\") {{ id: ID! }}", "id ".repeat(2_000));
    assert!(errors(&[("a", &wide)])[0].contains("at most 1000 are taken"));
}
