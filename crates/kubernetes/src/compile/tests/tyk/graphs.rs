use super::{Followed, api, definition, expect_members, follow, id};
use serde_json::json;

const SUBGRAPH: &str = "kind: SubGraph\nmetadata: {name: users, namespace: default}\nspec: {schema: 'type Query { me: ID }', sdl: 'type Query { me: ID } # sdl'}";

fn of_graph(name: &str, mode: &str, reference: &str) -> String {
    api(
        name,
        &format!("use_keyless: true, graphql: {{enabled: true, version: '2', execution_mode: {mode}, graph_ref: {reference}}}"),
    )
}

#[test]
fn graphs_are_taken_over() {
    let supergraph = "kind: SuperGraph\nmetadata: {name: all, namespace: default}\nspec: {subgraph_refs: [{name: users, namespace: default}], merged_sdl: M, schema: S}";
    let followed =
        follow(&[SUBGRAPH, supergraph, &of_graph("users-api", "subgraph", "users"), &of_graph("all-api", "supergraph", "all")]);
    expect_members(
        definition(&followed, "users-api"),
        &json!({"/graphql": {
            "enabled": true, "version": "2", "execution_mode": "subgraph",
            "schema": "type Query { me: ID }", "subgraph": {"sdl": "type Query { me: ID } # sdl"},
        }}),
    );
    let of_users = id("default", "users-api");
    expect_members(
        definition(&followed, "all-api"),
        &json!({
            "/graphql/schema": "S",
            "/graphql/supergraph": {
                "subgraphs": [{"api_id": of_users, "name": "users-api", "url": format!("tyk://{of_users}"), "sdl": "type Query { me: ID } # sdl"}],
                "merged_sdl": "M",
            },
            "/graphql/graph_ref": null,
        }),
    );
    assert_eq!(followed.statuses["SubGraph default/users"]["linked_by_api"], json!(of_users));
    assert_eq!(followed.statuses["ApiDefinition default/users-api"]["linked_to_subgraph"], "users");
}

#[test]
fn a_subgraph_has_one_api_and_a_supergraph_all_its_subgraphs() {
    let supergraph =
        "kind: SuperGraph\nmetadata: {name: all, namespace: default}\nspec: {subgraph_refs: [{name: users}, {name: gone}]}";
    let error = |followed: &Followed, name: &str| {
        followed.statuses[&format!("ApiDefinition default/{name}")]["latestTransaction"]["error"].as_str().unwrap().to_owned()
    };
    let at = "spec.graphql.graph_ref";
    let followed = follow(&[SUBGRAPH, supergraph, &of_graph("all-api", "supergraph", "all")]);
    let expected = format!("{at}: the SubGraph default/users of the SuperGraph default/all has no ApiDefinition");
    assert_eq!(error(&followed, "all-api"), expected);
    let both = [of_graph("a", "subgraph", "users"), of_graph("b", "subgraph", "users")];
    let followed = follow(&[SUBGRAPH, &both[0], &both[1], supergraph, &of_graph("all-api", "supergraph", "all")]);
    assert_eq!(error(&followed, "a"), "");
    let expected = format!("{at}: the SubGraph default/users is that of the older ApiDefinition default/a: a subgraph has one API");
    assert_eq!(error(&followed, "b"), expected);
    let expected = format!("{at}: the SuperGraph default/all refers to the SubGraph default/gone, which does not exist");
    assert_eq!(error(&followed, "all-api"), expected);
}
