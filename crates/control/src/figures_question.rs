//! What gateways ask each other about their figures and about what they serve.

use crate::report::ShownApis;
use serde::{Deserialize, Serialize};
use tollgate_observe::tap::{TailFilter, TopBy};
use tollgate_statistics::SpanQuestion;
use tollgate_store::spend::SpendQuestion;
use tollgate_store::usage::UsageQuestion;

/// A question to a gateway.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum FiguresQuestion {
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
    /// What language models cost.
    Spend {
        question: SpendQuestion,
    },
    /// When a key was used last.
    LastSeen {
        key: String,
    },
    /// What a gateway serves; it loads what gateways share first, if it has not got as far as this revision.
    Serving {
        revision: u64,
        /// Earlier versions know none.
        #[serde(default)]
        stamp: String,
    },
    /// The servers behind an MCP proxy as one gateway knows them; the others have nothing to say.
    McpServers {
        node: String,
        api: String,
    },
    /// The metrics of the whole process, for one gateway; the others have nothing to say.
    Figures {
        node: String,
        shown: ShownApis,
    },
    /// The budget with this counter was reset: what a gateway holds of it is void. Earlier versions say nothing to it, and learn of it from the store.
    BudgetReset {
        counter: String,
    },
}
