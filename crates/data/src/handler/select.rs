//! Selects the API version of a request.

use super::context::RequestContext;
use super::in_flight::VersionPlace;
use crate::header_change::HeaderChange;
use crate::refusal::{self, Refusal};
use crate::route::{FoundRule, RoutedRequest};
use crate::snapshot::{CompiledApi, CompiledVersionSelector, LocatedVersion, Snapshot, Versions};
use crate::url::Url;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;
use tollgate_http::form::{parameter, without_parameter};
use tollgate_http::path::Path;
use tollgate_http::{HeadView, HeaderEdits};

/// A request whose version is selected, and what the selection changes of it.
pub(super) struct SelectedRequest<'r, 'u> {
    pub url: &'r mut Url<'u>,
    pub context: &'r RequestContext<'u>,
    pub changes: &'r mut Vec<HeaderChange>,
    pub edits: &'r mut HeaderEdits,
    /// Receives the name of the version, for the record of a request that is refused.
    pub asked: &'r mut Option<String>,
    pub method: &'r str,
    /// The rule of a route that the request belongs to; found here, if it was not found with the API.
    pub rule: &'r mut Option<FoundRule>,
}

/// Returns the request's version; removes it from the URL if the definition says so.
#[inline]
pub(super) fn version(
    snapshot: &Snapshot,
    api: &Arc<CompiledApi>,
    index: usize,
    request: SelectedRequest<'_, '_>,
) -> Result<VersionPlace, Refusal> {
    let SelectedRequest { url, context, changes, edits, asked, method, rule } = request;
    match &api.versions {
        Versions::One { expires, .. } => {
            if expires.has_passed_lazily() {
                return Err(refusal::API_EXPIRED);
            }
            Ok(VersionPlace { api: index, version: 0 })
        }
        Versions::Rules { expires, .. } => {
            if expires.has_passed_lazily() {
                return Err(refusal::API_EXPIRED);
            }
            if rule.is_none() {
                let headers = HeadView::new(&context.request.headers);
                let request = RoutedRequest::new(method, headers, url.query.as_deref());
                *rule = api.route.as_ref().and_then(|route| route.find(&url.path.decoded, &request));
            }
            let version = rule.ok_or(refusal::RULE_MISSING)?.rule;
            Ok(VersionPlace { api: index, version })
        }
        Versions::Unclear { any_default: true } => Err(refusal::VERSION_AMBIGUOUS),
        Versions::Unclear { any_default: false } => Err(refusal::VERSION_NO_DEFAULT),
        Versions::Many { selector, versions } => {
            let name = selector.name(url, context, changes, edits)?;
            let place = |name: &str| versions.iter().position(|version| version.terms.name == name);
            let fallback = || place(&selector.default).filter(|_| selector.fallback_to_default);
            let Some(version) = place(&name).or_else(fallback) else {
                *asked = Some(name);
                return Err(refusal::VERSION_UNKNOWN);
            };
            if versions.get(version).is_some_and(|version| version.expires.has_passed_lazily()) {
                *asked = Some(name);
                return Err(refusal::VERSION_EXPIRED);
            }
            Ok(VersionPlace { api: index, version })
        }
        Versions::Apis { selector, apis, own_name, .. } => {
            let name = selector.name(url, context, changes, edits)?;
            let own = |name: &str| (name == own_name || name == "self").then_some(index);
            let find = |name: &str| own(name).or_else(|| apis.get(name).and_then(|id| snapshot.api_by_id(id)));
            let fallback = || find(&selector.default).filter(|_| selector.fallback_to_default);
            let Some(api) = find(&name).or_else(fallback) else {
                *asked = Some(name);
                return Err(refusal::VERSION_API_UNKNOWN);
            };
            Ok(VersionPlace { api, version: 0 })
        }
    }
}

/// Tells the client which version it gets, in the header that the operator configured.
fn echo_default(name: &str, context: &RequestContext<'_>, changes: &mut Vec<HeaderChange>) {
    let header = &context.core.shared.settings.answers.version_header;
    if !header.is_empty() {
        changes.push(HeaderChange::Set(header.as_str().into(), name.as_bytes().to_vec()));
    }
}

impl CompiledVersionSelector {
    /// The version that a request names, else the default.
    fn name(
        &self,
        url: &mut Url<'_>,
        context: &RequestContext<'_>,
        changes: &mut Vec<HeaderChange>,
        edits: &mut HeaderEdits,
    ) -> Result<String, Refusal> {
        match self.asked(url, context, edits) {
            Some(name) => Ok(name),
            None if self.default.is_empty() => Err(refusal::VERSION_MISSING),
            None => {
                echo_default(&self.default, context, changes);
                Ok(self.default.clone())
            }
        }
    }

    /// The version that a request names.
    fn asked(&self, url: &mut Url<'_>, context: &RequestContext<'_>, edits: &mut HeaderEdits) -> Option<String> {
        let name = match &self.location {
            LocatedVersion::Header(header) => {
                let value = context.request.headers.get(header)?;
                if self.strip {
                    edits.remove(&context.request.headers, header);
                }
                String::from_utf8_lossy(value).into_owned()
            }
            LocatedVersion::Parameter(name) => {
                let value = parameter(url.query.as_deref()?, name)?;
                if self.strip {
                    let rest = without_parameter(url.query.as_deref().unwrap_or_default(), name);
                    url.query = Some(rest).filter(|rest| !rest.is_empty()).map(Cow::Owned);
                }
                value
            }
            LocatedVersion::Path(pattern) => {
                let behind = url.path.decoded.get(url.listen_bytes..)?.trim_start_matches('/');
                let segment = behind.split('/').next()?;
                let name = match pattern {
                    None => segment,
                    Some(pattern) => pattern.find(segment)?.as_str(),
                };
                let name = name.to_owned();
                if self.strip && !name.is_empty() {
                    strip_segment(url, &name);
                }
                name
            }
        };
        Some(name).filter(|name| !name.is_empty())
    }
}

/// Removes a version from the path after the listen path; one at the very end stays, as in Tyk.
fn strip_segment(url: &mut Url<'_>, name: &str) {
    let raw_listen = tollgate_http::path::raw_offset(&url.path.raw, url.listen_bytes);
    let (listen, behind) = url.path.raw.split_at_checked(raw_listen).unwrap_or_default();
    let (slashes, rest) = behind.split_at_checked(behind.len() - behind.trim_start_matches('/').len()).unwrap_or_default();
    let Some(after) = rest.strip_prefix(name).filter(|after| after.starts_with('/')) else { return };
    // One slash stays between the listen path and the rest.
    let after = if listen.ends_with('/') && slashes.is_empty() { after.trim_start_matches('/') } else { after };
    if let Some(path) = Path::new(Cow::Owned(format!("{listen}{after}"))) {
        url.path = path;
    }
}

impl crate::snapshot::Expiry {
    /// Like `has_passed`, but reads the clock only when there is an expiry time.
    #[inline]
    fn has_passed_lazily(self) -> bool {
        self != crate::snapshot::Expiry::Never && self.has_passed(SystemTime::now())
    }
}
