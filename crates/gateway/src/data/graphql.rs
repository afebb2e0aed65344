//! What GraphQL requests to an API are checked against and executed with, and the threads that check long documents: a document of a few
//! hundred lines takes milliseconds, in which a data thread serves hundreds of other requests.

mod graph;
mod kafka;
mod run;
mod server;
mod socket_inspector;
mod socket_rights;
mod sockets;
mod sources;
mod subscriptions;
mod terms;

pub(crate) use graph::ExecutedGraph;
pub(crate) use run::{TOLD_HEADER, ToldFacts};
pub(crate) use server::{GraphClient, GraphServer};
pub(crate) use socket_inspector::SocketInspector;
pub(crate) use socket_rights::SocketRights;
pub(crate) use terms::GraphTerms;

use crate::base::started_once::ThreadGroup;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;
use tollgate_engine::{Completer, Pending};
use tollgate_graphql::{DocumentCache, DocumentLimits, GraphqlSchema, KnownDocument, SchemaFault, SchemaRules};
use tollgate_model::api::{GraphqlDefinition, GraphqlRules};

/// Most requests that wait for a thread: with two threads and the longest documents, the last of them waits about a second.
const WAITING_MAX: usize = 256;
/// Stack of a thread that checks documents: the parser and the rules are recursive, up to 200 levels and 500 fragments.
const STACK_BYTES: usize = 8 << 20;
/// How long a request waits for its documents to be checked.
pub(crate) const CHECK_TIME_MAX: Duration = Duration::from_secs(5);

/// The schema of an API, its limits, and the documents that were checked.
pub(crate) struct GraphqlApi {
    pub schema: GraphqlSchema,
    pub limits: DocumentLimits,
    pub documents: DocumentCache,
    /// What executes the queries, if the gateway does.
    pub executed: Option<ExecutedGraph>,
    /// Notes about the definition, for whoever loads it.
    pub notes: Vec<GraphqlProblem>,
}

/// What is wrong with a definition, or worth a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GraphqlProblem {
    /// Its place in the definition.
    pub path: String,
    pub message: String,
}

impl GraphqlProblem {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        GraphqlProblem { path: path.into(), message: message.into() }
    }
}

/// What a [`GraphqlApi`] is made of, as a digest.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct GraphqlSource([u8; 32]);

impl GraphqlSource {
    pub(crate) fn new(graphql: &GraphqlDefinition, rules: &GraphqlRules) -> Self {
        GraphqlSource(*blake3::hash(format!("{graphql:?} {rules:?}").as_bytes()).as_bytes())
    }
}

impl GraphqlApi {
    /// Compiles a definition; `Err` is what is wrong with it.
    pub(crate) fn compile(graphql: &GraphqlDefinition, rules: &GraphqlRules) -> Result<Self, Vec<GraphqlProblem>> {
        let limits = limits_of(rules);
        let source = graph::schema_source(graphql)?;
        let schema_rules = SchemaRules { is_subgraph: graphql.is_subgraph() };
        let at = |fault: &SchemaFault| GraphqlProblem::new(source.path, fault.to_string());
        let compiled = GraphqlSchema::compile(&source.text, schema_rules);
        let (schema, faults) = compiled.map_err(|faults| faults.iter().map(at).collect::<Vec<_>>())?;
        let no_effect =
            |fault: &SchemaFault| GraphqlProblem::new(source.path, format!("{fault}: the directive has no effect here"));
        let mut notes: Vec<GraphqlProblem> = source.notes.iter().cloned().chain(faults.iter().map(no_effect)).collect();
        let executed = match graphql.is_executed() {
            true => Some(ExecutedGraph::compile(graphql, rules, &schema, source.supergraph.as_ref(), &mut notes)?),
            false => None,
        };
        Ok(GraphqlApi { schema, limits, documents: DocumentCache::default(), executed, notes })
    }

    /// What is known about a document; it is checked if nothing is.
    pub(crate) fn known(&self, text: &str) -> KnownDocument {
        self.documents.get(text).unwrap_or_else(|| self.check(text))
    }

    /// Checks a document that is not known yet, and remembers the result.
    pub(crate) fn check(&self, text: &str) -> KnownDocument {
        let known: KnownDocument = Arc::new(self.schema.check(text, &self.limits));
        self.documents.put(text, known.clone());
        known
    }
}

fn limits_of(rules: &GraphqlRules) -> DocumentLimits {
    let or = |value: usize, default| if value == 0 { default } else { value };
    DocumentLimits {
        tokens_max: or(rules.tokens_max, 10_000),
        depth_max: or(rules.levels_max, 64),
        fields_max: if rules.fields_max == 0 { 10_000 } else { rules.fields_max },
        aliases_max: if rules.aliases_max == 0 { 500 } else { rules.aliases_max },
    }
}

/// Documents of one request and what is known about them, in their order.
pub(crate) type CheckedTexts = Arc<Vec<(String, KnownDocument)>>;

struct DocumentTexts {
    api: Arc<GraphqlApi>,
    texts: Vec<String>,
    completer: Completer<CheckedTexts>,
}

/// The threads that check documents.
pub(crate) struct GraphqlThreads(SyncSender<DocumentTexts>);

impl ThreadGroup for GraphqlThreads {
    const NAME: &'static str = "GraphQL documents";

    fn start() -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel::<DocumentTexts>(WAITING_MAX);
        let receiver = Arc::new(Mutex::new(receiver));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..(cores / 2).max(1) {
            let receiver = receiver.clone();
            Builder::new().name("graphql".to_owned()).stack_size(STACK_BYTES).spawn(move || check_all(&receiver))?;
        }
        Ok(GraphqlThreads(sender))
    }
}

impl GraphqlThreads {
    /// Queues documents; `None` when the queue is full.
    pub(crate) fn check(&self, api: &Arc<GraphqlApi>, texts: Vec<String>) -> Option<Pending<CheckedTexts>> {
        let (completer, answer) = Pending::pair();
        self.0.try_send(DocumentTexts { api: api.clone(), texts, completer }).is_ok().then_some(answer)
    }
}

fn check_all(receiver: &Mutex<Receiver<DocumentTexts>>) {
    loop {
        let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(DocumentTexts { api, texts, completer }) = next else { return };
        // The request may have gone meanwhile.
        if completer.is_awaited() {
            let known = |text: String| {
                let known = api.known(&text);
                (text, known)
            };
            completer.complete(Arc::new(texts.into_iter().map(known).collect()));
        }
    }
}
