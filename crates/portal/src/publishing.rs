//! What operators publish through the control API: products and pages, drafts too.

use crate::catalogue::{self, ApiProduct, PUBLISHED_MAX, PortalPage, PublishedDocument, is_published_id};
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use tollgate_store::StoreFault;

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
        if is_expected(Some(&old)) { Ok(self.documents.remove(&document).await?) } else { Err(changed()) }
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
        Ok(())
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
        Ok(())
    }
}

/// Somebody else was faster.
fn changed() -> PortalRefusal {
    PortalRefusal::new(412, "changed", "It was changed meanwhile; nothing was written")
}
