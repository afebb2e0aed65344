//! What GraphQL requests to an API are checked against, and the threads that check long documents: a document of a few hundred lines takes
//! milliseconds, in which a data thread serves hundreds of other requests.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Builder;
use std::time::Duration;
use tollgate_engine::{Completer, Pending};
use tollgate_graphql::{DocumentCache, DocumentLimits, GraphqlSchema, KnownDocument, SchemaRules};

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
    /// Notes about the schema, for whoever loads it.
    pub notes: Vec<String>,
}

/// What a [`GraphqlApi`] is made of; the digest is of the schema's text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct GraphqlSource {
    pub schema: [u8; 32],
    pub is_subgraph: bool,
    pub limits: (usize, usize, u64, u64),
}

impl GraphqlApi {
    /// Compiles a schema; `Err` are its faults with their places.
    pub(crate) fn compile(schema: &str, rules: SchemaRules, limits: DocumentLimits) -> Result<Self, Vec<String>> {
        let told = |faults: Vec<_>| faults.iter().map(ToString::to_string).collect::<Vec<String>>();
        let (schema, notes) = GraphqlSchema::compile(schema, rules).map_err(told)?;
        Ok(GraphqlApi { schema, limits, documents: DocumentCache::default(), notes: told(notes) })
    }

    /// Checks a document that is not known yet, and remembers the result.
    pub(crate) fn check(&self, text: &str) -> KnownDocument {
        let known: KnownDocument = Arc::new(self.schema.check(text, &self.limits));
        self.documents.put(text, known.clone());
        known
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

impl GraphqlThreads {
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
                let known = api.documents.get(&text).unwrap_or_else(|| api.check(&text));
                (text, known)
            };
            completer.complete(Arc::new(texts.into_iter().map(known).collect()));
        }
    }
}

/// The threads, started when the first long document comes.
#[derive(Default)]
pub(crate) struct LazyGraphqlThreads(OnceLock<Option<Arc<GraphqlThreads>>>);

impl LazyGraphqlThreads {
    /// The threads; `None` when the system cannot start them.
    pub(crate) fn get(&self) -> Option<Arc<GraphqlThreads>> {
        let start = || {
            let started = GraphqlThreads::start().map(Arc::new);
            started.inspect_err(|error| tracing::error!(%error, "no threads for GraphQL documents")).ok()
        };
        self.0.get_or_init(start).clone()
    }
}
