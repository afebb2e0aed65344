//! One MCP server in front of many. Clients see the tools, resources and prompts of all servers under names of their own; each call goes to the
//! server that it is for. Clients and servers may speak any version of the protocol from 2025-06-18 on; what one side lacks is translated or
//! not offered. Servers are reached over HTTP, are child processes, or are operations of the gateway's own APIs.
//!
//! It knows nothing of keys, limits and rules: the data path decides about each call before it comes here, and filters what lists show. It
//! never hands a client's credentials to a server; only an API of the gateway itself gets them.
#![forbid(unsafe_code)]

mod agreements;
mod answer;
mod asked_client;
mod backend;
mod catalogue;
mod client;
mod command;
mod digests;
mod entry_check;
mod event_place;
mod federated;
mod health;
mod http_server;
mod inspection;
mod last_words;
mod legacy;
mod lines;
mod link;
mod mailboxes;
mod memory;
mod message;
mod modern;
mod operation_body;
mod operations;
mod outcome;
mod outside;
mod process;
mod reading;
mod relay;
mod running_call;
mod seal;
mod server;
mod session_stream;
mod state;
mod terms;
mod tool_route;
mod unasked;
mod unlisted;
mod version;
mod waiting_call;
mod weight;

pub use federated::FederatedServer;
pub use health::ProcessFigures;
pub use inspection::{Primitive, ServerKind, ServerStanding, ServerState};
pub use mailboxes::{Mailboxes, OtherGateways};
pub use outcome::{CallOutcomes, OpenOutcome};
pub use outside::{ApiReply, Outside, OwnApis, OwnRequest};
pub use process::end_all_processes;
pub use seal::SessionSeal;
pub use terms::{CommandTerms, FederationTerms, OperationTerms, ServerTerms, ToolOverride, Transport, ViewTerms};
pub use unlisted::unlisted_response;
