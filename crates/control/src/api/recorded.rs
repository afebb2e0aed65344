//! What gateways have recorded. Each keeps its own; a question is asked to this one, or to all that share a Redis.

use crate::figures_question::FiguresQuestion;
use crate::nodes::{NodeAnswer, Nodes, OwnFigures};
use serde::de::DeserializeOwned;
use tollgate_store::{StoreFault, StoreFaultKind};

/// What they answered.
pub(crate) struct Recorded<A> {
    /// Their names and answers; none if nobody records it.
    pub answers: Vec<(String, A)>,
    /// Gateways that did not answer in time, or record nothing.
    pub missing: Vec<String>,
}

/// Asks this gateway with `read`, which may block, and the others with a question if there is one.
pub(crate) async fn recorded<A>(
    nodes: &Nodes,
    node: &str,
    read: impl FnOnce(&OwnFigures) -> Option<Result<A, StoreFault>> + Send + 'static,
    others: Option<FiguresQuestion>,
) -> Result<Recorded<A>, StoreFault>
where
    A: DeserializeOwned + Send + 'static,
{
    let own = nodes.own.clone();
    let reading = tokio::task::spawn_blocking(move || read(&own));
    let others = match others {
        Some(question) => nodes.ask(&question).await,
        None => Default::default(),
    };
    let own = reading.await.map_err(|failure| StoreFault::new(StoreFaultKind::Io, failure))?.transpose()?;
    let told = others.answers.into_iter().map(|(node, answer)| {
        let told = serde_json::from_value::<NodeAnswer<A>>(answer).ok();
        (node, told.and_then(|told| told.answer))
    });
    let mut all = Recorded { answers: Vec::new(), missing: others.missing };
    for (node, answer) in std::iter::once((node.to_owned(), own)).chain(told) {
        match answer {
            Some(answer) => all.answers.push((node, answer)),
            None => all.missing.push(node),
        }
    }
    Ok(all)
}

/// The minute in which a key was used last, if it was; the outer `None` if this gateway records nothing.
pub(crate) async fn last_minute(nodes: &Nodes, key: String, is_for_all: bool) -> Result<Option<Option<i64>>, StoreFault> {
    let (own, name) = (nodes.own.clone(), key.clone());
    let reading = tokio::task::spawn_blocking(move || own.last_seen(&name));
    let others = match is_for_all {
        true => nodes.ask(&FiguresQuestion::LastSeen { key }).await.answers,
        false => Vec::new(),
    };
    let elsewhere = others.into_iter().filter_map(|(_, minute)| minute.as_i64()).max();
    let own = reading.await.map_err(|failure| StoreFault::new(StoreFaultKind::Io, failure))?.transpose()?;
    Ok(own.map(|own| own.max(elsewhere)))
}
