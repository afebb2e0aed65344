//! Fields of Tyk's sessions without effect.

use crate::known_field::KnownField;
use crate::known_field::ReportWhen::{Never, Set};

pub(super) const FIELDS: &[KnownField] = &[("_id", Never), ("key_id", Never), ("key_hash", Never)];

/// Fields of access rights, in sessions and in policies.
pub(crate) const RIGHT_FIELDS: &[KnownField] = &[
    ("access_rights.*.json_rpc_methods", Set),
    ("access_rights.*.json_rpc_methods_access_rights", Set),
    ("access_rights.*.mcp_primitives", Set),
    ("access_rights.*.mcp_access_rights", Set),
];
