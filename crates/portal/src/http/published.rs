//! The catalogue, and pages.

use super::{PortalAnswer, PortalCall, PortalResult};
use crate::catalogue::{self, ApiProduct, PlanApproval, PortalPage};
use crate::refusal::PortalRefusal;
use serde_json::{Value, json};

pub(super) async fn products(call: PortalCall) -> PortalResult {
    let products = catalogue::all::<ApiProduct>(&call.portal.documents).await?;
    let seen = products.iter().filter(|product| !product.is_draft && call.sees(product.is_public));
    let list: Vec<Value> = seen.map(|product| shown(&call, product)).collect();
    Ok(PortalAnswer::of(json!({ "products": list })))
}

pub(super) async fn product(call: PortalCall) -> PortalResult {
    let product = asked_for(&call).await?;
    let mut value = shown(&call, &product);
    if let Some(members) = value.as_object_mut() {
        members.insert("description".to_owned(), product.description.clone().into());
    }
    Ok(PortalAnswer::of(value))
}

/// What describes an API of a product.
pub(super) async fn document(call: PortalCall) -> PortalResult {
    let product = asked_for(&call).await?;
    let id = call.part("api");
    let api = product.apis.iter().find(|api| *api == id).and_then(|api| call.portal.door.api(api));
    let api = api.ok_or_else(|| PortalRefusal::missing("API"))?;
    Ok(PortalAnswer::of(json!({ "api": api, "document": api.document })))
}

pub(super) async fn pages(call: PortalCall) -> PortalResult {
    let pages = catalogue::all::<PortalPage>(&call.portal.documents).await?;
    let seen = pages.iter().filter(|page| !page.is_draft && call.sees(page.is_public));
    let list: Vec<Value> = seen.map(|page| json!({"id": page.id, "title": page.title, "text": page.text})).collect();
    Ok(PortalAnswer::of(json!({ "pages": list })))
}

pub(super) async fn page(call: PortalCall) -> PortalResult {
    let PortalPage { id, title, text, is_public, is_draft, .. } = catalogue::one(&call.portal.documents, call.part("page")).await?;
    if is_draft || !call.sees(is_public) {
        return Err(PortalRefusal::missing("page"));
    }
    Ok(PortalAnswer::of(json!({"id": id, "title": title, "text": text})))
}

impl PortalCall {
    /// Whether the caller sees what is or is not public.
    pub(super) fn sees(&self, is_public: bool) -> bool {
        is_public || self.developer.is_some()
    }
}

async fn asked_for(call: &PortalCall) -> Result<ApiProduct, PortalRefusal> {
    let product: ApiProduct = catalogue::one(&call.portal.documents, call.part("product")).await?;
    if !product.is_draft && call.sees(product.is_public) { Ok(product) } else { Err(PortalRefusal::missing("product")) }
}

/// A product without its long text. APIs and plans that the gateway does not have at the moment are left out.
fn shown(call: &PortalCall, product: &ApiProduct) -> Value {
    let door = &call.portal.door;
    let plans = product.plans.iter().filter(|plan| door.has_policy(&plan.policy));
    let plans: Vec<Value> = plans
        .map(|plan| {
            json!({
                "id": plan.id,
                "name": plan.name,
                "summary": plan.summary,
                "is_automatic": plan.approval == PlanApproval::Automatic,
                "price": plan.price,
            })
        })
        .collect();
    json!({
        "id": product.id,
        "name": product.name,
        "summary": product.summary,
        "apis": product.apis.iter().filter_map(|id| door.api(id)).collect::<Vec<_>>(),
        "plans": plans,
    })
}
