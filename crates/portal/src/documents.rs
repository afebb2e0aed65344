//! Documents of the portal in the store: JSON, read and written whole. A change is made again if another gateway was faster.

use crate::refusal::PortalRefusal;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tollgate_signin::PeopleSessions;
use tollgate_store::{ChangedDocument, DocumentSpace, Store, StoreFault, StoreFaultKind, change_document};

const SPACE: DocumentSpace = DocumentSpace::Portal;
/// Documents that the store is asked for at a time.
const PAGE: usize = 500;

/// How often something was there in a period.
#[derive(Default, Serialize, Deserialize)]
struct PeriodCount {
    count: u32,
}

/// The documents.
#[derive(Clone)]
pub(crate) struct PortalDocuments(Arc<dyn Store>);

impl PortalDocuments {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        PortalDocuments(store)
    }

    /// Sessions of developers.
    pub(crate) fn sessions(&self) -> PeopleSessions<'_> {
        PeopleSessions::new(&*self.0, SPACE)
    }

    /// Notes that something is used that counts once. False if it was used before.
    pub(crate) async fn is_first_use(&self, purpose: &str, text: &str, until_unix_s: u64) -> Result<bool, StoreFault> {
        tollgate_signin::is_first_use(&*self.0, SPACE, purpose, text, until_unix_s).await
    }

    pub(crate) async fn read<T: DeserializeOwned>(&self, id: &str) -> Result<Option<T>, StoreFault> {
        self.0.read(SPACE, id.to_owned()).await?.map(|text| parsed(id, &text)).transpose()
    }

    pub(crate) async fn write<T: Serialize>(&self, id: &str, value: &T, expires_unix_s: Option<u64>) -> Result<(), StoreFault> {
        self.0.write(SPACE, id.to_owned(), text(value)?, expires_unix_s).await.map(drop)
    }

    /// Stores a document unless there is one. Tells whether there was none.
    pub(crate) async fn add<T: Serialize>(&self, id: &str, value: &T, expires_unix_s: Option<u64>) -> Result<bool, StoreFault> {
        self.0.write_over(SPACE, id.to_owned(), None, text(value)?, expires_unix_s).await.map(|existed| !existed)
    }

    /// Removes a document. Tells whether this call did.
    pub(crate) async fn remove(&self, id: &str) -> Result<bool, StoreFault> {
        self.0.remove(SPACE, id.to_owned()).await
    }

    /// Replaces a document by what `change` makes of it, or adds it. `change` may run several times. Returns what was written.
    pub(crate) async fn change<T: Serialize + DeserializeOwned>(
        &self,
        id: &str,
        expires_unix_s: Option<u64>,
        change: impl Fn(Option<T>) -> Result<T, PortalRefusal>,
    ) -> Result<T, PortalRefusal> {
        let change = |old: Option<&[u8]>| {
            let after = change(old.map(|text| parsed(id, text)).transpose()?)?;
            Ok::<_, PortalRefusal>(ChangedDocument { value: text(&after)?, expires_unix_s, told: after })
        };
        change_document(&*self.0, SPACE, id, change).await
    }

    /// Counts something in the present period of so many seconds, in a document that begins with `name`.
    ///
    /// # Errors
    /// It has been there as often as it may be in this period: wait for the next one.
    pub(crate) async fn count_within(
        &self,
        name: &str,
        (now, period_s): (u64, u64),
        most: u32,
        message: &str,
    ) -> Result<(), PortalRefusal> {
        let period = now / period_s;
        let count = |old: Option<PeriodCount>| {
            let count = old.unwrap_or_default().count;
            if count >= most {
                return Err(PortalRefusal::wait((period + 1) * period_s - now, message));
            }
            Ok(PeriodCount { count: count + 1 })
        };
        self.change(&format!("{name}-{period}"), Some((period + 2) * period_s), count).await.map(drop)
    }

    /// At most `most` documents whose ids begin with `prefix`, sorted by id.
    pub(crate) async fn list<T: DeserializeOwned>(&self, prefix: &str, most: usize) -> Result<Vec<(String, T)>, StoreFault> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = self.0.page(SPACE, prefix.to_owned(), after, PAGE.min(most - found.len())).await?;
            for (id, text) in &page.documents {
                found.push((id.clone(), parsed(id, text)?));
            }
            after = page.next;
            if after.is_none() || found.len() >= most {
                return Ok(found);
            }
        }
    }
}

fn parsed<T: DeserializeOwned>(id: &str, text: &[u8]) -> Result<T, StoreFault> {
    serde_json::from_slice(text)
        .map_err(|error| StoreFault::new(StoreFaultKind::Corrupt, format_args!("{id} of the portal: {error}")))
}

fn text<T: Serialize>(value: &T) -> Result<Vec<u8>, StoreFault> {
    serde_json::to_vec(value).map_err(|error| StoreFault::new(StoreFaultKind::Mismatch, error))
}
