//! Who changes definitions and policies.

use tollgate_admin::{Operator, OperatorScope, users};
use tollgate_data::control_caller::ControlCaller;

/// Who made a change.
#[derive(Clone)]
pub enum ChangeAuthor {
    /// Somebody who changed files; a reload found it.
    Files,
    /// A caller of the control API.
    Caller(Option<Operator>, Option<ControlCaller>),
}

impl ChangeAuthor {
    /// Who it is in the log of changes.
    pub fn operator(&self) -> Option<Operator> {
        match self {
            ChangeAuthor::Files => Some(Operator {
                name: users::FILES.to_owned(),
                role: tollgate_admin::Role::Admin,
                scope: OperatorScope::default(),
                provider: None,
            }),
            ChangeAuthor::Caller(operator, _) => operator.clone(),
        }
    }

    pub fn caller(&self) -> Option<ControlCaller> {
        match self {
            ChangeAuthor::Files => None,
            ChangeAuthor::Caller(_, caller) => *caller,
        }
    }
}
