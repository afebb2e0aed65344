//! What subgraphs provide below an interface: the server of each test refuses a field that its subgraph does not have at that place.

use super::{federated, run};
use apollo_compiler::ast::{Definition, Document, Selection};
use serde_json::{Map, Value, json};
use tollgate_federation::SubgraphText;

/// A catalogue that knows the tracks of albums, a front that knows them where it features an album, and a store that knows everything of tracks.
const MUSIC: [(&str, &str); 3] = [
    (
        "catalog",
        "type Query { featured: Item @shareable album: Album @provides(fields: \"tracks { ... on Song { title } }\") }
         interface Item { id: ID! } interface Track { id: ID! }
         type Album implements Item @key(fields: \"id\") { id: ID! tracks: [Track] @shareable }
         type Song implements Track @key(fields: \"id\") { id: ID! @external title: String @external }
         type Tape implements Track @key(fields: \"id\") { id: ID! @external }",
    ),
    (
        "front",
        "type Query { featured: Item @shareable @provides(fields: \"tracks { id title }\") }
         interface Item { id: ID! tracks: [Track] } interface Track { id: ID! title: String }
         type Album implements Item { id: ID! @shareable tracks: [Track] @external }
         type Song implements Track { id: ID! @external title: String @external }
         type Tape implements Track { id: ID! @external title: String @external }",
    ),
    (
        "store",
        "interface Item { id: ID! tracks: [Track] } interface Track { id: ID! title: String }
         type Album implements Item @key(fields: \"id\") { id: ID! tracks: [Track] @shareable }
         type Song implements Track @key(fields: \"id\") { id: ID! title: String @shareable minutes: Int }
         type Tape implements Track @key(fields: \"id\") { id: ID! title: String @shareable minutes: Int }",
    ),
];

/// What a server makes of selections on an object. It has the fields that `has` knows, by the types and names on the way to them.
fn selected(selections: &[Selection], object: &Value, way: &str, has: &dyn Fn(&str) -> bool) -> Value {
    let mut members = Map::new();
    for selection in selections {
        match selection {
            Selection::Field(field) if field.name == "__typename" => {
                members.insert(field.response_name().to_string(), object["__typename"].clone());
            }
            Selection::Field(field) => {
                let way = format!("{way}{}.{}", object["__typename"].as_str().unwrap_or("Query"), field.name);
                assert!(has(&way), "the server does not have {way}");
                let of = |value: &Value| match value {
                    Value::Object(_) => selected(&field.selection_set, value, &format!("{way} "), has),
                    value => value.clone(),
                };
                let value = &object[field.name.as_str()];
                let value = value.as_array().map_or_else(|| of(value), |items| items.iter().map(of).collect());
                members.insert(field.response_name().to_string(), value);
            }
            Selection::InlineFragment(fragment) => {
                let on = fragment.type_condition.as_ref().map_or("", |on| on.as_str());
                if ["", "Item", "Track"].contains(&on) || object["__typename"] == on {
                    let more = selected(&fragment.selection_set, object, way, has);
                    members.extend(more.as_object().cloned().unwrap_or_default());
                }
            }
            Selection::FragmentSpread(_) => panic!("plans have no named fragments"),
        }
    }
    Value::Object(members)
}

#[test]
fn a_subgraph_is_asked_only_for_what_it_has_or_provides_below_an_interface() {
    let link = "extend schema @link(url: \"https://specs.apollo.dev/federation/v2.3\", \
        import: [\"@key\", \"@shareable\", \"@external\", \"@provides\"]) ";
    let texts = MUSIC.map(|(name, sdl)| (name, format!("{link}{sdl}")));
    let subgraphs: Vec<SubgraphText<'_>> = texts.iter().map(|(name, sdl)| SubgraphText { name, sdl }).collect();
    let test = federated(&subgraphs);
    let song = json!({"__typename": "Song", "id": "s", "title": "A song", "minutes": 3});
    let tape = json!({"__typename": "Tape", "id": "t", "title": "A tape", "minutes": 60});
    let album = json!({"__typename": "Album", "id": "a", "tracks": [song, tape]});
    let answer = |line: &str| {
        let (server, body) = line.strip_prefix("POST http://").unwrap().split_once("/ ").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        let document = Document::parse(body["query"].as_str().unwrap(), "query").unwrap();
        let Some(Definition::OperationDefinition(operation)) = document.definitions.first() else { panic!("{line}") };
        let (known, named) = ([&album, &song, &tape], &body["variables"]["representations"]);
        let entity = |named: &Value| known.iter().copied().find(|known| known["id"] == named["id"]).cloned().unwrap_or_default();
        let entities: Vec<Value> = named.as_array().into_iter().flatten().map(entity).collect();
        let root = json!({"featured": album, "album": album, "_entities": entities});
        let has = |way: &str| match server {
            "catalog" => [
                "Query.featured",
                "Query.featured Album.id",
                "Query.featured Album.tracks",
                "Query.featured Album.tracks Song.id",
                "Query.featured Album.tracks Tape.id",
                "Query.album",
                "Query.album Album.id",
                "Query.album Album.tracks",
                "Query.album Album.tracks Song.id",
                "Query.album Album.tracks Song.title",
                "Query.album Album.tracks Tape.id",
                "Query._entities",
                "Query._entities Album.id",
                "Query._entities Album.tracks Song.id",
                "Query._entities Album.tracks Tape.id",
                "Query._entities Album.tracks",
            ]
            .contains(&way),
            "front" => way.starts_with("Query.featured") && !way.ends_with("minutes"),
            _ => way.starts_with("Query._entities"),
        };
        (200, json!({"data": selected(&operation.selection_set, &root, "", &has)}))
    };
    let both = |member: &str| json!([{member: song[member]}, {member: tape[member]}]);
    let named = json!([{"id": "s", "title": "A song"}, {"id": "t", "title": "A tape"}]);
    let cases = [
        ("{ featured { id tracks { id title } } }", json!({"featured": {"id": "a", "tracks": named}})),
        (
            "{ featured { tracks { id title ... on Tape { minutes } } } }",
            json!({"featured": {"tracks": [named[0], {"id": "t", "title": "A tape", "minutes": 60}]}}),
        ),
        ("{ featured { ... on Album { tracks { title } } } }", json!({"featured": {"tracks": both("title")}})),
        ("{ featured { id } }", json!({"featured": {"id": "a"}})),
        ("{ album { tracks { id title } } }", json!({"album": {"tracks": named}})),
        ("{ album { tracks { ... on Song { title } } } }", json!({"album": {"tracks": [{"title": "A song"}, {}]}})),
        (
            "{ album { tracks { ... on Song { minutes title } ... on Tape { title } } } }",
            json!({"album": {"tracks": [{"minutes": 3, "title": "A song"}, {"title": "A tape"}]}}),
        ),
        (
            "{ featured { tracks { id } } album { tracks { title } } }",
            json!({"featured": {"tracks": both("id")}, "album": {"tracks": both("title")}}),
        ),
    ];
    for (query, data) in cases {
        let (response, log) = run(&test, query, json!({}), &answer);
        assert_eq!(response, json!({"data": data}), "{query}: {log:#?}");
    }
}
