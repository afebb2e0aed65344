//! What operators publish through the control API: products and pages, drafts too.

use crate::catalogue::{self, ApiProduct, PUBLISHED_MAX, PortalPage, PublishedDocument, is_published_id};
use crate::documents::PortalDocuments;
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use std::collections::HashSet;
use std::sync::Arc;
use tollgate_access::secret::random_text;
use tollgate_store::{Store, StoreFault, StoreFaultKind};

/// Document with a text that is another one after each change.
const VERSION: &str = "published";

impl Portal {
    /// All products or pages, in their order.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn all_published<T: PublishedDocument>(&self) -> Result<Vec<T>, PortalRefusal> {
        Ok(catalogue::all(&self.documents).await?)
    }

    /// A product or page.
    ///
    /// # Errors
    /// There is none with this id, or the store does not answer.
    pub async fn one_published<T: PublishedDocument>(&self, id: &str) -> Result<T, PortalRefusal> {
        catalogue::one(&self.documents, id).await
    }

    /// Publishes a product or page in the place of one that `is_expected`, or of none. Tells whether it is new.
    ///
    /// # Errors
    /// What is wrong with it; status 412 if another one is there than was expected.
    pub async fn put_published<T: PublishedDocument>(
        &self,
        document: &T,
        is_expected: impl Fn(Option<&T>) -> bool,
    ) -> Result<bool, PortalRefusal> {
        document.check().and_then(|()| document.check_names(&*self.door)).map_err(PortalRefusal::invalid)?;
        let id = T::document(document.id());
        let is_new = self.documents.read::<T>(&id).await?.is_none();
        if is_new && self.all_published::<T>().await?.len() >= PUBLISHED_MAX {
            return Err(PortalRefusal::full(PUBLISHED_MAX, &format!("{}s", T::WHAT)));
        }
        let replace = |old: Option<T>| if is_expected(old.as_ref()) { Ok(document.clone()) } else { Err(changed()) };
        self.documents.change(&id, None, replace).await?;
        self.has_changed().await?;
        Ok(is_new)
    }

    /// Takes a product or page away, if it `is_expected`. Keys of a product go on. False if there was none.
    ///
    /// # Errors
    /// Another one is there than was expected, or the store does not answer.
    pub async fn remove_published<T: PublishedDocument>(
        &self,
        id: &str,
        is_expected: impl Fn(Option<&T>) -> bool,
    ) -> Result<bool, PortalRefusal> {
        if !is_published_id(id) {
            return Ok(false);
        }
        let document = T::document(id);
        let Some(old) = self.documents.read::<T>(&document).await? else { return Ok(false) };
        if !is_expected(Some(&old)) {
            return Err(changed());
        }
        let is_removed = self.documents.remove(&document).await?;
        self.has_changed().await?;
        Ok(is_removed)
    }

    /// All products and pages, drafts too.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn published(&self) -> Result<(Vec<ApiProduct>, Vec<PortalPage>), StoreFault> {
        Ok((catalogue::all(&self.documents).await?, catalogue::all(&self.documents).await?))
    }

    /// Publishes what is known to be right in its form. Whether its APIs and policies exist is not asked: what does not exist is left out of the
    /// catalogue.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn publish(&self, products: &[ApiProduct], pages: &[PortalPage]) -> Result<(), StoreFault> {
        for product in products {
            self.documents.write(&ApiProduct::document(&product.id), product, None).await?;
        }
        for page in pages {
            self.documents.write(&PortalPage::document(&page.id), page, None).await?;
        }
        self.has_changed().await
    }

    /// Takes products and pages away, by id.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn unpublish(&self, products: &[String], pages: &[String]) -> Result<(), StoreFault> {
        let products = products.iter().filter(|id| is_published_id(id)).map(|id| ApiProduct::document(id));
        let pages = pages.iter().filter(|id| is_published_id(id)).map(|id| PortalPage::document(id));
        for document in products.chain(pages) {
            self.documents.remove(&document).await?;
        }
        self.has_changed().await
    }

    /// A text that is another one after each change of what is published; `None` before the first.
    pub(crate) async fn published_version(&self) -> Result<Option<String>, StoreFault> {
        self.documents.read(VERSION).await
    }

    /// Tells this gateway and all others that something was published or taken away.
    async fn has_changed(&self) -> Result<(), StoreFault> {
        let version = random_text().map_err(|error| StoreFault::new(StoreFaultKind::Io, error))?;
        self.documents.write(VERSION, &version, None).await?;
        self.door.set_tried(tried(&self.documents).await?);
        Ok(())
    }
}

/// What is published, as a gateway without a portal follows it.
pub struct PublishedWatch {
    documents: PortalDocuments,
    /// The version that was seen last; the outer `None` before the first look.
    seen: Option<Option<String>>,
}

impl PublishedWatch {
    /// Nothing has been seen yet.
    pub fn new(store: Arc<dyn Store>) -> Self {
        PublishedWatch { documents: PortalDocuments::new(store), seen: None }
    }

    /// Ids of the APIs in products that developers see; `None` if nothing has changed since the last time.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn changed(&mut self) -> Result<Option<HashSet<String>>, StoreFault> {
        // Read first: what is changed meanwhile has another version the next time.
        let version = self.documents.read::<String>(VERSION).await?;
        if self.seen.as_ref() == Some(&version) {
            return Ok(None);
        }
        let apis = tried(&self.documents).await?;
        self.seen = Some(version);
        Ok(Some(apis))
    }
}

async fn tried(documents: &PortalDocuments) -> Result<HashSet<String>, StoreFault> {
    let products = catalogue::all::<ApiProduct>(documents).await?;
    Ok(products.into_iter().filter(|product| !product.is_draft).flat_map(|product| product.apis).collect())
}

/// Somebody else was faster.
fn changed() -> PortalRefusal {
    PortalRefusal::new(412, "changed", "It was changed meanwhile; nothing was written")
}
