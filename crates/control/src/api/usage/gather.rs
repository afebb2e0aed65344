//! Usage of one gateway or of all that share a Redis. Each keeps what it recorded; a question is asked to all, and the answers become one.

use super::{READ_TIME_MAX, ROWS_MAX, UsageAsked};
use crate::api::Control;
use crate::api::recorded::{Recorded, recorded};
use crate::figures_question::FiguresQuestion;
use std::time::Instant;
use tollgate_store::StoreFault;
use tollgate_store::usage::{UsageAnswer, UsageBy, UsageQuestion};

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
    // The rows that are the most used of all may be less used here.
    let part = UsageQuestion {
        rows_max: if asked.is_for_all || asked.by_node.rows { ROWS_MAX } else { asked.question.rows_max },
        ..asked.question.clone()
    };
    let others = asked.is_for_all.then(|| FiguresQuestion::Usage { question: part.clone() });
    let Recorded { answers, missing } = recorded(
        &control.nodes,
        control.shared.observer.node(),
        move |own| own.usage(&part, Instant::now() + READ_TIME_MAX),
        others,
    )
    .await?;
    if answers.is_empty() {
        return Ok(None);
    }
    let named = |(node, answer): (String, UsageAnswer)| (asked.by_node.named(answer, &node), node);
    let (answers, nodes): (Vec<_>, Vec<_>) = answers.into_iter().map(named).unzip();
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
