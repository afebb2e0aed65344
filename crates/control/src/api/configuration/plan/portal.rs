//! Products and pages of the developer portal in a set of changes.

use super::{Before, ObjectChange, ObjectKind, Plan};
use serde_json::Value;
use tollgate_portal::{ApiProduct, PUBLISHED_MAX, PortalPage, PublishedDocument};

impl Plan {
    pub(super) fn put_product(&mut self, before: &Before<'_>, change: &ObjectChange) -> Option<String> {
        let product: ApiProduct = self.published(before, change)?;
        let id = product.id.clone();
        if self.differs(before, change, &id, &serde_json::to_value(&product).unwrap_or_default()) {
            self.stored.products.push(product);
        }
        Some(id)
    }

    pub(super) fn put_page(&mut self, before: &Before<'_>, change: &ObjectChange) -> Option<String> {
        let page: PortalPage = self.published(before, change)?;
        let id = page.id.clone();
        if self.differs(before, change, &id, &serde_json::to_value(&page).unwrap_or_default()) {
            self.stored.pages.push(page);
        }
        Some(id)
    }

    pub(super) fn delete_published(&mut self, before: &Before<'_>, change: &ObjectChange) -> Option<String> {
        match stored(before, change.kind, &change.id) {
            Some(old) => {
                self.row(before, change, &change.id, Some(old), None);
                let gone = if change.kind == ObjectKind::PortalProduct {
                    &mut self.stored.gone_products
                } else {
                    &mut self.stored.gone_pages
                };
                gone.push(change.id.clone());
            }
            None => self.unchanged += 1,
        }
        Some(change.id.clone())
    }

    /// A portal that outgrows its catalogue. Run when all changes are known.
    pub(super) fn check_published(&mut self, before: &Before<'_>, changes: &[ObjectChange]) {
        let Some(published) = &before.stored.published else { return };
        let steps = &self.stored;
        let new = |old: &std::collections::BTreeMap<String, Value>, ids: &mut dyn Iterator<Item = &String>| {
            ids.filter(|id| !old.contains_key(*id)).count()
        };
        let products = published.products.len() + new(&published.products, &mut steps.products.iter().map(|one| &one.id));
        let pages = published.pages.len() + new(&published.pages, &mut steps.pages.iter().map(|one| &one.id));
        let counts = [
            (ObjectKind::PortalProduct, products - steps.gone_products.len()),
            (ObjectKind::PortalPage, pages - steps.gone_pages.len()),
        ];
        for (kind, _) in counts.into_iter().filter(|(_, count)| *count > PUBLISHED_MAX) {
            if let Some(last) = changes.iter().rfind(|change| change.kind == kind) {
                self.problem(last, "$", format!("there may be {PUBLISHED_MAX} of the kind {}", kind.name()));
            }
        }
    }

    /// The document as it is read, with the id that the change names if it has none of its own.
    fn published<T: PublishedDocument>(&mut self, before: &Before<'_>, change: &ObjectChange) -> Option<T> {
        if before.stored.published.is_none() {
            self.problem(
                change,
                "$",
                "this gateway has no developer portal: tollgate.portal.listen and tollgate.portal.host are empty",
            );
            return None;
        }
        let mut document: T = match serde_json::from_value(change.document.clone()) {
            Ok(document) => document,
            Err(error) => {
                self.problem(change, "$", error.to_string());
                return None;
            }
        };
        if document.id().is_empty() {
            document.id_mut().clone_from(&change.id);
        }
        if let Err(why) = document.check() {
            let (path, message) = why.split_once(": ").unwrap_or(("", &why));
            let path = if path.is_empty() { "$".to_owned() } else { format!("$.{path}") };
            self.problem(change, &path, message);
            return None;
        }
        Some(document)
    }

    fn differs(&mut self, before: &Before<'_>, change: &ObjectChange, id: &str, new: &Value) -> bool {
        let old = stored(before, change.kind, id);
        if old == Some(new) {
            self.unchanged += 1;
            return false;
        }
        self.row(before, change, id, old, Some(new));
        true
    }
}

fn stored<'b>(before: &Before<'b>, kind: ObjectKind, id: &str) -> Option<&'b Value> {
    let published = before.stored.published.as_ref()?;
    if kind == ObjectKind::PortalProduct { published.products.get(id) } else { published.pages.get(id) }
}
