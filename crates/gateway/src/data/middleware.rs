//! The steps between a request and its upstream. A middleware is a plain, synchronous function of the exchange, compiled for one
//! version of one API; one that is not used is not in the chain. To add one: a file here, and a line in `control/compile/chain.rs`.

mod access;
mod access_rights;
mod any_auth;
mod api_rate_limit;
mod basic_auth;
mod certificate_check;
mod circuit_break;
mod cross_origin;
mod endpoint_timeout;
mod forward_auth;
mod header_change;
mod introspection_auth;
mod ip_lists;
mod jwt_auth;
mod key_limits;
mod key_state;
mod limit_headers;
mod limits_report;
mod oauth_token;
mod openid_auth;
mod org_limits;
mod read_form;
mod request_headers;
mod request_size;
mod response_headers;
mod rewrite_url;
mod signature_auth;
mod strip_auth;
mod token_auth;
mod track;
mod transform_method;
mod transform_request;
mod transform_response;
mod unsupported_auth;
mod validate_json;

use crate::data::exchange::{Exchange, Step};
use crate::data::header_names::HeaderNames;

pub use access::Access;
pub use access_rights::AccessRights;
pub use any_auth::AnyAuth;
pub use api_rate_limit::ApiRateLimit;
pub use basic_auth::BasicAuth;
pub use certificate_check::CertificateCheck;
pub use circuit_break::CircuitBreak;
pub use cross_origin::CrossOrigin;
pub use endpoint_timeout::EndpointTimeout;
pub use forward_auth::ForwardAuth;
pub use introspection_auth::IntrospectionAuth;
pub use ip_lists::{IpAllow, IpBlock};
pub use jwt_auth::JwtAuth;
pub use key_limits::KeyLimits;
pub use key_state::KeyState;
pub use limits_report::LimitsReport;
pub use oauth_token::OAuthToken;
pub use openid_auth::OpenIdAuth;
pub use org_limits::OrgLimits;
pub use read_form::ReadForm;
pub use request_headers::RequestHeaders;
pub use request_size::RequestSize;
pub use response_headers::ResponseHeaders;
pub use rewrite_url::RewriteUrl;
pub use signature_auth::SignatureAuth;
pub use strip_auth::StripAuth;
pub use token_auth::TokenAuth;
pub use track::TrackEndpoint;
pub use transform_method::TransformMethod;
pub use transform_request::TransformRequest;
pub use transform_response::TransformResponse;
pub use unsupported_auth::UnsupportedAuth;
pub use validate_json::ValidateJson;

/// One step.
pub trait Middleware: Send + Sync {
    /// What figures call it: the name of its type.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>().rsplit("::").next().unwrap_or_default()
    }

    /// Forgets the public keys of others that it fetched; the next request that needs one waits for it.
    fn forget_key_sets(&self) {}

    /// Adds the request headers that it sets, removes or reads. Where credentials stand is known without it.
    fn header_names(&self, _: &mut HeaderNames) {}

    /// Looks at a request, changes what it is there to change, and lets it pass or not.
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step;
}
