//! Usage of one gateway or of all that share a Redis. Each keeps what it recorded; a question is asked to all, and the answers become one.

use super::{READ_TIME_MAX, ROWS_MAX, UsageAsked};
use crate::api::Control;
use crate::figures_question::FiguresQuestion;
use crate::nodes::NodeUsage;
use std::time::Instant;
use tollgate_store::usage::{UsageAnswer, UsageBy, UsageQuestion};
use tollgate_store::{StoreFault, StoreFaultKind};

/// Where the name of a gateway stands for what it recorded.
#[derive(Clone, Copy, Default)]
pub(super) struct NodeSplit {
    /// Each gateway is a row.
    pub rows: bool,
    /// Each row is split by gateway.
    pub parts: bool,
}

/// What was recorded, and by which gateways.
pub(super) struct Gathered {
    pub found: UsageAnswer,
    pub nodes: Vec<String>,
    pub missing: Vec<String>,
}

/// `None` if no gateway that was asked records usage.
pub(super) async fn gather(control: &Control, asked: &UsageAsked) -> Result<Option<Gathered>, StoreFault> {
    let node = control.shared.observer.node().to_owned();
    // The rows that are the most used of all may be less used here.
    let part = UsageQuestion {
        rows_max: if asked.is_for_all || asked.by_node.rows { ROWS_MAX } else { asked.question.rows_max },
        ..asked.question.clone()
    };
    let (own, question) = (control.nodes.own.clone(), part.clone());
    let reading = tokio::task::spawn_blocking(move || own.usage(&question, Instant::now() + READ_TIME_MAX));
    let others =
        if asked.is_for_all { control.nodes.ask(&FiguresQuestion::Usage { question: part }).await } else { Default::default() };
    let own = reading.await.map_err(|failure| StoreFault::new(StoreFaultKind::Io, failure))?.transpose()?;

    let mut missing = others.missing;
    let told = others
        .answers
        .into_iter()
        .map(|(node, answer)| (node, serde_json::from_value::<NodeUsage>(answer).ok().and_then(|told| told.answer)));
    let (mut nodes, mut answers) = (Vec::new(), Vec::new());
    for (node, answer) in std::iter::once((node, own)).chain(told) {
        match answer {
            Some(answer) => {
                answers.push(asked.by_node.named(answer, &node));
                nodes.push(node);
            }
            None => missing.push(node),
        }
    }
    if nodes.is_empty() {
        return Ok(None);
    }
    let mut whole = asked.question.clone();
    if asked.by_node.parts {
        // Any dimension: the parts have their names already.
        whole.split = Some(UsageBy::Api);
    }
    Ok(Some(Gathered { found: UsageAnswer::merged(&whole, answers), nodes, missing }))
}

impl NodeSplit {
    fn named(self, mut answer: UsageAnswer, node: &str) -> UsageAnswer {
        for row in &mut answer.rows {
            if self.rows {
                node.clone_into(&mut row.value);
            }
            if self.parts {
                row.split = Some(node.to_owned());
            }
        }
        answer
    }
}
