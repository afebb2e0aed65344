//! Routing from host and path to an API.

mod conditions;
mod host;
mod router;
mod template;

pub(crate) use host::{Hosts, normal_host};

pub use conditions::{RoutedRequest, RuleConditions, RulePath, ValueCondition, ValuePattern};
pub use host::{check_host, normal_domain};
pub use router::{Found, FoundRule, Router, RouterBuilder, Unrouted, check_listen_path, listen_path_weight};
