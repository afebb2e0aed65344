//! Claims that a provider leaves out of its identity tokens, from its userinfo endpoint (Core 5.3).

use crate::provider::{ANSWER_BYTES_MAX, CALL_TIME_MAX, refused};
use crate::{SignInFault, SignInProvider, SignedIdentity};
use http::header::{ACCEPT, AUTHORIZATION};
use http::{HeaderValue, Uri};
use serde_json::Value;
use tollgate_access::jwt::Claims;
use tollgate_model::members::Members;
use tollgate_outbound::Call;

impl SignInProvider {
    /// Whether an identity token has not all claims that are needed or wanted.
    pub(crate) fn lacks(&self, claims: &Claims) -> bool {
        self.asked_claims().any(|name| claims.called(name).next().is_none())
    }

    /// Whether an identity token has not all claims that are needed.
    pub(crate) fn lacks_needed(&self, claims: &Claims) -> bool {
        self.party.needed_claims.iter().any(|name| claims.called(name).next().is_none())
    }

    fn asked_claims(&self) -> impl Iterator<Item = &String> {
        self.party.needed_claims.iter().chain(&self.party.wanted_claims)
    }

    /// Adds the claims that are missing. Those of the token, which is signed, stay.
    ///
    /// # Errors
    /// The endpoint does not answer, or tells of somebody else.
    pub(crate) async fn complete(
        &self,
        identity: &mut SignedIdentity,
        endpoint: Uri,
        access_token: &str,
    ) -> Result<(), SignInFault> {
        let mut call = Call::get(endpoint, self.rules.tls.clone(), CALL_TIME_MAX, ANSWER_BYTES_MAX);
        call.redirects_max = 0;
        let bearer = HeaderValue::try_from(format!("Bearer {access_token}"));
        call.headers.insert(AUTHORIZATION, bearer.map_err(|_| refused("the provider's access token can't be sent"))?);
        call.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let reply = self.called(call).await.map_err(|why| SignInFault::Unreachable(format!("the userinfo endpoint: {why}")))?;
        if !reply.status.is_success() {
            return Err(SignInFault::Unreachable(format!("the provider's userinfo endpoint answers {}", reply.status)));
        }
        let is_asked = |name: &str| self.asked_claims().any(|asked| asked.split('.').next() == Some(name) || asked == name);
        let told = Members::parse_some(&reply.body, |name| name == "sub" || is_asked(name));
        let told = told.ok_or_else(|| refused("the userinfo endpoint answers no JSON object"))?;
        // Core 5.3.2: without this comparison, a token of somebody else could be put in.
        if told.get("sub").and_then(Value::as_str) != Some(&*identity.subject) {
            return Err(refused("the userinfo endpoint tells of somebody else"));
        }
        identity.claims.0.complete(told);
        Ok(())
    }
}
