//! What the users in the store say about those who are signed in.

use crate::api::Control;
use crate::api::console_document::ConsoleDocument;
use tollgate_admin::{Operator, Users, users};

/// The id of the document.
pub(super) const DOCUMENT: &str = "users";

/// The operator as they are now; `None` if the user does not exist any more. A user who was removed elsewhere is signed out as soon as the
/// users are read again. Who signed in at a provider is no user, and whether it ended their session is asked elsewhere.
pub(super) async fn current(users: &ConsoleDocument<Users>, control: &Control, operator: &Operator) -> Option<Operator> {
    if operator.name == users::SECRET || operator.provider.is_some() {
        return Some(operator.clone());
    }
    users.look(control).await;
    users.known().get(&operator.name).map(Operator::of_user)
}
