//! Client authentication: a client presents its id and secret in a header (RFC 7617) or, as RFC 6749 allows and Tyk does not, in the body.

use super::OauthProvider;
use super::client::OauthClient;
use super::parameters::OauthParameters;
use super::refused::{ErrorCode, OauthRefusal};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tollgate_http::form::decode_form;

/// The credentials that a request presents.
#[derive(Debug, PartialEq, Eq)]
pub struct Credentials {
    id: String,
    secret: String,
}

impl Credentials {
    /// Reads the credentials of a request; `None` when there are none.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidRequest`] for a header that can't be read, and when header and body differ.
    pub fn of(authorization: Option<&[u8]>, parameters: &OauthParameters) -> Result<Option<Self>, OauthRefusal> {
        let in_body = parameters.find("client_secret").zip(parameters.find("client_id"));
        let in_body = in_body.map(|(secret, id)| Credentials { id: id.to_owned(), secret: secret.to_owned() });
        let Some(header) = authorization.filter(|header| !header.is_empty()) else { return Ok(in_body) };
        let in_header = basic(header).ok_or(ErrorCode::InvalidRequest)?;
        // Tyk's examples send the same credentials twice.
        if in_body.is_some_and(|in_body| !in_header.says_the_same_as(&in_body)) {
            let message = "the client shows another secret in the header than in the body";
            return Err(OauthRefusal::because(ErrorCode::InvalidRequest, message));
        }
        Ok(Some(in_header))
    }

    /// Whether a header's credentials equal a body's, which are decoded already; the header's may be form-encoded.
    fn says_the_same_as(&self, in_body: &Credentials) -> bool {
        let is_same = |own: &str, other: &str| own == other || decode_form(own).is_some_and(|own| own == other);
        is_same(&self.id, &in_body.id) && is_same(&self.secret, &in_body.secret)
    }
}

fn basic(header: &[u8]) -> Option<Credentials> {
    let (scheme, encoded) = std::str::from_utf8(header).ok()?.trim().split_once(' ')?;
    let decoded = STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let (id, secret) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
    Some(Credentials { id: id.to_owned(), secret: secret.to_owned() })
}

/// Authenticates the client of a request.
///
/// # Errors
/// [`ErrorCode::InvalidRequest`] without credentials; [`ErrorCode::UnauthorizedClient`] when the client does not exist, the secret is
/// wrong, or the client gets no tokens. An attacker does not learn which.
pub async fn named_client(provider: &OauthProvider<'_>, credentials: Option<Credentials>) -> Result<OauthClient, OauthRefusal> {
    let Some(Credentials { id, secret }) = credentials else { return Err(ErrorCode::InvalidRequest.into()) };
    let api = &provider.rules.api_id;
    let mut client = provider.token_store.client(api, &id).await?;
    if client.is_none()
        && let Some(unescaped) = decode_form(&id).filter(|unescaped| *unescaped != id)
    {
        client = provider.token_store.client(api, &unescaped).await?;
    }
    // Always compares with some secret, so that the check takes the same time.
    let nobody = OauthClient { secret: "nobody".to_owned(), ..OauthClient::default() };
    let is_right = client.as_ref().unwrap_or(&nobody).secret_is(&secret);
    client.filter(|client| is_right && client.gets_tokens(provider.unix_s)).ok_or(ErrorCode::UnauthorizedClient.into())
}

/// The public client that a request names without presenting a secret.
///
/// # Errors
/// [`ErrorCode::InvalidRequest`] when the client does not exist or is not public.
pub(super) async fn public_client(provider: &OauthProvider<'_>, parameters: &OauthParameters) -> Result<OauthClient, OauthRefusal> {
    let id = parameters.find("client_id").ok_or(ErrorCode::InvalidRequest)?;
    let client = provider.token_store.client(&provider.rules.api_id, id).await?;
    client.filter(|client| client.is_public && client.gets_tokens(provider.unix_s)).ok_or(ErrorCode::InvalidRequest.into())
}

#[cfg(test)]
mod tests;
