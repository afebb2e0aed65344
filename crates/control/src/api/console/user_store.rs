//! The users in the store: one document, read again every few seconds because another gateway may have changed it.

use crate::api::Control;
use arc_swap::ArcSwap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tollgate_admin::{Operator, Role, Users, users};
use tollgate_clock::unix_s;
use tollgate_store::{DocumentSpace, StoreFault, StoreFaultKind};

/// The id of the document.
const DOCUMENT: &str = "users";
/// Seconds after which the document is read again: a user who was removed elsewhere is signed out that much later.
const READ_AGAIN_S: u64 = 5;
/// Tries to change the document while others change it.
const CHANGES_MAX: usize = 16;

/// The users as they were read last.
#[derive(Default)]
pub(in crate::api) struct UserStore {
    known: ArcSwap<Users>,
    read_unix_s: AtomicU64,
}

impl UserStore {
    /// Whether there are users, as far as known.
    pub(super) fn are_known(&self) -> bool {
        self.count() > 0
    }

    /// Number of users, as far as known.
    pub(super) fn count(&self) -> usize {
        self.known.load().users.len()
    }

    /// Reads the users.
    pub(in crate::api) async fn load(&self, control: &Control) -> Result<Arc<Users>, StoreFault> {
        let (users, _) = read(control).await?;
        let users = Arc::new(users);
        self.keep(users.clone());
        Ok(users)
    }

    /// Reads the users if that was not done lately. A store that does not answer changes nothing: who is signed in must be able to work.
    pub(super) async fn look(&self, control: &Control) {
        let now = unix_s();
        let last = self.read_unix_s.load(Ordering::Relaxed);
        let is_first = || self.read_unix_s.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if now.saturating_sub(last) >= READ_AGAIN_S
            && is_first()
            && let Err(fault) = self.load(control).await
        {
            tracing::warn!(%fault, "the console's users can't be read");
            self.read_unix_s.store(last, Ordering::Relaxed);
        }
    }

    /// The role that an operator has now; `None` if the user does not exist any more.
    pub(super) async fn current_role(&self, control: &Control, operator: &Operator) -> Option<Role> {
        if operator.name == users::SECRET {
            return Some(operator.role);
        }
        self.look(control).await;
        self.known.load().get(&operator.name).map(|user| user.role)
    }

    /// Changes the users; `change` may run several times.
    pub(in crate::api) async fn change<T>(
        &self,
        control: &Control,
        change: impl Fn(&mut Users) -> Result<T, String>,
    ) -> Result<Result<T, String>, StoreFault> {
        for _ in 0..CHANGES_MAX {
            let (mut users, old) = read(control).await?;
            let result = match change(&mut users) {
                Ok(result) => result,
                Err(why) => return Ok(Err(why)),
            };
            let value = serde_json::to_vec(&users).unwrap_or_default();
            let (kind, id) = (DocumentSpace::Console, DOCUMENT.to_owned());
            let is_new = old.is_none();
            let existed = control.shared.keys.store().write_over(kind, id, old, value, None).await?;
            if existed != is_new {
                self.keep(Arc::new(users));
                return Ok(Ok(result));
            }
        }
        Err(StoreFault::new(StoreFaultKind::Unavailable, "the users change faster than they can be written"))
    }

    fn keep(&self, users: Arc<Users>) {
        self.known.store(users);
        self.read_unix_s.store(unix_s(), Ordering::Relaxed);
    }
}

async fn read(control: &Control) -> Result<(Users, Option<Vec<u8>>), StoreFault> {
    let Some(document) = control.shared.keys.store().read(DocumentSpace::Console, DOCUMENT.to_owned()).await? else {
        return Ok((Users::default(), None));
    };
    let users = serde_json::from_slice(&document)
        .map_err(|failure| StoreFault::new(StoreFaultKind::Corrupt, format_args!("the users can't be read: {failure}")))?;
    Ok((users, Some(document)))
}
