//! What gateways ask each other about their figures.

use crate::observe::tap::{TailFilter, TopBy};
use crate::report::ShownApis;
use serde::{Deserialize, Serialize};
use tollgate_statistics::SpanQuestion;
use tollgate_store::usage::UsageQuestion;

/// A question about the figures of a gateway.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(crate) enum FiguresQuestion {
    History {
        span: SpanQuestion,
        from_unix_s: u64,
    },
    Tail {
        filter: TailFilter,
        rows: usize,
    },
    Top {
        by: TopBy,
        api: Option<String>,
        window_s: u64,
    },
    /// The sample of the last two seconds.
    Live,
    /// Requests that fit and ended since the last question of this asker, who asks every few seconds.
    Follow {
        filter: TailFilter,
        asker: String,
    },
    /// What a gateway has recorded.
    Usage {
        question: UsageQuestion,
    },
    /// When a key was used last.
    LastSeen {
        key: String,
    },
    /// The metrics of the whole process, for one gateway; the others have nothing to say.
    Figures {
        node: String,
        shown: ShownApis,
    },
}
