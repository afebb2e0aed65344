//! What records need to know about an API. Compiled with the API.

use super::record_hook::RecordHook;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;
use tollgate_model::api::ApiDefinition;

/// Facts of one version of an API.
#[derive(Clone, Debug, Default)]
pub struct ApiMetadata {
    pub serial: u64,
    pub id: String,
    pub name: String,
    pub org_id: String,
    pub listen_path: String,
    /// Tags of each record: those of the definition.
    pub own_tags: Vec<String>,
    /// Tags of each record, behind all others: the organisation and the API.
    pub tags: Vec<String>,
    /// Host of the target, for requests that get to no upstream.
    pub target_host: String,
    /// What kind of API it is, as Tyk's access log names it.
    pub kind: &'static str,
    /// Time in seconds after which its records expire; 0 for never.
    pub expire_after_s: i64,
    /// Request headers whose values become tags; lower case.
    pub tag_headers: Vec<String>,
    /// Whether whole requests and responses are recorded.
    pub detailed: bool,
    /// The schema of a GraphQL API in Base64; empty for all others, and for parts of a federation.
    pub graphql_schema: String,
    /// Whether traces have a span for each middleware.
    pub detailed_tracing: bool,
    /// Whether it is a proxy for the Model Context Protocol.
    pub is_mcp: bool,
    /// Whether it is in front of language models: what is asked and answered is only recorded if the API itself says so.
    pub is_llm: bool,
    /// Whether nothing is recorded.
    pub do_not_track: bool,
    /// The plugin that changes its records.
    pub record_hook: Option<Arc<RecordHook>>,
    /// Headers, query parameters and cookies that carry keys.
    pub secrets: Secrets,
}

/// Where requests of an API carry secrets; all names are lower case.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    pub headers: Vec<String>,
    pub parameters: Vec<String>,
}

impl ApiMetadata {
    /// The facts of a definition. `serial` is unique among all versions of all APIs.
    pub fn new(serial: u64, definition: &ApiDefinition, listen_path: &str) -> Self {
        let places = || std::iter::once(&definition.auth).chain(definition.auth_configs.values());
        let always = ["authorization", "cookie", "proxy-authorization"].into_iter();
        let headers = always.chain(places().filter_map(|place| place.header()));
        ApiMetadata {
            serial,
            id: definition.api_id.clone(),
            name: definition.name.clone(),
            org_id: definition.org_id.clone(),
            listen_path: listen_path.to_owned(),
            own_tags: if definition.tags_disabled { Vec::new() } else { definition.tags.clone() },
            tags: tags(&definition.org_id, &definition.api_id),
            target_host: target_host(&definition.proxy.target_url).to_owned(),
            kind: "classic",
            expire_after_s: definition.expire_analytics_after,
            tag_headers: definition.tag_headers.iter().map(|name| name.to_ascii_lowercase()).collect(),
            // As in Tyk, whose pumps for GraphQL read queries from whole requests.
            detailed: definition.enable_detailed_recording || definition.graphql.enabled && !definition.graphql.is_subgraph(),
            graphql_schema: graphql_schema(definition),
            detailed_tracing: definition.detailed_tracing,
            is_mcp: definition.is_mcp(),
            is_llm: definition.tollgate.llm.is_some(),
            do_not_track: definition.do_not_track,
            record_hook: None,
            secrets: Secrets {
                headers: headers.map(str::to_ascii_lowercase).collect(),
                parameters: places().filter_map(|place| place.param()).map(str::to_ascii_lowercase).collect(),
            },
        }
    }
}

/// As in Tyk, parts of a federation are recorded like other APIs.
fn graphql_schema(definition: &ApiDefinition) -> String {
    let graphql = &definition.graphql;
    if graphql.enabled && !graphql.is_subgraph() { STANDARD.encode(graphql.request_schema()) } else { String::new() }
}

/// Host and port of a URL.
fn target_host(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

/// Tags of an API.
pub(super) fn tags(org_id: &str, api_id: &str) -> Vec<String> {
    let org = (!org_id.is_empty()).then(|| format!("org-{org_id}"));
    org.into_iter().chain([format!("api-{api_id}")]).collect()
}
