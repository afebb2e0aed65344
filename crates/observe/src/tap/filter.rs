//! Which requests somebody wants to see.

use super::RequestWatch;
use super::entry::{TailEntry, key_id};
use crate::facts::ApiMetadata;
use crate::record::{RequestRecord, Text};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// All that is set must fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TailFilter {
    /// Id of the API.
    pub api: Option<String>,
    /// Hash of the key.
    pub key: Option<String>,
    pub alias: Option<String>,
    /// Id of the OAuth client of a token.
    pub oauth_client: Option<String>,
    /// A status such as `429`, or a class such as `5xx`.
    pub status: Option<String>,
    pub cause: Option<String>,
    pub request_id: Option<String>,
    pub trace: Option<String>,
    /// Address of the client.
    pub address: Option<String>,
}

impl TailFilter {
    /// Says what is wrong with a value.
    pub fn check(&self) -> Result<(), String> {
        if self.status.as_ref().is_some_and(|status| statuses(status).is_none()) {
            return Err("status must be such as 404 or 5xx".to_owned());
        }
        if self.address.as_ref().is_some_and(|address| address.parse::<IpAddr>().is_err()) {
            return Err("address must be an IP address".to_owned());
        }
        Ok(())
    }

    /// Whether a kept request fits.
    pub(super) fn fits(&self, entry: &TailEntry) -> bool {
        let is = |wanted: &Option<String>, own: &str| wanted.as_ref().is_none_or(|wanted| wanted == own);
        is(&self.api, &entry.api_id)
            && is(&self.key, &entry.key)
            && is(&self.alias, &entry.alias)
            && is(&self.oauth_client, &entry.oauth_client)
            && is(&self.cause, &entry.cause)
            && is(&self.request_id, &entry.request_id)
            && is(&self.trace, &entry.trace_id)
            && is(&self.address, &entry.address)
            && self.has_status(entry.status)
    }

    /// Whether a finished request fits. Most are told by a comparison or two.
    pub(super) fn fits_record(&self, record: &RequestRecord, facts: &ApiMetadata, watch: &RequestWatch) -> bool {
        let key = || record.key.as_deref();
        self.api.as_ref().is_none_or(|api| *api == facts.id)
            && self.has_status(record.status)
            && self.cause.as_ref().is_none_or(|cause| record.cause == Some(cause))
            && self.alias.as_ref().is_none_or(|alias| key().is_some_and(|key| key.session.alias == *alias))
            && self.oauth_client.as_ref().is_none_or(|client| key().is_some_and(|key| key.session.oauth_client_id == *client))
            && self.key.as_ref().is_none_or(|wanted| key().is_some_and(|key| key_id(&key.shown, watch.hash_keys) == **wanted))
            && self.address.as_ref().is_none_or(|address| record.client_ip.to_string() == *address)
            && self.trace.as_ref().is_none_or(|wanted| record.trace.is_some_and(|trace| trace.id.to_string() == *wanted))
            && self
                .request_id
                .as_ref()
                .is_none_or(|wanted| *wanted == *record.text(Text::RequestId) || *wanted == format!("{:032x}", record.request_id))
    }

    fn has_status(&self, status: u16) -> bool {
        self.status.as_ref().is_none_or(|wanted| statuses(wanted).is_some_and(|(first, last)| (first..=last).contains(&status)))
    }
}

/// First and last status of `404` or `5xx`.
fn statuses(text: &str) -> Option<(u16, u16)> {
    if let Some(class) = text.strip_suffix("xx") {
        let class: u16 = class.parse().ok().filter(|class| (1..=5).contains(class))?;
        return Some((class * 100, class * 100 + 99));
    }
    let code = text.parse().ok().filter(|code| (100..=999).contains(code))?;
    Some((code, code))
}
