//! Compiles a federated MCP server: `tollgate.mcp`.

use super::federated_apis::credential_headers;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tollgate_data::middleware::Context;
use tollgate_data::snapshot::Upstreams;
use tollgate_data::template::{ValueTemplate, VariableScope};
use tollgate_data::upstream::Upstream;
use tollgate_mcp_federation::{
    CommandTerms, FederatedServer, FederationTerms, OperationTerms, Outside, ProcessBounds, ServerTerms, SessionSeal, ToolOverride,
    Transport, ViewTerms,
};
use tollgate_model::api::{ApiDefinition, McpFederation, McpServer};
use tollgate_model::config::McpCommand;
use tollgate_pattern::Glob;

/// How long lists are used, and how long a call may take, if nothing is said.
const SECONDS: u64 = 60;

/// How long a client may think about a question.
const QUESTION_TIME_MAX: Duration = Duration::from_secs(300);

/// The upstream that stands for all servers of a federation.
pub(super) fn upstream(definition: &ApiDefinition, mcp: &McpFederation, context: &mut Context<'_>) -> Option<Upstreams> {
    let servers: Vec<ServerTerms> = mcp
        .servers
        .iter()
        .enumerate()
        .filter_map(|(index, server)| {
            let transport = transport(definition, server, context);
            let transport =
                transport.map_err(|(field, why)| context.error(format!("$.tollgate.mcp.servers[{index}].{field}"), why));
            Some(server_terms(server, transport.ok()?))
        })
        .collect();
    if servers.len() < mcp.servers.len() {
        return None;
    }
    let registry = context.registry.clone();
    let (Some(client), Some(apis)) = (registry.graph_client.0.get(), registry.own_apis.get().cloned()) else {
        // Where requests are only rehearsed, nothing is sent.
        return Some(Upstreams::Nowhere);
    };
    let filled = servers.iter().filter_map(|server| match &server.transport {
        Transport::Http { url, headers, .. } => Some(format!("{url}{headers:?}")),
        Transport::Command(_) | Transport::Operations(_) => None,
    });
    let filled: Vec<String> = filled.collect();
    let or = |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { text.to_owned() };
    let terms = FederationTerms {
        api: definition.api_id.clone(),
        name: or(&mcp.name, &definition.name),
        version: or(&mcp.version, "1"),
        instructions: mcp.instructions.clone(),
        origins: mcp.origins.clone(),
        lists_time: Duration::from_secs(if mcp.lists_s == 0 { SECONDS } else { mcp.lists_s }),
        servers,
    };
    // All that the server is made of: one that stays the same goes on.
    let commands = &context.settings.documents.mcp_commands;
    let written = format!(
        "{:?}{filled:?}{commands:?}{:?}{:?}",
        mcp,
        definition.strip_auth_data,
        context.upstream_tls(definition).for_host("")
    );
    let secret = registry.session_secret.get().copied().unwrap_or_default();
    let seal = SessionSeal::new(&secret, &definition.api_id);
    let server = registry.mcp_server(&definition.api_id, format!("{}{written}", terms.name), || {
        let (mailboxes, calls) = (registry.mailboxes.clone(), registry.federated_calls.clone());
        FederatedServer::new(terms, Outside { client, apis, seal, mailboxes, calls, offers: registry.offered_bodies.clone() })
    });
    let connected = server.clone();
    let upstream = Upstream::within(Arc::new(move || connected.connect()), context.registry);
    Some(Upstreams::One(Upstream { federation: Some(server), ..upstream }))
}

/// How long calls of a federation may take: its servers' own limits end them before.
pub(super) fn answer_time_max(mcp: &McpFederation) -> Duration {
    mcp.servers.iter().map(time_max).max().unwrap_or_default().max(QUESTION_TIME_MAX)
}

/// How a server is reached; else the field that is wrong, and why.
fn transport(definition: &ApiDefinition, server: &McpServer, context: &Context<'_>) -> Result<Transport, (&'static str, String)> {
    if !server.command.is_empty() {
        let known = context.settings.documents.mcp_commands.get(&server.command);
        let why = || format!("{:?} is no command of tollgate.mcp_commands in the configuration", server.command);
        let command = known.ok_or_else(|| ("command", why()))?.clone();
        if command.command.is_empty() {
            return Err(("command", format!("the command {:?} of tollgate.mcp_commands is empty", server.command)));
        }
        let McpCommand { command, environment, directory, memory_mib, processes, cpu_s } = command;
        let bounds = ProcessBounds { memory_mib, processes, cpu_s };
        return Ok(Transport::Command(CommandTerms { command, environment, directory, bounds }));
    }
    if !server.api.is_empty() {
        return Ok(Transport::Operations(OperationTerms {
            api: server.api.clone(),
            include: globs(&server.operations),
            tags: server.tags.clone(),
            credentials: if definition.strip_auth_data { Vec::new() } else { credential_headers(definition) },
        }));
    }
    let scope = VariableScope { context: false, secrets: &context.settings.documents.secrets };
    let filled = |text: &str| ValueTemplate::new(text, scope).literal().unwrap_or(text).to_owned();
    let headers = server.headers.iter().map(|(name, value)| (name.clone(), filled(value))).collect();
    Ok(Transport::Http { url: filled(&server.url), headers, tls: Box::new(context.upstream_tls(definition)) })
}

fn server_terms(server: &McpServer, transport: Transport) -> ServerTerms {
    let tools = || server.tools.iter();
    let overrides: BTreeMap<_, _> = tools()
        .map(|(own, tool)| {
            let (description, input_schema) = (tool.description.clone(), tool.input_schema.clone());
            (own.clone(), ToolOverride { description, input_schema })
        })
        .collect();
    let view = ViewTerms {
        prefix: server.prefix.clone(),
        include: globs(&server.include),
        exclude: globs(&server.exclude),
        renames: tools().filter(|(_, tool)| !tool.name.is_empty()).map(|(own, tool)| (own.clone(), tool.name.clone())).collect(),
        overrides,
        pins: tools().filter(|(_, tool)| !tool.digest.is_empty()).map(|(own, tool)| (own.clone(), tool.digest.clone())).collect(),
    };
    ServerTerms { name: server.name.clone(), transport, view, time_max: time_max(server) }
}

/// How long a call of a server may take.
fn time_max(server: &McpServer) -> Duration {
    Duration::from_secs_f64(if server.timeout_s > 0.0 { server.timeout_s } else { SECONDS as f64 })
}

fn globs(patterns: &[String]) -> Vec<Glob> {
    patterns.iter().map(|pattern| Glob::new(pattern)).collect()
}
