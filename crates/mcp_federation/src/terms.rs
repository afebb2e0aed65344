//! What is federated, as compiled.

use crate::process_bounds::ProcessBounds;
use std::collections::BTreeMap;
use std::time::Duration;
use tollgate_pattern::Glob;
use tollgate_tls::TlsSettings;

/// One federated MCP server.
pub struct FederationTerms {
    /// Id of its API, for the log.
    pub api: String,
    /// Its name, as clients see it.
    pub name: String,
    /// Its version, as clients see it.
    pub version: String,
    /// What models are told about it; empty for nothing.
    pub instructions: String,
    /// Origins of web pages that may call it, beside its own.
    pub origins: Vec<String>,
    /// How long lists of servers are used before they are read again.
    pub lists_time: Duration,
    /// The servers behind it, in the order in which names are given.
    pub servers: Vec<ServerTerms>,
}

/// A server behind it.
pub struct ServerTerms {
    /// Its name, unique in the federation.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// What clients see of it.
    pub view: ViewTerms,
    /// Longest time of a call.
    pub time_max: Duration,
}

/// How a server is reached.
pub enum Transport {
    /// Streamable HTTP.
    Http {
        /// The absolute URL of its endpoint.
        url: String,
        /// Header lines of all requests, such as its credentials.
        headers: Vec<(String, String)>,
        /// How its certificate is checked.
        tls: Box<TlsSettings>,
    },
    /// A child process that speaks over its standard input and output.
    Command(CommandTerms),
    /// Operations of an API of the gateway.
    Operations(OperationTerms),
}

/// A child process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandTerms {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its whole environment: it gets nothing of the gateway's.
    pub environment: BTreeMap<String, String>,
    /// Where it runs; empty for where the gateway runs.
    pub directory: String,
    /// What it and all that it starts may use.
    pub bounds: ProcessBounds,
}

/// Operations of an API with an OpenAPI document.
pub struct OperationTerms {
    /// Id of the API.
    pub api: String,
    /// Operations by id; empty for all.
    pub include: Vec<Glob>,
    /// Operations with one of these tags; empty for all.
    pub tags: Vec<String>,
    /// Where the federation's clients have their credentials: methods of authentication, each with its header. The API gets them where it reads
    /// those of the same methods.
    pub credentials: Vec<(String, String)>,
}

/// What clients see of a server.
#[derive(Default)]
pub struct ViewTerms {
    /// Before the names of its tools and prompts.
    pub prefix: String,
    /// Tools that are shown; empty for all.
    pub include: Vec<Glob>,
    /// Tools that are not shown.
    pub exclude: Vec<Glob>,
    /// Other names of tools, without the prefix.
    pub renames: BTreeMap<String, String>,
    /// What else of tools is replaced, by the server's own name.
    pub overrides: BTreeMap<String, ToolOverride>,
    /// Digests of tools, by the server's own name. A tool with another digest is withheld.
    pub pins: BTreeMap<String, String>,
}

/// Replaced parts of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOverride {
    /// Its description.
    pub description: Option<String>,
    /// The schema of its arguments.
    pub input_schema: Option<serde_json::Value>,
}
