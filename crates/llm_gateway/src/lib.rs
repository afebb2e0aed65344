//! One endpoint in front of many providers of language models. Clients speak OpenAI's or Anthropic's API; each request goes to the provider of
//! its model, translated where the provider speaks another API, and to the next one as long as nothing was answered.
//!
//! It knows nothing of keys, rates and rules: the data path has decided about each request before it comes here, and says which budgets it meets.
//! A client's credentials never go to a provider, and those for a provider never to a client or into the log.
#![forbid(unsafe_code)]

mod access_tokens;
mod answer;
mod answer_cache;
mod answer_store;
mod asked;
mod attempt;
mod budget;
mod budget_use;
mod cache_lookup;
mod caller;
mod conversation;
mod failure;
mod figures;
mod flights;
mod guarding;
mod guards;
mod health;
mod hedge;
mod holdings;
mod kept_answer;
mod lane_times;
mod lengths;
mod llm_server;
mod mask;
mod media;
mod met_budget;
mod models;
mod order;
mod pool;
mod recording;
mod relay;
mod report;
mod rest_mail;
mod rests;
mod rooms;
mod routes;
mod semantic_cache;
mod server;
mod similar;
mod standing;
mod surface;
mod system;
mod tally;
mod terms;
mod tokenizers;
mod tries;
mod upload;
mod vectors;

pub use answer_cache::CacheTerms;
pub use answer_store::{AnswerName, AnswerPlace, AnswerStore, FoundAnswer};
pub use budget_use::BudgetUse;
pub use caller::CallFacts;
pub use figures::{
    AnswerCacheFigures, BudgetFigures, CacheOutcome, GuardFigures, GuardOutcome, KeyFigures, LaneFigures, LlmFigures, LlmOutcome,
    TokenKind,
};
pub use guards::{BuiltIn, GuardCheck, GuardPattern, GuardTerms, ModerationForm, ModerationTerms};
pub use health::SlowTerms;
pub use lane_times::{LaneTimes, LlmOperation, TOKENS, TokenCounts};
pub use llm_server::LlmServer;
pub use met_budget::MetBudget;
pub use rest_mail::RestMail;
pub use semantic_cache::SemanticTerms;
pub use terms::{AwsTerms, LlmTerms, ModelTerms, Preference, ProviderTerms, Sticky, TargetTerms};
pub use tokenizers::{TokenizerLibrary, Tokenizers};
