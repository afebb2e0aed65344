//! Composes, plans and executes for a program that serves the subgraphs. One JSON value a line, in turn:
//! `{"subgraphs": [{"name", "sdl"}]}` is answered by `{"schema"}`; then each `{"query", "variables"}` by `{"requests": [{"id", "source",
//! "body"}]}` as often as there are any, each of which gets `{"answers": [{"id", "status", "body"}]}`, and by `{"response", "fetches"}` in the
//! end. `{"fault"}` says why there is none.

use std::io::{BufRead, Write};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tollgate_data_graph::{
    DataGraph, Execution, ExecutionContext, ExecutionLimits, GraphSource, OperationPlan, SourceAnswer, SourceDefinition, SourceKind,
};
use tollgate_federation::{SubgraphText, compose};
use tollgate_graphql::{DocumentLimits, GraphqlSchema, SchemaRules};

const LIMITS: ExecutionLimits = ExecutionLimits { requests_max: 10_000, bytes_max: 1 << 28 };
const DOCUMENT: DocumentLimits = DocumentLimits { tokens_max: 100_000, depth_max: 64, fields_max: 100_000, aliases_max: 5_000 };

/// The two ends of a conversation.
pub(crate) struct Conversation<R, W> {
    pub hears: R,
    pub says: W,
}

struct Composed {
    schema: GraphqlSchema,
    graph: Arc<DataGraph>,
}

impl<R: BufRead, W: Write> Conversation<R, W> {
    /// Talks until the other side ends, or says `{"result"}`.
    pub(crate) fn run(&mut self) -> Value {
        let mut composed: Option<Composed> = None;
        while let Some(heard) = self.hear() {
            if let Some(result) = heard.get("result") {
                return result.clone();
            }
            let said = if heard.get("subgraphs").is_some() {
                composed_of(&heard).map(|(found, schema)| {
                    composed = Some(found);
                    json!({"schema": schema})
                })
            } else {
                let composed = composed.as_ref().expect("subgraphs come first");
                self.execute(composed, &heard)
            };
            self.say(&said.unwrap_or_else(|fault| json!({"fault": fault})));
        }
        Value::Null
    }

    fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.hears.read_line(&mut line).expect("a line");
        (read > 0).then(|| serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
    }

    fn say(&mut self, value: &Value) {
        writeln!(self.says, "{value}").and_then(|()| self.says.flush()).expect("the other side listens");
    }

    fn execute(&mut self, composed: &Composed, asked: &Value) -> Result<Value, String> {
        let query = asked["query"].as_str().unwrap_or_default();
        let document = composed.schema.check(query, &DOCUMENT).map_err(|fault| format!("{:?}", fault.errors))?;
        let operation = document.operation(None).map_err(|error| format!("{error:?}"))?;
        let variables =
            composed.schema.variables(operation, asked["variables"].as_object()).map_err(|error| format!("{error:?}"))?;
        let conditions = OperationPlan::conditions(operation).into_iter().map(|name| {
            let value = variables.get(&name).and_then(Value::as_bool).unwrap_or_default();
            (name, value)
        });
        let plan = OperationPlan::new(&composed.graph, &composed.schema, operation, &conditions.collect())
            .map_err(|fault| fault.to_string())?;
        let fetches = plan.fetches();
        let mut execution = Execution::new(composed.graph.clone(), Arc::new(plan), variables, ExecutionContext::default(), LIMITS);
        while !execution.is_done() {
            let requests: Vec<Value> = std::iter::from_fn(|| execution.next_request())
                .map(|request| json!({"id": request.id, "source": request.source, "body": String::from_utf8_lossy(&request.body)}))
                .collect();
            if requests.is_empty() {
                return Err("neither done nor anything to ask".to_owned());
            }
            self.say(&json!({"requests": requests}));
            let heard = self.hear().expect("answers");
            for answer in heard["answers"].as_array().expect("answers") {
                let status = answer["status"].as_u64().and_then(|status| u16::try_from(status).ok()).expect("a status");
                let body = answer["body"].as_str().unwrap_or_default().as_bytes().to_vec();
                execution.answer(answer["id"].as_u64().expect("an id"), Ok(SourceAnswer { status, body }));
            }
        }
        let response: Value = serde_json::from_slice(&execution.response(&Map::new())).map_err(|error| error.to_string())?;
        Ok(json!({"response": response, "fetches": fetches}))
    }
}

fn composed_of(heard: &Value) -> Result<(Composed, String), String> {
    let text = |subgraph: &Value, member: &str| subgraph[member].as_str().unwrap_or_default().to_owned();
    let texts = heard["subgraphs"].as_array().into_iter().flatten();
    let texts: Vec<(String, String)> = texts.map(|subgraph| (text(subgraph, "name"), text(subgraph, "sdl"))).collect();
    let subgraphs: Vec<SubgraphText<'_>> = texts.iter().map(|(name, sdl)| SubgraphText { name, sdl }).collect();
    let told = |findings: Vec<tollgate_federation::CompositionFinding>| {
        findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let supergraph = compose(&subgraphs).map_err(told)?.0;
    let source = |(name, _): &(String, String)| {
        let url = format!("http://{name}/");
        let definition = SourceDefinition { url: &url, ..Default::default() };
        GraphSource::new(name, SourceKind::Graphql, definition).map_err(|fault| format!("{fault:?}"))
    };
    let sources: Result<Vec<GraphSource>, String> = texts.iter().map(source).collect();
    let schema = GraphqlSchema::compile(&supergraph.schema, SchemaRules::default()).map_err(|faults| format!("{faults:?}"))?.0;
    let graph = Arc::new(DataGraph::of_supergraph(sources?, &supergraph, true));
    Ok((Composed { schema, graph }, supergraph.schema))
}
