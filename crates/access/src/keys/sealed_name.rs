//! Names of keys that lists show and addresses carry where keys are stored as they are: encrypted, because such a name is the key itself. The
//! same name is always sealed to the same text, as a list and its links need it.

use data_encoding::BASE64URL_NOPAD;
use subtle::ConstantTimeEq;
use tollgate_model::config::GatewayConfig;

/// What a sealed name begins with. No key that the gateway makes has a dot.
const PREFIX: &str = "sealed.";
/// Bytes of the authentication code, which is also the nonce: it depends on all of the name (as in RFC 5297).
const CODE_BYTES: usize = 16;

/// Seals and opens names. Gateways with one control secret open each other's.
#[derive(Clone)]
pub(super) struct NameSeal {
    code_key: [u8; 32],
    stream_key: [u8; 32],
}

impl NameSeal {
    pub(super) fn new(config: &GatewayConfig) -> Self {
        let secret = config.secret.as_bytes();
        NameSeal {
            code_key: blake3::derive_key("tollgate 2026 sealed names of keys: code", secret),
            stream_key: blake3::derive_key("tollgate 2026 sealed names of keys: stream", secret),
        }
    }

    pub(super) fn seal(&self, name: &str) -> String {
        let code = self.code(name.as_bytes());
        let mut sealed = code.to_vec();
        sealed.extend(self.crypt(&code, name.as_bytes()));
        format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&sealed))
    }

    /// `None` for a text that this seal did not make.
    pub(super) fn open(&self, text: &str) -> Option<String> {
        let sealed = BASE64URL_NOPAD.decode(text.strip_prefix(PREFIX)?.as_bytes()).ok()?;
        let (code, hidden) = sealed.split_at_checked(CODE_BYTES)?;
        let name = self.crypt(code, hidden);
        let is_own = bool::from(self.code(&name).as_slice().ct_eq(code));
        String::from_utf8(name).ok().filter(|_| is_own)
    }

    fn code(&self, name: &[u8]) -> [u8; CODE_BYTES] {
        let mut code = [0; CODE_BYTES];
        blake3::Hasher::new_keyed(&self.code_key).update(name).finalize_xof().fill(&mut code);
        code
    }

    fn crypt(&self, code: &[u8], text: &[u8]) -> Vec<u8> {
        let mut stream = vec![0; text.len()];
        blake3::Hasher::new_keyed(&self.stream_key).update(code).finalize_xof().fill(&mut stream);
        stream.iter().zip(text).map(|(one, other)| one ^ other).collect()
    }
}

impl std::fmt::Debug for NameSeal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("NameSeal")
    }
}

#[cfg(test)]
mod tests {
    use super::{NameSeal, PREFIX};
    use tollgate_model::config::GatewayConfig;

    fn seal(secret: &str) -> NameSeal {
        NameSeal::new(&GatewayConfig { secret: secret.to_owned(), ..GatewayConfig::default() })
    }

    #[test]
    fn a_sealed_name_says_nothing_and_opens_only_for_the_same_secret() {
        let own = seal("secret");
        for name in ["", "k", "default0123456789abcdef", "a name, with anything in it: ü"] {
            let sealed = own.seal(name);
            assert!(name.is_empty() || !sealed.contains(name), "{sealed}");
            assert_eq!((own.open(&sealed).as_deref(), own.seal(name)), (Some(name), sealed.clone()));
            assert_eq!(seal("another").open(&sealed), None);
            let mut forged = sealed.clone().into_bytes();
            *forged.last_mut().unwrap() ^= 1;
            assert_eq!(own.open(&String::from_utf8(forged).unwrap()), None, "{sealed}");
        }
        for text in ["", PREFIX, "sealed.AAAA", "sealed.*", "default0123456789abcdef"] {
            assert_eq!(own.open(text), None, "{text}");
        }
    }
}
