//! The algorithms that tokens may be signed with. `none` is not among them and never will be.

use aws_lc_rs::hmac;
use aws_lc_rs::signature::{self, VerificationAlgorithm};

/// One row of the table.
pub struct Algorithm {
    /// Its `alg`.
    pub name: &'static str,
    pub family: Family,
    pub scheme: Scheme,
}

/// What a definition's `jwt_signing_method` can ask for. A token of another family is refused before a key is looked for, so that a
/// public key is never taken for a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Hmac,
    Rsa,
    Ecdsa,
    EdDsa,
}

/// How it is checked.
pub enum Scheme {
    Hmac(hmac::Algorithm),
    Signature(&'static dyn VerificationAlgorithm),
}

static ALGORITHMS: [Algorithm; 14] = [
    Algorithm { name: "HS256", family: Family::Hmac, scheme: Scheme::Hmac(hmac::HMAC_SHA256) },
    Algorithm { name: "HS384", family: Family::Hmac, scheme: Scheme::Hmac(hmac::HMAC_SHA384) },
    Algorithm { name: "HS512", family: Family::Hmac, scheme: Scheme::Hmac(hmac::HMAC_SHA512) },
    Algorithm { name: "RS256", family: Family::Rsa, scheme: Scheme::Signature(&signature::RSA_PKCS1_2048_8192_SHA256) },
    Algorithm { name: "RS384", family: Family::Rsa, scheme: Scheme::Signature(&signature::RSA_PKCS1_2048_8192_SHA384) },
    Algorithm { name: "RS512", family: Family::Rsa, scheme: Scheme::Signature(&signature::RSA_PKCS1_2048_8192_SHA512) },
    Algorithm { name: "PS256", family: Family::Rsa, scheme: Scheme::Signature(&signature::RSA_PSS_2048_8192_SHA256) },
    Algorithm { name: "PS384", family: Family::Rsa, scheme: Scheme::Signature(&signature::RSA_PSS_2048_8192_SHA384) },
    Algorithm { name: "PS512", family: Family::Rsa, scheme: Scheme::Signature(&signature::RSA_PSS_2048_8192_SHA512) },
    Algorithm { name: "ES256", family: Family::Ecdsa, scheme: Scheme::Signature(&signature::ECDSA_P256_SHA256_FIXED) },
    Algorithm { name: "ES384", family: Family::Ecdsa, scheme: Scheme::Signature(&signature::ECDSA_P384_SHA384_FIXED) },
    Algorithm { name: "ES512", family: Family::Ecdsa, scheme: Scheme::Signature(&signature::ECDSA_P521_SHA512_FIXED) },
    Algorithm { name: "ES256K", family: Family::Ecdsa, scheme: Scheme::Signature(&signature::ECDSA_P256K1_SHA256_FIXED) },
    Algorithm { name: "EdDSA", family: Family::EdDsa, scheme: Scheme::Signature(&signature::ED25519) },
];

impl Algorithm {
    /// The algorithm of a token's `alg`.
    pub fn named(name: &str) -> Option<&'static Algorithm> {
        // RFC 9864 gives Ed25519 a name of its own.
        let name = if name == "Ed25519" { "EdDSA" } else { name };
        ALGORITHMS.iter().find(|algorithm| algorithm.name == name)
    }

    /// The algorithms of a family.
    pub fn of(family: Family) -> impl Iterator<Item = &'static Algorithm> {
        ALGORITHMS.iter().filter(move |algorithm| algorithm.family == family)
    }
}

impl Family {
    /// What `jwt_signing_method` asks for; HMAC when it says nothing that is known, as in Tyk.
    pub fn of_method(name: &str) -> Family {
        match name {
            "rsa" => Family::Rsa,
            "ecdsa" => Family::Ecdsa,
            "eddsa" => Family::EdDsa,
            _ => Family::Hmac,
        }
    }
}
