//! One provider: where a browser is sent, and the exchange of the code with which it comes back.

use crate::endpoints::{DiscoveredEndpoints, discovery_url, escaped, form};
use crate::{PendingSignIn, ReturnedAnswer, SignedIdentity};
use arc_swap::ArcSwapOption;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Uri};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate_access::jwt::{KeySet, SetRules};
use tollgate_outbound::{Call, CallReply, LazyCallClient};
use tollgate_text::byte_order_mark;

/// Deadline of a call to a provider. A person waits for it.
pub(crate) const CALL_TIME_MAX: Duration = Duration::from_secs(10);
/// Largest answer of a provider, in bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 256 << 10;
/// Most letters of a provider's reason that are told.
const SAID_LETTERS_MAX: usize = 200;
/// Age after which the discovery document is read again.
const DISCOVERED_AGE_MAX: Duration = Duration::from_secs(600);

/// What the gateway is at a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelyingParty {
    /// Our name of the provider: letters, digits and `-`.
    pub provider: String,
    /// The provider's issuer, exactly as its tokens name it.
    pub issuer: String,
    /// Our client there.
    pub client_id: String,
    /// The secret of this client; empty for a public one.
    pub client_secret: String,
    /// Where the provider sends browsers back to. It must be this provider's alone.
    pub redirect_uri: String,
    /// What is asked for, besides `openid`.
    pub scopes: Vec<String>,
    /// Signing algorithms of its tokens; `RS256`, `PS256`, `ES256` and `EdDSA` if empty. Those with a shared secret must not be among them.
    pub algorithms: Vec<String>,
    /// Claims that decide about somebody: the userinfo endpoint is asked if an identity token has not all of them, and nobody signs in if it
    /// does not answer. Dots lead into objects.
    pub needed_claims: Vec<String>,
    /// Claims for which it is asked too, and without which people sign in all the same.
    pub wanted_claims: Vec<String>,
}

/// A provider.
pub struct SignInProvider {
    pub(crate) party: RelyingParty,
    pub(crate) keys: [Arc<KeySet>; 1],
    pub(crate) rules: SetRules,
    client: Arc<LazyCallClient>,
    discovered: ArcSwapOption<(Instant, DiscoveredEndpoints)>,
    pub(crate) begun: Instant,
}

/// Why nobody signs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignInFault {
    /// The provider can't be asked.
    Unreachable(String),
    /// What came back is no proof of anybody. Says why, for the log: it may quote the provider.
    Refused(String),
}

impl fmt::Display for SignInFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (SignInFault::Unreachable(why) | SignInFault::Refused(why)) = self;
        f.write_str(why)
    }
}

pub(crate) fn refused(why: impl Into<String>) -> SignInFault {
    SignInFault::Refused(why.into())
}

/// A provider's error, and what it says of it.
fn said(error: &str, description: Option<&str>) -> String {
    let short = |text: &str| text.chars().take(SAID_LETTERS_MAX).collect::<String>();
    let error = short(error);
    description.map_or_else(|| format!("{error:?}"), |text| format!("{error:?}: {:?}", short(text)))
}

impl SignInProvider {
    /// A provider, which is not asked yet. `rules` say how its certificate is checked and how old its keys may get.
    ///
    /// # Errors
    /// The issuer is no URL.
    pub fn new(party: RelyingParty, rules: &SetRules, client: Arc<LazyCallClient>) -> Result<Self, String> {
        let rules = SetRules { discovered: true, ..rules.clone() };
        let keys =
            KeySet::new(&discovery_url(&party.issuer), &rules, &client).map_err(|why| format!("{}: {why}", party.provider))?;
        Ok(SignInProvider {
            party,
            keys: [Arc::new(keys)],
            rules,
            client,
            discovered: ArcSwapOption::empty(),
            begun: Instant::now(),
        })
    }

    /// What the gateway is at this provider.
    pub fn party(&self) -> &RelyingParty {
        &self.party
    }

    /// Begins a sign-in: where the browser goes, and what must be kept with it until it comes back.
    ///
    /// # Errors
    /// The provider's endpoints are not known.
    pub async fn begin(&self) -> Result<(String, PendingSignIn), SignInFault> {
        let endpoints = self.endpoints().await.map_err(SignInFault::Unreachable)?;
        let pending = PendingSignIn::new(&self.party.provider)
            .map_err(|failure| SignInFault::Unreachable(format!("no random numbers: {failure}")))?;
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(pending.verifier.as_bytes()));
        let scope = std::iter::once("openid").chain(self.party.scopes.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        let pairs = [
            ("response_type", "code"),
            ("client_id", &self.party.client_id),
            ("redirect_uri", &self.party.redirect_uri),
            ("scope", &scope),
            ("state", &pending.state),
            ("nonce", &pending.nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        let separator = if endpoints.authorization.contains('?') { '&' } else { '?' };
        Ok((format!("{}{separator}{}", endpoints.authorization, form(&pairs)), pending))
    }

    /// Ends a sign-in: compares what came back with what was kept, exchanges the code, checks the identity token, and asks for the needed claims that it lacks.
    ///
    /// # Errors
    /// Why nobody signs in.
    pub async fn finish(&self, pending: &PendingSignIn, answer: &ReturnedAnswer) -> Result<SignedIdentity, SignInFault> {
        if pending.provider != self.party.provider {
            return Err(refused("the answer is of another provider than the sign-in"));
        }
        if answer.state.as_deref() != Some(&*pending.state) {
            return Err(refused("the answer is of another sign-in"));
        }
        let endpoints = self.endpoints().await.map_err(SignInFault::Unreachable)?;
        match &answer.issuer {
            Some(issuer) if *issuer != self.party.issuer => return Err(refused("the answer is of another issuer")),
            None if endpoints.names_issuer => return Err(refused("the answer names no issuer, though the provider says it does")),
            _ => {}
        }
        if let Some(error) = &answer.error {
            return Err(refused(format!("the provider says {}", said(error, answer.description.as_deref()))));
        }
        let code = answer.code.as_deref().filter(|code| !code.is_empty()).ok_or_else(|| refused("the provider gave no code"))?;
        let answer = self.exchanged(&endpoints, code, &pending.verifier).await?;
        let token = answer.get("id_token").and_then(Value::as_str);
        let token = token.ok_or_else(|| refused("the provider gave no identity token"))?;
        let mut identity = self.identity(token, &self.party.client_id).await?;
        if identity.claims.text("nonce") != Some(&*pending.nonce) {
            return Err(refused("the identity token is of another sign-in"));
        }
        if self.lacks(&identity.claims)
            && let (Some(endpoint), Some(access)) = (endpoints.userinfo, answer.get("access_token").and_then(Value::as_str))
        {
            match self.complete(&mut identity, endpoint, access).await {
                Err(SignInFault::Unreachable(why)) if !self.lacks_needed(&identity.claims) => identity.incomplete = Some(why),
                completed => completed?,
            }
        }
        Ok(identity)
    }

    /// The token endpoint's answer to a code.
    async fn exchanged(&self, endpoints: &DiscoveredEndpoints, code: &str, verifier: &str) -> Result<Value, SignInFault> {
        let (id, secret) = (self.party.client_id.as_str(), self.party.client_secret.as_str());
        let redirect_uri = self.party.redirect_uri.as_str();
        let mut pairs =
            vec![("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect_uri), ("code_verifier", verifier)];
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if secret.is_empty() {
            pairs.push(("client_id", id));
        } else if endpoints.takes_body_secret {
            pairs.extend([("client_id", id), ("client_secret", secret)]);
        } else {
            // RFC 6749, 2.3.1: both are encoded before they are joined.
            let basic = STANDARD.encode(format!("{}:{}", escaped(id), escaped(secret)));
            let value = HeaderValue::try_from(format!("Basic {basic}")).map_err(|error| refused(error.to_string()))?;
            headers.insert(AUTHORIZATION, value);
        }
        let call = Call {
            method: Method::POST,
            uri: endpoints.token.clone(),
            headers,
            body: form(&pairs).into(),
            tls: self.rules.tls.clone(),
            time_max: CALL_TIME_MAX,
            body_bytes_max: ANSWER_BYTES_MAX,
            redirects_max: 0,
        };
        let reply = self.called(call).await.map_err(|why| SignInFault::Unreachable(format!("the token endpoint: {why}")))?;
        let answer: Value = serde_json::from_slice(byte_order_mark::without(&reply.body)).unwrap_or_default();
        if !reply.status.is_success() {
            let text = |member: &str| answer.get(member).and_then(Value::as_str);
            let why = said(text("error").unwrap_or("no reason"), text("error_description"));
            return Err(refused(format!("the provider's token endpoint answers {}: {why}", reply.status)));
        }
        Ok(answer)
    }

    /// The provider's endpoints, of its discovery document.
    pub(crate) async fn endpoints(&self) -> Result<DiscoveredEndpoints, String> {
        if let Some(known) = self.discovered.load().as_deref()
            && known.0.elapsed() < DISCOVERED_AGE_MAX
        {
            return Ok(known.1.clone());
        }
        let uri: Uri = discovery_url(&self.party.issuer).parse().map_err(|error| format!("the issuer is no URL: {error}"))?;
        let reply = self.called(Call::get(uri, self.rules.tls.clone(), CALL_TIME_MAX, ANSWER_BYTES_MAX)).await?;
        if !reply.status.is_success() {
            return Err(format!("the provider's discovery document: status {}", reply.status));
        }
        let endpoints = DiscoveredEndpoints::read(&reply.body, &self.party.issuer)?;
        self.discovered.store(Some(Arc::new((Instant::now(), endpoints.clone()))));
        Ok(endpoints)
    }

    pub(crate) async fn called(&self, call: Call) -> Result<CallReply, String> {
        let client = self.client.get().ok_or("no thread to ask the provider with")?;
        client.call(call).await.map_err(|fault| format!("the provider does not answer: {fault}"))
    }
}
