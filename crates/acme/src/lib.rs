//! Certificates that the gateway gets and renews by itself (RFC 8555): which are wanted, when each is renewed, the orders at issuers, and how it
//! shows them whose a host is. All gateways on one store have them; one of them asks. Knows nothing of requests and of how certificates are served.
#![forbid(unsafe_code)]

mod dns;
mod documents;
mod issuer;
mod manager;
mod on_demand;
mod operators_client;
mod order;
mod schedule;
mod show;
mod staple;

pub use documents::{AcmeDocuments, CertificatePlan, PlannedCertificate};
pub use manager::{Acme, CertificateSink, Staples};
pub use on_demand::{HostAnswer, HostDesk};
