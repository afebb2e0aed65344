//! What operators publish through the control API: products and pages, drafts too.

use crate::catalogue::{self, ApiProduct, PUBLISHED_MAX, PortalPage, is_published_id};
use crate::portal::Portal;
use crate::refusal::PortalRefusal;
use tollgate_store::StoreFault;

impl Portal {
    /// All products.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn products(&self) -> Result<Vec<ApiProduct>, PortalRefusal> {
        Ok(catalogue::products(&self.documents).await?)
    }

    /// Publishes a product. Tells whether it is new.
    ///
    /// # Errors
    /// What is wrong with it.
    pub async fn put_product(&self, product: &ApiProduct) -> Result<bool, PortalRefusal> {
        product.check().map_err(PortalRefusal::invalid)?;
        for (index, api) in product.apis.iter().enumerate() {
            if self.door.api(api).is_none() {
                return Err(PortalRefusal::invalid(format!("apis[{index}]: there is no API {api:?}")));
            }
        }
        for (index, plan) in product.plans.iter().enumerate() {
            if !self.door.has_policy(&plan.policy) {
                return Err(PortalRefusal::invalid(format!("plans[{index}].policy: there is no policy {:?}", plan.policy)));
            }
        }
        let id = format!("{}{}", ApiProduct::ALL, product.id);
        let is_new = self.documents.read::<ApiProduct>(&id).await?.is_none();
        if is_new && self.products().await?.len() >= PUBLISHED_MAX {
            return Err(PortalRefusal::full(PUBLISHED_MAX, "products"));
        }
        self.documents.write(&id, product, None).await?;
        Ok(is_new)
    }

    /// Takes a product out of the catalogue. Its keys go on. False if there was none.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn remove_product(&self, id: &str) -> Result<bool, PortalRefusal> {
        Ok(is_published_id(id) && self.documents.remove(&format!("{}{id}", ApiProduct::ALL)).await?)
    }

    /// All pages.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn pages(&self) -> Result<Vec<PortalPage>, PortalRefusal> {
        Ok(catalogue::pages(&self.documents).await?)
    }

    /// Publishes a page. Tells whether it is new.
    ///
    /// # Errors
    /// What is wrong with it.
    pub async fn put_page(&self, page: &PortalPage) -> Result<bool, PortalRefusal> {
        page.check().map_err(PortalRefusal::invalid)?;
        let id = format!("{}{}", PortalPage::ALL, page.id);
        let is_new = self.documents.read::<PortalPage>(&id).await?.is_none();
        if is_new && self.pages().await?.len() >= PUBLISHED_MAX {
            return Err(PortalRefusal::full(PUBLISHED_MAX, "pages"));
        }
        self.documents.write(&id, page, None).await?;
        Ok(is_new)
    }

    /// Removes a page. False if there was none.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn remove_page(&self, id: &str) -> Result<bool, PortalRefusal> {
        Ok(is_published_id(id) && self.documents.remove(&format!("{}{id}", PortalPage::ALL)).await?)
    }

    /// All products and pages, drafts too.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn published(&self) -> Result<(Vec<ApiProduct>, Vec<PortalPage>), StoreFault> {
        Ok((catalogue::products(&self.documents).await?, catalogue::pages(&self.documents).await?))
    }

    /// Publishes what is known to be right in its form. Whether its APIs and policies exist is not asked: what does not exist is left out of the
    /// catalogue.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn publish(&self, products: &[ApiProduct], pages: &[PortalPage]) -> Result<(), StoreFault> {
        for product in products {
            self.documents.write(&format!("{}{}", ApiProduct::ALL, product.id), product, None).await?;
        }
        for page in pages {
            self.documents.write(&format!("{}{}", PortalPage::ALL, page.id), page, None).await?;
        }
        Ok(())
    }

    /// Takes products and pages away, by id.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn unpublish(&self, products: &[String], pages: &[String]) -> Result<(), StoreFault> {
        for (all, ids) in [(ApiProduct::ALL, products), (PortalPage::ALL, pages)] {
            for id in ids.iter().filter(|id| is_published_id(id)) {
                self.documents.remove(&format!("{all}{id}")).await?;
            }
        }
        Ok(())
    }
}
