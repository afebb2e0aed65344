//! Signing out at a provider as well (RP-Initiated Logout 1.0): where the browser goes.

use crate::SignInProvider;
use crate::endpoints::form;

/// Longest identity token that is kept to sign out with. Without it, the provider asks the person first.
const HINT_BYTES_MAX: usize = 4 << 10;

impl SignInProvider {
    /// The identity token to keep with a session, for [`SignInProvider::logout_url`]; empty if it is too long.
    pub fn logout_hint(token: &str) -> String {
        if token.len() <= HINT_BYTES_MAX { token.to_owned() } else { String::new() }
    }

    /// Where a browser signs out at the provider, which sends it back to `return_to`; `None` if the provider has no such place, or can't be asked
    /// where it is.
    pub async fn logout_url(&self, hint: &str, return_to: &str) -> Option<String> {
        let place = self.endpoints().await.ok()?.end_session?;
        let mut pairs = vec![("client_id", self.party.client_id.as_str()), ("post_logout_redirect_uri", return_to)];
        if !hint.is_empty() {
            pairs.push(("id_token_hint", hint));
        }
        let separator = if place.contains('?') { '&' } else { '?' };
        Some(format!("{place}{separator}{}", form(&pairs)))
    }
}
