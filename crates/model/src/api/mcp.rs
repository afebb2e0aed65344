//! `tollgate.mcp` of a definition: one MCP server in front of many.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::{is_header_value, is_token};

/// Most servers: a session's name has a part for each, and is a header line.
const SERVERS_MAX: usize = 32;

/// `tollgate.mcp`: the API is one MCP server in front of these.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct McpFederation {
    /// Name that clients see; the API's name if empty.
    pub name: String,
    /// Version that clients see; `1` if empty.
    pub version: String,
    /// What models are told about it.
    pub instructions: String,
    /// Origins of web pages that may call it, such as `https://app.example.com`; pages of its own host always may.
    pub origins: Vec<String>,
    /// Seconds after which the lists of servers are read again; 60 if 0.
    pub lists_s: u64,
    /// The servers. Of two tools of one name, the first server's counts.
    pub servers: Vec<McpServer>,
}

/// A server behind a federation. It has one of `url`, `command` and `api`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct McpServer {
    /// Its name: letters, digits, `-` and `_`; unique.
    pub name: String,
    /// URL of a server over streamable HTTP.
    pub url: String,
    /// Header lines of all requests to that URL.
    pub headers: BTreeMap<String, String>,
    /// Name of a command in the gateway's configuration (`tollgate.mcp_commands`), which runs as a child process.
    pub command: String,
    /// Id of an API with an OpenAPI document, whose operations become tools. They are called with the caller's own credentials.
    pub api: String,
    /// Operations of that API by id, `*` for any text; empty for all.
    pub operations: Vec<String>,
    /// Operations with one of these tags; empty for all.
    pub tags: Vec<String>,
    /// Text before the names of tools and prompts.
    pub prefix: String,
    /// Tools that clients see, `*` for any text; empty for all.
    pub include: Vec<String>,
    /// Tools that clients do not see, `*` for any text.
    pub exclude: Vec<String>,
    /// What of tools is different, by the server's own names.
    pub tools: BTreeMap<String, McpTool>,
    /// Seconds that a call may take; 60 if 0.
    pub timeout_s: f64,
}

/// What is different of a tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct McpTool {
    /// Its name for clients, behind the prefix; the server's own if empty.
    pub name: String,
    /// Its description for models; the server's own if not set.
    pub description: Option<String>,
    /// The schema of its arguments; the server's own if not set.
    pub input_schema: Option<Value>,
    /// The digest of what the server says of it, such as `sha256:…`. While the server says anything else, clients do not see the tool.
    pub digest: String,
}

impl McpFederation {
    /// Adds its problems to `findings`.
    pub(super) fn check(&self, is_mcp: bool, findings: &mut Findings) {
        let at = JsonPath::of("tollgate.mcp");
        if !is_mcp {
            findings.error(&at, "needs application_protocol \"mcp\"");
        }
        let servers = at.key("servers");
        if self.servers.is_empty() || self.servers.len() > SERVERS_MAX {
            findings.error(&servers, format!("must have 1 to {SERVERS_MAX} servers, not {}", self.servers.len()));
        }
        for (index, server) in self.servers.iter().enumerate() {
            let at = servers.index(index);
            let is_taken = self.servers.iter().take(index).any(|other| other.name == server.name);
            server.check(&at, findings);
            if is_taken {
                findings.error(&at.key("name"), format!("is the name of another server: {:?}", server.name));
            }
        }
        self.check_names(&servers, findings);
    }

    /// Reports tools that get one name by the definition alone: clients see the first one.
    fn check_names(&self, servers: &JsonPath, findings: &mut Findings) {
        let mut known: BTreeMap<String, (usize, &str)> = BTreeMap::new();
        for (index, server) in self.servers.iter().enumerate() {
            for (own, tool) in &server.tools {
                let shown = format!("{}{}", server.prefix, if tool.name.is_empty() { own } else { &tool.name });
                let at = servers.index(index).key("tools").key(own);
                match known.get(&shown) {
                    Some((first, other)) if *first == index => {
                        findings.error(&at.key("name"), format!("clients know {own:?} and {other:?} by one name: {shown:?}"));
                    }
                    Some((first, other)) => {
                        let name = self.servers.get(*first).map_or("", |server| &server.name);
                        findings.warning(&at, format!("is {shown:?} for clients, as {other:?} of {name}, which counts"));
                    }
                    None => drop(known.insert(shown, (index, own.as_str()))),
                }
            }
        }
    }
}

impl McpServer {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(fits) {
            findings.error(&at.key("name"), "must be 1 to 64 letters, digits, - and _");
        }
        let ways = [&self.url, &self.command, &self.api].iter().filter(|way| !way.is_empty()).count();
        if ways != 1 {
            findings.error(at, "must have one of url, command and api");
        }
        let is_http = |url: &str| ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
        if !self.url.is_empty() && !is_http(&self.url) {
            findings.error(&at.key("url"), "must begin with http:// or https://");
        }
        for (name, value) in &self.headers {
            if !is_token(name) || !is_header_value(value) {
                findings.error(&at.key("headers").key(name), "is no header, or its value is none");
            }
        }
        if !self.timeout_s.is_finite() || self.timeout_s < 0.0 || self.timeout_s > 86_400.0 {
            findings.error(&at.key("timeout_s"), "must be from 0 to 86400");
        }
    }
}
