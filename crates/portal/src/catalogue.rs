//! What operators publish: products, which are APIs with plans, and pages.

use crate::documents::PortalDocuments;
use crate::door::GatewayDoor;
use crate::price::PlanPrice;
use crate::refusal::PortalRefusal;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tollgate_store::StoreFault;

/// Products, and pages; a catalogue is read by people.
pub const PUBLISHED_MAX: usize = 500;
const APIS_MAX: usize = 50;
const PLANS_MAX: usize = 20;
/// Bytes of a text with many lines.
const TEXT_BYTES_MAX: usize = 256 << 10;
/// Characters of a text in one line.
const LINE_CHARS_MAX: usize = 300;
const ID_BYTES_MAX: usize = 64;

/// APIs that developers get together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ApiProduct {
    /// Its id in addresses: lower-case letters, digits and hyphens.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// One line about it.
    pub summary: String,
    /// More about it, in Markdown.
    pub description: String,
    /// Ids of its APIs.
    pub apis: Vec<String>,
    /// Under which conditions it is to be had.
    pub plans: Vec<ProductPlan>,
    /// Whether people see it who have not signed in.
    pub is_public: bool,
    /// Whether operators alone see it. Keys that were made for it go on, and nobody can ask for it.
    pub is_draft: bool,
    /// Where it stands in the catalogue; products with the same number are sorted by name.
    pub order: i64,
}

/// Under which conditions a product is to be had.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProductPlan {
    /// Its id within the product.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// One line about it.
    pub summary: String,
    /// Id of the policy that its keys get.
    pub policy: String,
    /// Who approves requests for it.
    pub approval: PlanApproval,
    /// What it costs; without one, it is on no invoice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<PlanPrice>,
}

/// Who approves requests for a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanApproval {
    /// Nobody needs to.
    Automatic,
    /// An operator.
    #[default]
    Manual,
}

/// A page that operators write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PortalPage {
    /// Its id in addresses: lower-case letters, digits and hyphens.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its text, in Markdown.
    pub text: String,
    /// Whether people see it who have not signed in.
    pub is_public: bool,
    /// Whether operators alone see it.
    pub is_draft: bool,
    /// Where it stands among the pages; those with the same number are sorted by title.
    pub order: i64,
}

/// What operators publish: a product or a page.
pub trait PublishedDocument: Clone + Send + Sync + Serialize + DeserializeOwned {
    /// What it is called, such as `product`.
    const WHAT: &str;
    /// How the log of changes calls it.
    const KIND: &str;

    /// Its id.
    fn id(&self) -> &str;

    /// Its id, to change.
    fn id_mut(&mut self) -> &mut String;

    /// Checks its form. Whether what it names exists is for the gateway to say.
    ///
    /// # Errors
    /// What is wrong, with the path of the member.
    fn check(&self) -> Result<(), String>;

    /// Checks that the gateway has what it names.
    ///
    /// # Errors
    /// What there is not, with the path of the member.
    fn check_names(&self, _door: &dyn GatewayDoor) -> Result<(), String> {
        Ok(())
    }

    /// Where it stands among others: its number, then its name.
    fn place(&self) -> (i64, &str);

    /// Id of its document in the store.
    fn document(id: &str) -> String {
        format!("{}-{id}", Self::WHAT)
    }
}

impl PublishedDocument for ApiProduct {
    const WHAT: &str = "product";
    const KIND: &str = "portal_product";

    fn id(&self) -> &str {
        &self.id
    }

    fn id_mut(&mut self) -> &mut String {
        &mut self.id
    }

    fn place(&self) -> (i64, &str) {
        (self.order, &self.name)
    }

    fn check_names(&self, door: &dyn GatewayDoor) -> Result<(), String> {
        for (index, api) in self.apis.iter().enumerate() {
            if door.api(api).is_none() {
                return Err(format!("apis[{index}]: there is no API {api:?}"));
            }
        }
        for (index, plan) in self.plans.iter().enumerate() {
            if !door.has_policy(&plan.policy) {
                return Err(format!("plans[{index}].policy: there is no policy {:?}", plan.policy));
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        check_id("id", &self.id)?;
        check_line("name", &self.name, 1)?;
        check_line("summary", &self.summary, 0)?;
        check_text("description", &self.description)?;
        if self.apis.is_empty() || self.apis.len() > APIS_MAX {
            return Err(format!("apis: must name 1 to {APIS_MAX} APIs"));
        }
        if self.plans.len() > PLANS_MAX {
            return Err(format!("plans: may have {PLANS_MAX} entries"));
        }
        for (index, plan) in self.plans.iter().enumerate() {
            check_id(&format!("plans[{index}].id"), &plan.id)?;
            check_line(&format!("plans[{index}].name"), &plan.name, 1)?;
            check_line(&format!("plans[{index}].summary"), &plan.summary, 0)?;
            if let Some(Err(problem)) = plan.price.as_ref().map(PlanPrice::check) {
                return Err(format!("plans[{index}].price.{problem}"));
            }
            if plan.policy.is_empty() {
                return Err(format!("plans[{index}].policy: must name a policy"));
            }
            if self.plans.iter().take(index).any(|other| other.id == plan.id) {
                return Err(format!("plans[{index}].id: {:?} is there twice", plan.id));
            }
        }
        Ok(())
    }
}

impl ApiProduct {
    /// The plan with an id.
    pub fn plan(&self, id: &str) -> Option<&ProductPlan> {
        self.plans.iter().find(|plan| plan.id == id)
    }
}

impl PublishedDocument for PortalPage {
    const WHAT: &str = "page";
    const KIND: &str = "portal_page";

    fn id(&self) -> &str {
        &self.id
    }

    fn id_mut(&mut self) -> &mut String {
        &mut self.id
    }

    fn place(&self) -> (i64, &str) {
        (self.order, &self.title)
    }

    fn check(&self) -> Result<(), String> {
        check_id("id", &self.id)?;
        check_line("title", &self.title, 1)?;
        check_text("text", &self.text)
    }
}

/// What is published with an id.
pub(crate) async fn one<T: PublishedDocument>(documents: &PortalDocuments, id: &str) -> Result<T, PortalRefusal> {
    let found = if is_published_id(id) { documents.read(&T::document(id)).await? } else { None };
    found.ok_or_else(|| PortalRefusal::missing(T::WHAT))
}

/// All products or pages in their order.
pub(crate) async fn all<T: PublishedDocument>(documents: &PortalDocuments) -> Result<Vec<T>, StoreFault> {
    let found = documents.list::<T>(&T::document(""), PUBLISHED_MAX).await?;
    let mut all: Vec<T> = found.into_iter().map(|(_, document)| document).collect();
    all.sort_by(|one, other| one.place().cmp(&other.place()));
    Ok(all)
}

/// Whether a text has the form of an id of a product or page.
pub(crate) fn is_published_id(text: &str) -> bool {
    check_id("id", text).is_ok()
}

fn check_id(member: &str, id: &str) -> Result<(), String> {
    let is_plain = (1..=ID_BYTES_MAX).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if is_plain { Ok(()) } else { Err(format!("{member}: must have 1 to {ID_BYTES_MAX} lower-case letters, digits and hyphens")) }
}

fn check_line(member: &str, text: &str, least: usize) -> Result<(), String> {
    let is_line = (least..=LINE_CHARS_MAX).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if is_line { Ok(()) } else { Err(format!("{member}: must have {least} to {LINE_CHARS_MAX} characters in one line")) }
}

fn check_text(member: &str, text: &str) -> Result<(), String> {
    if text.len() <= TEXT_BYTES_MAX { Ok(()) } else { Err(format!("{member}: is longer than {TEXT_BYTES_MAX} bytes")) }
}
