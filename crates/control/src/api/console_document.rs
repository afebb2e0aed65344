//! One document in the store that all gateways change, such as the users of the console. It is read again every few seconds where it need
//! not be the newest.

use super::Control;
use arc_swap::ArcSwap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tollgate_clock::unix_s;
use tollgate_store::{ChangedDocument, DocumentSpace, StoreFault, StoreFaultKind, change_document};

/// Seconds after which the document is read again.
const READ_AGAIN_S: u64 = 5;

/// The document as it was read last.
pub(super) struct ConsoleDocument<D> {
    /// Its id, and what it is called in messages.
    id: &'static str,
    known: ArcSwap<D>,
    read_unix_s: AtomicU64,
}

impl<D: Default + Serialize + DeserializeOwned> ConsoleDocument<D> {
    pub(super) fn new(id: &'static str) -> Self {
        ConsoleDocument { id, known: ArcSwap::default(), read_unix_s: AtomicU64::new(0) }
    }

    /// The document, as far as known.
    pub(super) fn known(&self) -> Arc<D> {
        self.known.load_full()
    }

    /// Reads the document.
    pub(super) async fn load(&self, control: &Control) -> Result<Arc<D>, StoreFault> {
        let stored = control.shared.keys.store().read(DocumentSpace::Console, self.id.to_owned()).await?;
        let document = Arc::new(self.parsed(stored.as_deref())?);
        self.keep(document.clone());
        Ok(document)
    }

    /// Reads it if that was not done lately. A store that does not answer changes nothing: who is signed in must be able to work.
    pub(super) async fn look(&self, control: &Control) {
        let now = unix_s();
        let last = self.read_unix_s.load(Ordering::Relaxed);
        let is_first = || self.read_unix_s.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if now.saturating_sub(last) >= READ_AGAIN_S
            && is_first()
            && let Err(fault) = self.load(control).await
        {
            tracing::warn!(%fault, document = self.id, "what the console keeps can't be read");
            self.read_unix_s.store(last, Ordering::Relaxed);
        }
    }

    /// Changes the document; `change` may run several times.
    pub(super) async fn change<T>(
        &self,
        control: &Control,
        change: impl Fn(&mut D) -> Result<T, String>,
    ) -> Result<Result<T, String>, StoreFault> {
        let change = |old: Option<&[u8]>| {
            let mut document = self.parsed(old)?;
            let result = change(&mut document).map_err(NotChanged::Refused)?;
            let value = serde_json::to_vec(&document).unwrap_or_default();
            Ok::<_, NotChanged>(ChangedDocument { value, expires_unix_s: None, told: (result, document) })
        };
        match change_document(control.shared.keys.store(), DocumentSpace::Console, self.id, change).await {
            Ok((result, document)) => {
                self.keep(Arc::new(document));
                Ok(Ok(result))
            }
            Err(NotChanged::Refused(why)) => Ok(Err(why)),
            Err(NotChanged::Fault(fault)) => Err(fault),
        }
    }

    /// The same for a change of something that may not be there; `None` if it is not.
    pub(super) async fn change_found<T>(
        &self,
        control: &Control,
        change: impl Fn(&mut D) -> Option<T>,
    ) -> Result<Option<T>, StoreFault> {
        let changed = self.change(control, |document| change(document).ok_or_else(String::new)).await?;
        Ok(changed.ok())
    }

    fn keep(&self, document: Arc<D>) {
        self.known.store(document);
        self.read_unix_s.store(unix_s(), Ordering::Relaxed);
    }

    fn parsed(&self, stored: Option<&[u8]>) -> Result<D, StoreFault> {
        let Some(stored) = stored else { return Ok(D::default()) };
        let unreadable =
            |failure| StoreFault::new(StoreFaultKind::Corrupt, format_args!("the {} can't be read: {failure}", self.id));
        serde_json::from_slice(stored).map_err(unreadable)
    }
}

/// Why the document stays as it is.
enum NotChanged {
    /// Whoever wanted the change says why.
    Refused(String),
    Fault(StoreFault),
}

impl From<StoreFault> for NotChanged {
    fn from(fault: StoreFault) -> Self {
        NotChanged::Fault(fault)
    }
}
