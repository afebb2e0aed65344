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
mod client_session;
mod client_stream;
mod command;
mod decided_call;
mod digests;
mod entry_check;
mod event_place;
mod federated;
mod federated_call;
mod health;
mod http_server;
mod inspection;
mod last_words;
mod legacy;
mod lines;
mod link;
mod list_page;
mod mailboxes;
mod memory;
mod message;
mod modern;
mod operation_body;
mod operations;
mod outside;
mod process;
mod process_bounds;
mod reading;
mod relay;
mod running_call;
mod seal;
mod server;
mod session_marks;
mod session_stream;
mod state;
mod task_route;
mod tasks;
mod terms;
mod tool_route;
mod unasked;
mod unlisted;
mod version;
mod waiting_call;
mod weight;

pub use decided_call::DecidedCall;
pub use federated::FederatedServer;
pub use federated_call::FederatedCall;
pub use health::ProcessFigures;
pub use inspection::{Primitive, ServerKind, ServerStanding, ServerState};
pub use mailboxes::{Mailboxes, OtherGateways};
pub use outside::{ApiAccess, ApiReply, CallerRights, Outside, OwnApis, OwnRequest};
pub use process::end_all_processes;
pub use process_bounds::ProcessBounds;
pub use seal::SessionSeal;
pub use terms::{CommandTerms, FederationTerms, OperationTerms, ServerTerms, ToolOverride, Transport, ViewTerms};
