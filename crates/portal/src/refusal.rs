//! Why the portal does not do what somebody asks: a status, a stable cause for programs, and words for people.

use serde_json::{Value, json};
use tollgate_store::StoreFault;

/// A request that the portal does not carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortalRefusal {
    /// Status of the HTTP response.
    pub status: u16,
    /// What programs tell it by.
    pub cause: &'static str,
    /// What people read.
    pub message: String,
    /// Seconds after which it may be tried again.
    pub wait_s: Option<u64>,
}

impl PortalRefusal {
    pub(crate) fn new(status: u16, cause: &'static str, message: impl Into<String>) -> Self {
        PortalRefusal { status, cause, message: message.into(), wait_s: None }
    }

    /// A member of the body is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        PortalRefusal::new(400, "invalid", message)
    }

    /// What is named does not exist, or not for this caller: nobody learns which of the two.
    pub(crate) fn missing(what: &str) -> Self {
        PortalRefusal::new(404, "not_found", format!("There is no such {what}"))
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        PortalRefusal::new(409, "conflict", message)
    }

    pub(crate) fn wait(wait_s: u64, message: &str) -> Self {
        PortalRefusal { wait_s: Some(wait_s), ..PortalRefusal::new(429, "too_many", format!("{message}: wait {wait_s} s")) }
    }

    /// There are as many of something as there may be.
    pub(crate) fn full(most: usize, what: &str) -> Self {
        PortalRefusal::new(409, "full", format!("There are {most} {what}, which is the maximum"))
    }

    /// Nobody who asked can do anything about it. The log says why.
    pub fn failed(why: impl std::fmt::Display) -> Self {
        tracing::error!(%why, "the portal can't do what was asked");
        PortalRefusal::new(500, "failed", "The portal could not do this. Its log says why")
    }

    /// The body of the response.
    pub fn body(&self) -> Value {
        let mut body = json!({"status": "error", "message": self.message, "cause": self.cause});
        if let (Some(wait_s), Some(members)) = (self.wait_s, body.as_object_mut()) {
            members.insert("wait_s".to_owned(), wait_s.into());
        }
        body
    }
}

impl From<StoreFault> for PortalRefusal {
    fn from(fault: StoreFault) -> Self {
        tracing::error!(%fault, "the portal's documents can't be read or written");
        PortalRefusal::new(503, "store", "The store does not answer, please try again")
    }
}
