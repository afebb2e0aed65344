//! The algorithms that tokens may be signed with. `none` is not among them and never will be.

use aws_lc_rs::hmac;
use aws_lc_rs::signature::{self, VerificationAlgorithm};

/// One row of the table.
pub struct SigningAlgorithm {
    /// The `alg` value.
    pub name: &'static str,
    pub family: AlgorithmFamily,
    pub scheme: Scheme,
}

/// Algorithm family, as a definition's `jwt_signing_method` selects it. A token of another family is rejected before a key is looked up, so
/// that a public key is never used as an HMAC secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlgorithmFamily {
    Hmac,
    Rsa,
    Ecdsa,
    EdDsa,
}

/// How a signature is verified.
pub enum Scheme {
    Hmac(hmac::Algorithm),
    Signature(&'static dyn VerificationAlgorithm),
}

static ALGORITHMS: [SigningAlgorithm; 14] = [
    SigningAlgorithm { name: "HS256", family: AlgorithmFamily::Hmac, scheme: Scheme::Hmac(hmac::HMAC_SHA256) },
    SigningAlgorithm { name: "HS384", family: AlgorithmFamily::Hmac, scheme: Scheme::Hmac(hmac::HMAC_SHA384) },
    SigningAlgorithm { name: "HS512", family: AlgorithmFamily::Hmac, scheme: Scheme::Hmac(hmac::HMAC_SHA512) },
    SigningAlgorithm {
        name: "RS256",
        family: AlgorithmFamily::Rsa,
        scheme: Scheme::Signature(&signature::RSA_PKCS1_2048_8192_SHA256),
    },
    SigningAlgorithm {
        name: "RS384",
        family: AlgorithmFamily::Rsa,
        scheme: Scheme::Signature(&signature::RSA_PKCS1_2048_8192_SHA384),
    },
    SigningAlgorithm {
        name: "RS512",
        family: AlgorithmFamily::Rsa,
        scheme: Scheme::Signature(&signature::RSA_PKCS1_2048_8192_SHA512),
    },
    SigningAlgorithm {
        name: "PS256",
        family: AlgorithmFamily::Rsa,
        scheme: Scheme::Signature(&signature::RSA_PSS_2048_8192_SHA256),
    },
    SigningAlgorithm {
        name: "PS384",
        family: AlgorithmFamily::Rsa,
        scheme: Scheme::Signature(&signature::RSA_PSS_2048_8192_SHA384),
    },
    SigningAlgorithm {
        name: "PS512",
        family: AlgorithmFamily::Rsa,
        scheme: Scheme::Signature(&signature::RSA_PSS_2048_8192_SHA512),
    },
    SigningAlgorithm {
        name: "ES256",
        family: AlgorithmFamily::Ecdsa,
        scheme: Scheme::Signature(&signature::ECDSA_P256_SHA256_FIXED),
    },
    SigningAlgorithm {
        name: "ES384",
        family: AlgorithmFamily::Ecdsa,
        scheme: Scheme::Signature(&signature::ECDSA_P384_SHA384_FIXED),
    },
    SigningAlgorithm {
        name: "ES512",
        family: AlgorithmFamily::Ecdsa,
        scheme: Scheme::Signature(&signature::ECDSA_P521_SHA512_FIXED),
    },
    SigningAlgorithm {
        name: "ES256K",
        family: AlgorithmFamily::Ecdsa,
        scheme: Scheme::Signature(&signature::ECDSA_P256K1_SHA256_FIXED),
    },
    SigningAlgorithm { name: "EdDSA", family: AlgorithmFamily::EdDsa, scheme: Scheme::Signature(&signature::ED25519) },
];

impl SigningAlgorithm {
    /// The algorithm with this `alg` value.
    pub fn named(name: &str) -> Option<&'static SigningAlgorithm> {
        // RFC 9864 gives Ed25519 a name of its own.
        let name = if name == "Ed25519" { "EdDSA" } else { name };
        ALGORITHMS.iter().find(|algorithm| algorithm.name == name)
    }

    /// The algorithms of a family.
    pub fn of(family: AlgorithmFamily) -> impl Iterator<Item = &'static SigningAlgorithm> {
        ALGORITHMS.iter().filter(move |algorithm| algorithm.family == family)
    }
}

impl AlgorithmFamily {
    /// The family that `jwt_signing_method` selects; HMAC for an empty or unknown name, as in Tyk.
    pub fn of_method(name: &str) -> AlgorithmFamily {
        match name {
            "rsa" => AlgorithmFamily::Rsa,
            "ecdsa" => AlgorithmFamily::Ecdsa,
            "eddsa" => AlgorithmFamily::EdDsa,
            _ => AlgorithmFamily::Hmac,
        }
    }
}
