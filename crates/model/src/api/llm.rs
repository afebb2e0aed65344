//! `tollgate.llm` of a definition: one endpoint in front of many providers of language models.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::llm_cache::LlmCache;
use super::llm_guard::LlmGuard;
use super::service_url::is_service_url;
use crate::json_path::JsonPath;
use crate::number::is_zero;
use crate::problem::Findings;
use crate::session::{BudgetHolder, LlmBudget};
use crate::token::{is_header_value, is_token};

/// Most providers, models, and names of one: people read lists of them, and each has its own figures.
const PROVIDERS_MAX: usize = 100;
const MODELS_MAX: usize = 1_000;
const NAME_BYTES_MAX: usize = 200;
/// Most keys of a provider: each one is looked at with each request.
const KEYS_MAX: usize = 100;

/// `tollgate.llm`: the API is one endpoint in front of these providers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LlmGateway {
    /// The providers. Of two that serve a model by its name, the first is asked first.
    pub providers: Vec<LlmProvider>,
    /// Models by the names that clients write.
    pub models: Vec<LlmModel>,
    /// Seconds until the first token of a stream, after which the next target is asked; 0 for no such limit.
    pub first_token_s: f64,
    /// Seconds until the first token of a stream, after which the next target is asked as well; 0 for never. Both cost money.
    pub hedge_after_s: f64,
    /// When a target is passed over because its first tokens come late.
    pub slow: LlmSlow,
    /// By what conversations are known, which keep their targets and keys: `conversation`, for their beginning, or `header:NAME`; by nothing if empty.
    pub sticky: String,
    /// Bound of an answer in tokens where the provider or a hard budget requires one and the client states none; 4096 if 0.
    pub output_tokens_max: u64,
    /// How much of the models may be used.
    pub budgets: Vec<LlmBudget>,
    /// By what sums of spend know the team of a request: `claim:NAME` of its token, or `metadata:NAME` of its session; by what the first budget of a team
    /// does if nothing is said.
    #[serde(skip_serializing_if = "is_zero")]
    pub team: Option<BudgetHolder>,
    /// Prices that come before the built-in ones.
    pub prices: Vec<LlmPrice>,
    /// Answers that are kept for later requests.
    pub cache: Option<LlmCache>,
    /// What requests and answers are checked for, in this order.
    pub guards: Vec<LlmGuard>,
}

/// When a target is passed over for a while, because too many of the first tokens of its last 20 streams came late.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LlmSlow {
    /// Seconds after which a first token is late; 0 for no such rule.
    pub first_token_s: f64,
    /// The share of late ones, above 0 and up to 1; 0.5 if 0.
    pub share: f64,
    /// Seconds for which the target is passed over; then one request probes it. 30 if 0.
    pub rest_s: f64,
}

/// What a model costs, in US dollars for a million tokens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LlmPrice {
    /// The model's name at the provider, and of its releases; a `*` at the end stands for any more letters.
    pub model: String,
    /// Of the prompt.
    pub input: f64,
    /// Of the prompt, from the provider's cache; that of `input` if nothing is said.
    pub cached_read: Option<f64>,
    /// Of the prompt, into the provider's cache; that of `input` if nothing is said.
    pub cached_write: Option<f64>,
    /// Of the answer.
    pub output: f64,
}

/// A provider of models.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LlmProvider {
    /// Its name: letters, digits, `-`, `_` and `.`; unique.
    pub name: String,
    /// Which API it speaks.
    pub kind: LlmProviderKind,
    /// Where it is; the kind's own place if empty. A path takes the place of the usual one.
    pub url: String,
    /// The gateway's key, such as `$secret_env.OPENAI_API_KEY`.
    pub key: String,
    /// Several keys in its place; a request goes with one whose limits have room.
    pub keys: Vec<String>,
    /// Region of Amazon Bedrock.
    pub region: String,
    /// Id of a key of Amazon, which signs requests; without, `key` is a bearer token.
    pub aws_access_key_id: String,
    /// That key.
    pub aws_secret_access_key: String,
    /// The token of a temporary key.
    pub aws_session_token: String,
    /// Seconds for a whole answer, and between two pieces of a stream; 600 if 0.
    pub timeout_s: f64,
    /// Models that it serves under their own names, `*` for any text.
    pub models: Vec<String>,
}

/// The API of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LlmProviderKind {
    /// OpenAI, and servers that speak all of its API.
    #[default]
    #[serde(rename = "openai")]
    OpenAi,
    /// Azure OpenAI.
    Azure,
    /// Anthropic.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Gemini at Vertex AI.
    Vertex,
    /// Amazon Bedrock.
    Bedrock,
    /// Cohere.
    Cohere,
    /// Mistral.
    Mistral,
    /// Groq.
    Groq,
    /// DeepSeek.
    #[serde(rename = "deepseek")]
    DeepSeek,
    /// OpenRouter.
    #[serde(rename = "openrouter")]
    OpenRouter,
    /// Ollama.
    Ollama,
    /// vLLM.
    Vllm,
    /// llama.cpp.
    LlamaCpp,
}

/// A model by the name that clients write.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LlmModel {
    /// The name; unique.
    pub name: String,
    /// Where requests go: each target is asked if those before it gave no answer.
    pub targets: Vec<LlmTarget>,
    /// Which of those with the same priority is asked first.
    pub prefer: LlmPreference,
}

/// Which of several targets is asked first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LlmPreference {
    /// One by weight, else the first.
    #[default]
    Order,
    /// The cheapest by its price.
    Cost,
    /// The one whose answers began first lately.
    Latency,
}

/// A model at a provider.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LlmTarget {
    /// Name of the provider.
    pub provider: String,
    /// The model's name there; that of the model if empty.
    pub model: String,
    /// Share of the requests that this target gets first. If no target has one, the first target gets them.
    pub weight: u32,
    /// Targets with a higher one are asked if those with a lower one gave no answer.
    pub priority: u32,
}

impl LlmProviderKind {
    /// Where the provider is if nothing else is said. That of Bedrock depends on its region.
    pub fn usual_url(self) -> Option<&'static str> {
        Some(match self {
            LlmProviderKind::OpenAi => "https://api.openai.com",
            LlmProviderKind::Anthropic => "https://api.anthropic.com",
            LlmProviderKind::Gemini => "https://generativelanguage.googleapis.com",
            LlmProviderKind::Cohere => "https://api.cohere.com",
            LlmProviderKind::Mistral => "https://api.mistral.ai",
            LlmProviderKind::Groq => "https://api.groq.com",
            LlmProviderKind::DeepSeek => "https://api.deepseek.com",
            LlmProviderKind::OpenRouter => "https://openrouter.ai",
            LlmProviderKind::Ollama => "http://localhost:11434",
            LlmProviderKind::Azure
            | LlmProviderKind::Vertex
            | LlmProviderKind::Bedrock
            | LlmProviderKind::Vllm
            | LlmProviderKind::LlamaCpp => return None,
        })
    }
}

impl LlmGateway {
    /// What tells the team of a request: `team`, or the first budget of a team.
    pub fn team_holder(&self) -> Option<&BudgetHolder> {
        let of_budget = || self.budgets.iter().filter_map(|budget| budget.of.as_ref()).find(|of| of.is_team());
        self.team.as_ref().or_else(of_budget)
    }

    /// Adds its problems to `findings`. `answers_otherwise`: the API has another kind of upstream that answers itself.
    pub(super) fn check(&self, answers_otherwise: bool, is_stream: bool, findings: &mut Findings) {
        let at = JsonPath::of("tollgate.llm");
        if answers_otherwise {
            findings.error(
                &at,
                "cannot be with tollgate.mcp, application_protocol \"mcp\", or a GraphQL API that the gateway executes",
            );
        }
        if is_stream {
            findings.error(&at, "is spoken over HTTP");
        }
        check_count(&at.key("providers"), self.providers.len(), 1, PROVIDERS_MAX, findings);
        check_count(&at.key("models"), self.models.len(), 0, MODELS_MAX, findings);
        check_seconds(&at.key("first_token_s"), self.first_token_s, findings);
        check_seconds(&at.key("hedge_after_s"), self.hedge_after_s, findings);
        if self.hedge_after_s > 0.0 && self.first_token_s > 0.0 && self.hedge_after_s >= self.first_token_s {
            findings.error(&at.key("hedge_after_s"), "must be below first_token_s, after which the next target is asked alone");
        }
        self.slow.check(self.first_token_s, &at.key("slow"), findings);
        let header = self.sticky.strip_prefix("header:");
        if !matches!(self.sticky.as_str(), "" | "conversation") && !header.is_some_and(is_token) {
            findings.error(&at.key("sticky"), "must be \"conversation\", or \"header:\" with the name of a header");
        }
        for (index, provider) in self.providers.iter().enumerate() {
            let at = at.key("providers").index(index);
            provider.check(&at, findings);
            if self.providers.iter().take(index).any(|other| other.name == provider.name) {
                findings.error(&at.key("name"), format!("is the name of another provider: {:?}", provider.name));
            }
        }
        for (index, model) in self.models.iter().enumerate() {
            let at = at.key("models").index(index);
            model.check(&self.providers, &at, findings);
            if self.models.iter().take(index).any(|other| other.name == model.name) {
                findings.error(&at.key("name"), format!("is the name of another model: {:?}", model.name));
            }
        }
        let holders = [BudgetHolder::Api, BudgetHolder::Key];
        LlmBudget::check_all(&self.budgets, &at.key("budgets"), &holders, findings);
        if let Some(team) = &self.team {
            team.check_team(&at.key("team"), findings);
        }
        let providers: Vec<&str> = self.providers.iter().map(|provider| provider.name.as_str()).collect();
        self.cache.iter().for_each(|cache| cache.check(&providers, &at.key("cache"), findings));
        LlmGuard::check_all(&self.guards, &at.key("guards"), findings);
        check_count(&at.key("prices"), self.prices.len(), 0, MODELS_MAX, findings);
        for (index, price) in self.prices.iter().enumerate() {
            price.check(&at.key("prices").index(index), findings);
        }
        if self.models.is_empty() && self.providers.iter().all(|provider| provider.models.is_empty()) {
            findings.error(&at, "serves no model: name some in models, or in models of a provider");
        }
    }
}

impl LlmProvider {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(fits) {
            findings.error(&at.key("name"), "must be 1 to 64 letters, digits, -, _ and .");
        }
        let is_bedrock = self.kind == LlmProviderKind::Bedrock;
        let url = at.key("url");
        if self.url.is_empty() {
            if is_bedrock && self.region.is_empty() {
                findings.error(at, "must have region or url");
            } else if !is_bedrock && self.kind.usual_url().is_none() {
                findings.error(&url, "must be set for this kind of provider");
            }
        } else if !is_service_url(&self.url) {
            findings.error(&url, "must be a URL such as https://llm.example.com, without user, password and fragment");
        } else if self.kind == LlmProviderKind::Vertex && !self.url.trim_end_matches('/').ends_with("/publishers/google") {
            findings.error(&url, "must end with /publishers/google");
        }
        let signs = !self.aws_access_key_id.is_empty();
        if signs == self.aws_secret_access_key.is_empty() || (!signs && !self.aws_session_token.is_empty()) {
            findings.error(at, "must have both of aws_access_key_id and aws_secret_access_key");
        }
        if signs && !is_bedrock {
            findings.error(&at.key("aws_access_key_id"), "is for the kind \"bedrock\" alone");
        }
        if signs && self.region.is_empty() {
            findings.error(&at.key("region"), "must be set where requests are signed");
        }
        if signs && !self.key.is_empty() {
            findings.error(&at.key("key"), "cannot be with aws_access_key_id");
        }
        if !self.region.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            findings.error(&at.key("region"), "must be letters, digits and -");
        }
        check_count(&at.key("keys"), self.keys.len(), 0, KEYS_MAX, findings);
        if !self.keys.is_empty() && (signs || !self.key.is_empty()) {
            findings.error(&at.key("keys"), "cannot be with key or aws_access_key_id");
        }
        for (index, key) in self.keys.iter().enumerate() {
            let at = at.key("keys").index(index);
            if key.is_empty() || !is_header_value(key) {
                findings.error(&at, "is no header value");
            }
            if self.keys.iter().take(index).any(|other| other == key) {
                findings.error(&at, "is there twice");
            }
        }
        let keys = [("key", &self.key), ("aws_session_token", &self.aws_session_token)];
        for (field, _) in keys.iter().filter(|(_, value)| !is_header_value(value)) {
            findings.error(&at.key(field), "is no header value");
        }
        check_seconds(&at.key("timeout_s"), self.timeout_s, findings);
        check_count(&at.key("models"), self.models.len(), 0, MODELS_MAX, findings);
        for (index, name) in self.models.iter().enumerate() {
            check_name(&at.key("models").index(index), name, findings);
        }
    }
}

impl LlmModel {
    fn check(&self, providers: &[LlmProvider], at: &JsonPath, findings: &mut Findings) {
        check_name(&at.key("name"), &self.name, findings);
        check_count(&at.key("targets"), self.targets.len(), 1, PROVIDERS_MAX, findings);
        if self.prefer != LlmPreference::Order && self.targets.iter().any(|target| target.weight > 0) {
            findings.error(&at.key("prefer"), "cannot be with weight of targets");
        }
        for (index, target) in self.targets.iter().enumerate() {
            let at = at.key("targets").index(index);
            if providers.iter().all(|provider| provider.name != target.provider) {
                findings.error(&at.key("provider"), format!("is the name of no provider: {:?}", target.provider));
            }
            if !target.model.is_empty() {
                check_name(&at.key("model"), &target.model, findings);
            }
        }
    }
}

impl LlmSlow {
    fn check(&self, first_token_s: f64, at: &JsonPath, findings: &mut Findings) {
        check_seconds(&at.key("first_token_s"), self.first_token_s, findings);
        check_seconds(&at.key("rest_s"), self.rest_s, findings);
        if !(0.0..=1.0).contains(&self.share) {
            findings.error(&at.key("share"), "must be from 0 to 1");
        }
        if self.first_token_s == 0.0 && (self.share != 0.0 || self.rest_s != 0.0) {
            findings.error(&at.key("first_token_s"), "must be set");
        }
        if first_token_s > 0.0 && self.first_token_s >= first_token_s {
            findings.error(&at.key("first_token_s"), "must be below tollgate.llm.first_token_s, after which nobody waits");
        }
    }
}

impl LlmPrice {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        check_name(&at.key("model"), &self.model, findings);
        let own = [("input", Some(self.input)), ("output", Some(self.output))];
        let prices = own.into_iter().chain([("cached_read", self.cached_read), ("cached_write", self.cached_write)]);
        for (field, _) in prices.filter(|(_, price)| price.is_some_and(|price| !(0.0..=1e6).contains(&price))) {
            findings.error(&at.key(field), "must be from 0 to 1000000");
        }
    }
}

fn check_count(at: &JsonPath, count: usize, least: usize, most: usize, findings: &mut Findings) {
    if !(least..=most).contains(&count) {
        findings.error(at, format!("must have {least} to {most} entries, not {count}"));
    }
}

fn check_name(at: &JsonPath, name: &str, findings: &mut Findings) {
    if name.is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(|c| c.is_control() || c.is_whitespace()) {
        findings.error(at, format!("must be 1 to {NAME_BYTES_MAX} bytes without spaces"));
    }
}

fn check_seconds(at: &JsonPath, seconds: f64, findings: &mut Findings) {
    if !seconds.is_finite() || !(0.0..=86_400.0).contains(&seconds) {
        findings.error(at, "must be from 0 to 86400");
    }
}
