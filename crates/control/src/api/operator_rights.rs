//! Roles and scopes as the control API shows and takes them.

use serde::{Deserialize, Serialize};
use tollgate_admin::{OperatorScope, Role};
use utoipa::ToSchema;

/// A viewer reads, without secrets; an editor changes everything but users; an admin may do everything.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum UserRole {
    Viewer,
    Editor,
    Admin,
}

impl From<Role> for UserRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Viewer => UserRole::Viewer,
            Role::Editor => UserRole::Editor,
            Role::Admin => UserRole::Admin,
        }
    }
}

impl From<UserRole> for Role {
    fn from(role: UserRole) -> Self {
        match role {
            UserRole::Viewer => Role::Viewer,
            UserRole::Editor => Role::Editor,
            UserRole::Admin => Role::Admin,
        }
    }
}

/// What someone reaches: APIs with one of these tags, or of one of these organisations, and what belongs to them.
#[derive(Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ShownScope {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    orgs: Vec<String>,
}

impl ShownScope {
    /// A scope for people; `None` for everything.
    pub(super) fn of(scope: &OperatorScope) -> Option<Self> {
        (!scope.is_whole()).then(|| ShownScope { tags: scope.tags.clone(), orgs: scope.orgs.clone() })
    }
}

impl From<ShownScope> for OperatorScope {
    fn from(ShownScope { tags, orgs }: ShownScope) -> Self {
        OperatorScope { tags, orgs }
    }
}
