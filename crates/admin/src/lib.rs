//! Who operates a gateway: roles and scopes, users and their passwords, tokens, waits after wrong tries, masks for secrets, the lines
//! of audit files, and differences between two versions of a document. No I/O; the clock is a parameter.
#![forbid(unsafe_code)]

pub mod audit;
pub mod difference;
pub mod guesses;
pub mod mask;
pub mod merge;
pub mod operator;
pub mod role;
pub mod scope;
pub mod secret_name;
pub mod tokens;
pub mod tries;
pub mod users;

pub use audit::{AuditChain, AuditCheck, AuditKey};
pub use difference::{Difference, differences};
pub use guesses::Guesses;
pub use mask::{MASK, RawKeys};
pub use operator::{Operator, ProviderSession};
pub use role::Role;
pub use scope::OperatorScope;
pub use tokens::{ApiToken, ApiTokens};
pub use tries::Tries;
pub use users::{User, Users};
