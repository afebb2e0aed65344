use super::*;
use crate::{GraphSource, SourceDefinition};
use std::fmt::Write;
use tollgate_federation::{SubgraphText, compose};
use tollgate_graphql::{DocumentLimits, SchemaRules};

const DOCUMENT: DocumentLimits =
    DocumentLimits { tokens_max: 1_000_000, depth_max: 64, fields_max: 1_000_000, aliases_max: 100_000 };

/// Plans a query over subgraphs; the second number is the counted work.
fn planned(texts: &[String], query: &str) -> (Result<(), PlanFault>, usize) {
    let names: Vec<String> = (0..texts.len()).map(|index| format!("s{index}")).collect();
    let subgraphs: Vec<SubgraphText<'_>> = names.iter().zip(texts).map(|(name, sdl)| SubgraphText { name, sdl }).collect();
    let supergraph = compose(&subgraphs).unwrap_or_else(|findings| panic!("{findings:?}")).0;
    let source = |name: &String| {
        let definition = SourceDefinition { url: "http://s/", ..Default::default() };
        GraphSource::new(name, SourceKind::Graphql, definition).unwrap_or_else(|fault| panic!("{fault:?}"))
    };
    let graph = DataGraph::of_supergraph(names.iter().map(source).collect(), &supergraph, true);
    let schema = GraphqlSchema::compile(&supergraph.schema, SchemaRules::default()).unwrap_or_else(|faults| panic!("{faults:?}")).0;
    let document = schema.check(query, &DOCUMENT).unwrap_or_else(|fault| panic!("{:?}", fault.errors));
    let operation = document.operation(None).unwrap_or_else(|error| panic!("{error:?}"));
    let conditions = HashMap::new();
    let mut planner = Planner::new(&graph, &schema, operation, &conditions);
    let planned = planner.root().map(drop);
    assert!(planner.fetches.len() <= FETCHES_MAX);
    (planned, planner.fields)
}

/// A query so many levels deep.
fn nested(levels: usize, level: &str, innermost: &str) -> String {
    (0..levels).fold(innermost.to_owned(), |inner, _| level.replace('*', &inner))
}

/// An interface with many implementations.
fn many(count: usize, field: &str) -> String {
    let mut sdl = format!("type Query {{ n: N }} interface N {{ id: ID! {field} }}");
    for index in 0..count {
        let _ = write!(sdl, " type T{index} implements N @key(fields: \"id\") {{ id: ID! {field} own{index}: Int }}");
    }
    sdl
}

#[test]
fn many_implementations_are_refused_or_cheap() {
    let sdl = [many(300, "n: N a: Int")];
    let (cheap, work) = planned(&sdl, &format!("{{ n {} }}", nested(10, "{ a n * }", "{ id }")));
    assert_eq!(cheap, Ok(()));
    assert!(work < 1_000, "{work}");
    let one = "{ a ... on T1 { own1 } n * }";
    let (refused, work) = planned(&sdl, &format!("{{ n {} }}", nested(10, one, "{ id }")));
    assert_eq!(refused, Err(PlanFault::TooLarge));
    assert!(work < FIELDS_MAX + 1_000, "{work}");
}

#[test]
fn subgraphs_that_all_have_a_field_are_not_tried_without_end() {
    // Each object is in all of them, and none has a way to all fields alone.
    let subgraph = |index: usize| {
        format!(
            "extend schema @link(url: \"https://specs.apollo.dev/federation/v2.3\", import: [\"@key\", \"@shareable\"])
             type Query {{ root: V @shareable }} type V @shareable {{ v: V w: V }} extend type V {{ own{index}: Int }}"
        )
    };
    let texts: Vec<String> = (0..10).map(subgraph).collect();
    let own: String = (0..10).map(|index| format!("own{index} ")).collect();
    let query = format!("{{ root {} }}", nested(4, &format!("{{ {own} v * w * }}"), "{ own9 }"));
    let (planned, work) = planned(&texts, &query);
    assert!(planned == Ok(()) || planned == Err(PlanFault::TooLarge), "{planned:?}");
    assert!(work < FIELDS_MAX + 1_000, "{work}");
}
