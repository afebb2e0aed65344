//! Whole chains without a process: definitions go in as files, requests as bytes, and time passes only where a test says so.
//!
//! For tests that ask which verdict a chain comes to, what the upstream gets, what the client gets, or what counts. What depends on sockets,
//! signals, threads or the program's own life belongs into `tests/e2e`. Both write their tests in the same way.

mod harness;

mod asked_servers;
mod auth_alternatives;
mod body_transforms;
mod breaker;
mod cache;
mod cors;
mod deprecation;
mod error_overrides;
mod errors;
mod headers;
mod ingress_members;
mod jq_transforms;
mod jwt;
mod key_access;
mod key_limits;
mod key_rings;
mod key_signatures;
mod limiters;
mod limits;
mod mcp_heads;
mod openid;
mod orgs;
mod paths;
mod policies;
mod protections;
mod request_limits;
mod route_filters;
mod routes;
mod routing;
mod signatures;
mod target_choice;
mod validate_json;
mod variables;
mod versions;
mod waf;
mod waf_own_traffic;
mod waf_responses;
