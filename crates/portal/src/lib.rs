//! The developer portal: accounts, teams, applications and their keys; the products and pages that operators publish; its HTTP endpoints. All of it
//! is in the store, so all gateways on one store serve one portal. It knows the gateway only through [`GatewayDoor`], and never sees a request to an API.
#![forbid(unsafe_code)]

mod application;
mod catalogue;
mod connections;
mod counting;
mod developer;
mod documents;
mod door;
mod http;
mod invoice;
mod invoice_month;
mod letters;
mod mail;
mod offboarding;
mod one_use;
mod operators;
mod overview;
mod portal;
mod price;
mod publishing;
mod refusal;
mod reminders;
mod search_index;
mod sessions;
mod sign_up;
mod team_month;

pub use application::{AccessGrant, GrantKey, GrantState, PortalApplication};
pub use catalogue::{ApiProduct, PUBLISHED_MAX, PlanApproval, PortalPage, ProductPlan, PublishedDocument};
pub use developer::{Developer, DeveloperTeam, TeamRole};
pub use door::{
    CALLS_KEYS_MAX, DoorReply, GatewayDoor, KeyChange, KeyRefusal, KeyUsage, MadeKey, PortalKeyState, PortalNotice, PublishedApi,
    WantedKey,
};
pub use http::{Visitor, router};
pub use invoice::{Invoice, InvoiceLine};
pub use operators::{DeveloperChange, GrantDecision, GrantPlace, Invitation, InvitationRequest, ShownDeveloper, ShownRequest};
pub use overview::{ApplicationOverview, ApplicationUsage, GrantOverview, KeyOverview, KeyUse, MemberOverview, TeamOverview};
pub use portal::Portal;
pub use price::PlanPrice;
pub use publishing::PublishedWatch;
pub use refusal::PortalRefusal;
