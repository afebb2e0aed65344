//! People who sign in, and their sessions. At a provider of OpenID Connect, the gateway as relying party (OpenID Connect Core 1.0, Discovery 1.0, Back-Channel
//! Logout 1.0; PKCE, RFC 7636; issuers in answers, RFC 9207). Knows no pages, no cookies and no rights: who uses it decides what a person may do.
//!
//! [`SignInProvider::begin`] gives the URL for a browser and a [`PendingSignIn`], which the caller keeps with that browser, such as in a cookie for
//! this purpose alone. When the browser comes back, [`SignInProvider::finish`] compares, exchanges the code, checks the identity token, and says who
//! it is. [`is_first_use`] lets a pending sign-in or a logout token count once on all gateways that share a store: call it with
//! [`PendingSignIn::state`] before `finish`. [`PeopleSessions`] keeps those who have signed in, here or with a password.
#![forbid(unsafe_code)]

mod checks;
mod endpoints;
mod identity;
mod logout;
mod once;
mod pending;
mod provider;
mod sessions;
mod token;
mod userinfo;

pub use endpoints::form;
pub use identity::{EndedSessions, SignedIdentity};
pub use once::is_first_use;
pub use pending::{PendingSignIn, ReturnedAnswer, form_value};
pub use provider::{RelyingParty, SignInFault, SignInProvider};
pub use sessions::{PeopleSessions, PersonSession, SessionLife};
