//! Compiles one endpoint in front of many providers of language models: `tollgate.llm`.

use super::llm_guards::{guard_key, guard_terms};
use std::sync::Arc;
use std::time::Duration;
use tollgate_access::keys::BudgetCounters;
use tollgate_data::llm_answers::LlmAnswers;
use tollgate_data::middleware::Context;
use tollgate_data::snapshot::Upstreams;
use tollgate_data::template::{ValueTemplate, VariableScope};
use tollgate_data::upstream::Upstream;
use tollgate_llm::aws_sigv4::AwsKeys;
use tollgate_llm::{Flavour, Price, Provider, ProviderApi, ProviderCredential, ServiceAccount};
use tollgate_llm_gateway::{
    AwsTerms, CacheTerms, LlmServer, LlmTerms, ModelTerms, Preference, ProviderTerms, SemanticTerms, SlowTerms, Sticky, TargetTerms,
};
use tollgate_model::api::{
    ApiDefinition, LlmCache, LlmGateway, LlmModel, LlmPreference, LlmPrice, LlmProvider, LlmProviderKind, LlmSemanticCache, LlmSlow,
};

/// How long an answer may take, if nothing is said: models that reason take minutes.
const SECONDS: f64 = 600.0;
/// From which share of late first tokens a target is passed over, and for how long.
const SLOW_SHARE: f64 = 0.5;
const SLOW_REST_S: f64 = 30.0;

/// How long an answer is kept, if nothing is said.
const CACHE_TTL_S: u64 = 3_600;

/// How near requests must be, how many are compared, and how long an embedding may take, if nothing is said.
const SIMILARITY: f64 = 0.95;
const SEMANTIC_ENTRIES: usize = 100;
const EMBEDDING_SECONDS: f64 = 2.0;

/// The upstream that stands for all providers.
pub(super) fn upstream(definition: &ApiDefinition, llm: &LlmGateway, context: &mut Context<'_>) -> Option<Upstreams> {
    let providers: Vec<ProviderTerms> = llm.providers.iter().map(|provider| provider_terms(provider, context)).collect();
    check_accounts(llm, &providers, context);
    let registry = context.registry.clone();
    // Their patterns are told of wherever a definition is looked at.
    let guards = guard_terms(&llm.guards, context);
    let (Some(client), Some(_)) = (registry.graph_client.0.get(), registry.own_apis.get()) else {
        // Where requests are only rehearsed, nothing is sent.
        return Some(Upstreams::Nowhere);
    };
    let tls = context.upstream_tls(definition);
    // All that the server is made of, with the secrets that have been read: one that stays the same goes on.
    let (tokenizers, problems) = registry.tokenizers.tokenizers(&context.settings.documents.tokenizers);
    for (index, why) in problems {
        context.warning("$.tollgate.llm", format!("prompts are not counted with `tollgate.tokenizers[{index}]`: {why}"));
    }
    let secrets: (Vec<_>, Vec<_>) = (providers.iter().map(secrets_of).collect(), guards.iter().filter_map(guard_key).collect());
    let written = format!(
        "{:?}{:?}{llm:?}{secrets:?}{tokenizers:?}{:?}{:?}",
        definition.proxy.listen_path,
        definition.proxy.strip_listen_path,
        tls.for_host(""),
        definition.tollgate.on_store_failure
    );
    let terms = LlmTerms {
        api: definition.api_id.clone(),
        listen_path: if definition.proxy.strip_listen_path { String::new() } else { definition.proxy.listen_path.clone() },
        models: llm.models.iter().map(|model| model_terms(model, &llm.providers)).collect(),
        providers,
        slow: slow_terms(&llm.slow),
        sticky: match llm.sticky.strip_prefix("header:") {
            Some(name) => Some(Sticky::Header(name.to_ascii_lowercase())),
            None => (!llm.sticky.is_empty()).then_some(Sticky::Beginning),
        },
        hedge_after: (llm.hedge_after_s > 0.0).then(|| Duration::from_secs_f64(llm.hedge_after_s)),
        first_token_max: (llm.first_token_s > 0.0).then(|| Duration::from_secs_f64(llm.first_token_s)),
        output_tokens_max: Some(llm.output_tokens_max).filter(|tokens| *tokens > 0),
        tls,
        prices: llm.prices.iter().map(price_of).collect(),
        tokenizers,
        calls: registry.llm_calls.clone(),
        offers: registry.offered_bodies.clone(),
        others: registry.rest_mail.get().cloned(),
        counters: registry.script_keys.get().map(|keys| keys.clone() as Arc<dyn BudgetCounters>),
        on_store_failure: definition.tollgate.on_store_failure,
        cache: llm.cache.as_ref().and_then(|cache| cache_terms(definition, llm, cache, context)),
        guards,
    };
    let server = registry.llm_server(&definition.api_id, written, |figures| LlmServer::new(terms, client, figures));
    Some(Upstreams::One(Upstream::within(Arc::new(move || server.connect()), context.registry)))
}

/// How answers are kept: in the response cache.
fn cache_terms(definition: &ApiDefinition, llm: &LlmGateway, cache: &LlmCache, context: &mut Context<'_>) -> Option<CacheTerms> {
    let memory = context.settings.sizes.cache;
    let kept = match context.registry.api_cache(&definition.api_id, memory) {
        Ok(kept) => kept,
        Err(error) => {
            context.error("$.tollgate.llm.cache", format!("there can be no cache: {error}"));
            return None;
        }
    };
    let store = LlmAnswers::new(kept, context.registry.second_tier().cloned(), memory.body_bytes_max);
    Some(CacheTerms {
        store: Arc::new(store),
        ttl_s: if cache.ttl_s > 0 { cache.ttl_s } else { CACHE_TTL_S },
        by: cache.by,
        any_temperature: cache.any_temperature,
        semantic: cache.semantic.as_ref().and_then(|semantic| semantic_terms(semantic, &llm.providers)),
    })
}

/// How requests are compared.
fn semantic_terms(semantic: &LlmSemanticCache, providers: &[LlmProvider]) -> Option<SemanticTerms> {
    let or = |number: f64, default: f64| if number > 0.0 { number } else { default };
    Some(SemanticTerms {
        provider: providers.iter().position(|provider| provider.name == semantic.embeddings.provider)?,
        model: semantic.embeddings.model.clone(),
        threshold: or(semantic.threshold, SIMILARITY),
        dry_run: semantic.dry_run,
        entries_max: usize::try_from(semantic.entries_max).ok().filter(|entries| *entries > 0).unwrap_or(SEMANTIC_ENTRIES),
        time_max: Duration::from_secs_f64(or(semantic.timeout_s, EMBEDDING_SECONDS)),
        shows_questions: semantic.shows_questions,
    })
}

/// How long answers may take: the providers' own limits end their tries before.
pub(super) fn answer_time_max(llm: &LlmGateway) -> Duration {
    llm.providers.iter().map(time_max).sum()
}

/// How long an answer of a provider may take.
fn time_max(provider: &LlmProvider) -> Duration {
    Duration::from_secs_f64(if provider.timeout_s > 0.0 { provider.timeout_s } else { SECONDS })
}

fn provider_terms(provider: &LlmProvider, context: &Context<'_>) -> ProviderTerms {
    let scope = VariableScope { context: false, secrets: &context.settings.documents.secrets };
    let secret = |text: &str| ValueTemplate::new(text, scope).literal().unwrap_or_default().to_owned();
    let credential = |key: &String| match (provider.kind, secret(key)) {
        (_, key) if key.is_empty() => ProviderCredential::None,
        (LlmProviderKind::Vertex | LlmProviderKind::Bedrock, key) => ProviderCredential::Bearer(key),
        (_, key) => ProviderCredential::Key(key),
    };
    let mut credentials = provider.keys.iter().map(credential);
    let first = credentials.next().unwrap_or_else(|| credential(&provider.key));
    let url = match (provider.url.as_str(), provider.kind.usual_url()) {
        ("", Some(url)) => url.to_owned(),
        ("", None) => format!("https://bedrock-runtime.{}.amazonaws.com", provider.region),
        (url, _) => url.to_owned(),
    };
    let (origin, base_path) = origin_and_path(&url);
    let keys = || AwsKeys {
        access_key_id: secret(&provider.aws_access_key_id),
        secret_access_key: secret(&provider.aws_secret_access_key),
        session_token: Some(secret(&provider.aws_session_token)).filter(|token| !token.is_empty()),
    };
    ProviderTerms {
        name: provider.name.clone(),
        provider: Provider { api: api_of(provider.kind), base_path, credential: first },
        more_credentials: credentials.collect(),
        origin,
        aws: (!provider.aws_access_key_id.is_empty()).then(|| AwsTerms { keys: keys(), region: provider.region.clone() }),
        time_max: time_max(provider),
        patterns: provider.models.clone(),
    }
}

/// Tells which keys in JSON are none of service accounts.
fn check_accounts(llm: &LlmGateway, providers: &[ProviderTerms], context: &mut Context<'_>) {
    for (index, (written, provider)) in llm.providers.iter().zip(providers).enumerate() {
        if written.kind != LlmProviderKind::Vertex {
            continue;
        }
        let credentials = std::iter::once(&provider.provider.credential).chain(&provider.more_credentials).enumerate();
        for (number, credential) in credentials {
            let ProviderCredential::Bearer(text) = credential else { continue };
            if let Some(why) = ServiceAccount::is_one(text).then(|| ServiceAccount::read(text).err()).flatten() {
                let field = if written.keys.is_empty() { "key".to_owned() } else { format!("keys[{number}]") };
                context.error(format!("$.tollgate.llm.providers[{index}].{field}"), why);
            }
        }
    }
}

/// What the provider's requests have of secrets.
fn secrets_of(provider: &ProviderTerms) -> (Vec<String>, String, String) {
    let credentials = std::iter::once(&provider.provider.credential).chain(&provider.more_credentials);
    let keys = credentials.map(|credential| match credential {
        ProviderCredential::Key(key) | ProviderCredential::Bearer(key) => key.clone(),
        ProviderCredential::None => String::new(),
    });
    let aws = provider.aws.as_ref().map(|aws| &aws.keys);
    let secret = aws.map(|keys| format!("{}{}", keys.access_key_id, keys.secret_access_key)).unwrap_or_default();
    (keys.collect(), secret, aws.and_then(|keys| keys.session_token.clone()).unwrap_or_default())
}

fn slow_terms(slow: &LlmSlow) -> Option<SlowTerms> {
    let or = |value: f64, usual: f64| if value > 0.0 { value } else { usual };
    (slow.first_token_s > 0.0).then(|| SlowTerms {
        first_token_max: Duration::from_secs_f64(slow.first_token_s),
        share: or(slow.share, SLOW_SHARE),
        rest: Duration::from_secs_f64(or(slow.rest_s, SLOW_REST_S)),
    })
}

fn price_of(price: &LlmPrice) -> Price {
    let millionths = |usd: f64| (usd * 1e6).round() as u64;
    Price {
        pattern: price.model.clone(),
        input: millionths(price.input),
        cached_read: millionths(price.cached_read.unwrap_or(price.input)),
        cached_write: millionths(price.cached_write.unwrap_or(price.input)),
        has_long_tier: false,
        output: millionths(price.output),
    }
}

fn api_of(kind: LlmProviderKind) -> ProviderApi {
    ProviderApi::OpenAi(match kind {
        LlmProviderKind::Anthropic => return ProviderApi::Anthropic,
        LlmProviderKind::Gemini | LlmProviderKind::Vertex => return ProviderApi::Gemini,
        LlmProviderKind::Bedrock => return ProviderApi::Bedrock,
        LlmProviderKind::Cohere => return ProviderApi::Cohere,
        LlmProviderKind::OpenAi => Flavour::OpenAi,
        LlmProviderKind::Azure => Flavour::Azure,
        LlmProviderKind::Mistral => Flavour::Mistral,
        LlmProviderKind::Groq => Flavour::Groq,
        LlmProviderKind::DeepSeek => Flavour::DeepSeek,
        LlmProviderKind::OpenRouter => Flavour::OpenRouter,
        LlmProviderKind::Ollama => Flavour::Ollama,
        LlmProviderKind::Vllm => Flavour::Vllm,
        LlmProviderKind::LlamaCpp => Flavour::LlamaCpp,
    })
}

/// Scheme and host of a URL, and its path and query, if it has a path.
fn origin_and_path(url: &str) -> (String, Option<String>) {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url.get(start..).and_then(|rest| rest.find('/')).map_or(url.len(), |at| start + at);
    let (origin, path) = url.split_at_checked(end).unwrap_or((url, ""));
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let path = path.trim_end_matches('/');
    let base = query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
    (origin.to_owned(), (!base.is_empty()).then_some(base))
}

fn model_terms(model: &LlmModel, providers: &[LlmProvider]) -> ModelTerms {
    let targets = model.targets.iter().filter_map(|target| {
        let provider = providers.iter().position(|provider| provider.name == target.provider)?;
        let name = if target.model.is_empty() { &model.name } else { &target.model };
        Some(TargetTerms { provider, model: name.clone(), weight: target.weight, priority: target.priority })
    });
    let preference = match model.prefer {
        LlmPreference::Order => Preference::Order,
        LlmPreference::Cost => Preference::Cost,
        LlmPreference::Latency => Preference::Latency,
    };
    ModelTerms { name: model.name.clone(), targets: targets.collect(), preference }
}
