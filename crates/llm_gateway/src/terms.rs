//! What a server is made of.

use crate::answer_cache::CacheTerms;
use crate::guards::GuardTerms;
use crate::health::SlowTerms;
use crate::rest_mail::RestMail;
use crate::tokenizers::Tokenizers;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tollgate_access::keys::BudgetCounters;
use tollgate_llm::aws_sigv4::AwsKeys;
use tollgate_llm::{Price, Provider, ProviderCredential};
use tollgate_model::config::OnStoreFailure;
use tollgate_outbound::OfferedBodies;
use tollgate_statistics::{LlmCall, OpenCalls};
use tollgate_tls::TlsSettings;

/// The providers and models of one API.
pub struct LlmTerms {
    /// Id of the API.
    pub api: String,
    /// What stands before `/v1/` in requests: nothing if the listen path is stripped.
    pub listen_path: String,
    /// The providers.
    pub providers: Vec<ProviderTerms>,
    /// Models by the names that clients write.
    pub models: Vec<ModelTerms>,
    /// Longest time until the first token of a stream; after it, the next target is asked.
    pub first_token_max: Option<Duration>,
    /// For how long a stream waits for its first token until the next target is asked as well.
    pub hedge_after: Option<Duration>,
    /// When a target is passed over because its first tokens come late.
    pub slow: Option<SlowTerms>,
    /// By what conversations are known, which keep their targets and keys.
    pub sticky: Option<Sticky>,
    /// Bound of an answer, in tokens, where the provider requires one and the client states none.
    pub output_tokens_max: Option<u64>,
    /// How providers' certificates are checked.
    pub tls: TlsSettings,
    /// Prices that come before the built-in ones.
    pub prices: Vec<Price>,
    /// Vocabularies of models, by which prompts are counted.
    pub tokenizers: Tokenizers,
    /// Where is noted what becomes of requests.
    pub calls: Arc<OpenCalls<LlmCall>>,
    /// Where streams that have begun are offered to the cores of their clients.
    pub offers: Arc<OfferedBodies>,
    /// The other gateways on the same Redis, which keep rests of providers' keys too.
    pub others: Option<Arc<dyn RestMail>>,
    /// Counters of budgets.
    pub counters: Option<Arc<dyn BudgetCounters>>,
    /// What applies to budgets while the shared store does not answer.
    pub on_store_failure: Option<OnStoreFailure>,
    /// How answers are kept for later requests, if they are.
    pub cache: Option<CacheTerms>,
    /// What requests and answers are checked for, in this order.
    pub guards: Vec<GuardTerms>,
}

/// A provider.
#[derive(Clone)]
pub struct ProviderTerms {
    /// Its name in figures and headers.
    pub name: String,
    /// What it speaks, and the gateway's credential.
    pub provider: Provider,
    /// More credentials; requests go with one that has room.
    pub more_credentials: Vec<ProviderCredential>,
    /// Scheme, host and port, without a path.
    pub origin: String,
    /// Keys that sign requests for Amazon Bedrock.
    pub aws: Option<AwsTerms>,
    /// Longest time for a whole answer, and between two pieces of a stream.
    pub time_max: Duration,
    /// Models that it serves under their own names, `*` for any text.
    pub patterns: Vec<String>,
}

/// Keys of Amazon and their region.
#[derive(Clone)]
pub struct AwsTerms {
    /// The keys.
    pub keys: AwsKeys,
    /// The region.
    pub region: String,
}

/// A model by the name that clients write.
#[derive(Clone, Debug)]
pub struct ModelTerms {
    /// The name.
    pub name: String,
    /// Where requests go, in the order of fallback.
    pub targets: Vec<TargetTerms>,
    /// Which of them is asked first.
    pub preference: Preference,
}

/// Which of several targets is asked first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// The first one, or one by weight.
    #[default]
    Order,
    /// The cheapest.
    Cost,
    /// The fastest.
    Latency,
}

/// By what conversations are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sticky {
    /// By their beginning: the system prompt and the first words of the user.
    Beginning,
    /// By a header.
    Header(String),
}

/// A model at a provider.
#[derive(Clone, Debug)]
pub struct TargetTerms {
    /// Index of the provider.
    pub provider: usize,
    /// The model's name there.
    pub model: String,
    /// Share of the requests that this target gets first. If all are 0, the first target gets them.
    pub weight: u32,
    /// Targets with a higher one are asked when those with a lower one gave no answer.
    pub priority: u32,
}

impl ProviderTerms {
    /// All credentials, in the order of the configuration.
    pub(crate) fn credentials(&self) -> impl Iterator<Item = &ProviderCredential> {
        std::iter::once(&self.provider.credential).chain(&self.more_credentials)
    }

    /// The provider with this credential.
    pub(crate) fn with_credential(&self, credential: ProviderCredential) -> Self {
        let mut terms = self.clone();
        terms.provider.credential = credential;
        terms
    }
}

impl fmt::Debug for ProviderTerms {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at {}", self.name, self.origin)
    }
}
