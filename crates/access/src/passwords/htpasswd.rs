//! The hashes of htpasswd files that nothing else here has: MD5 in a thousand rounds, and SHA-1.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use sha1::Sha1;
use subtle::ConstantTimeEq as _;

const ROUNDS: usize = 1000;
const SALT_BYTES_MAX: usize = 8;
const SHA1_BYTES: usize = 20;
/// The digits of the encoded hash.
const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Hashes a password with the scheme and salt of a stored hash, `$apr1$SALT$...` or `$1$SALT$...`. `None` if it has another form.
pub(super) fn md5_crypt(password: &[u8], stored: &str) -> Option<String> {
    let mut parts = stored.split('$').skip(1);
    let (scheme, salt) = (parts.next()?, parts.next()?);
    let salt = salt.get(..salt.len().min(SALT_BYTES_MAX))?;
    let magic = format!("${scheme}$");
    let inner = Md5::new().chain_update(password).chain_update(salt).chain_update(password).finalize();
    let mut outer = Md5::new().chain_update(password).chain_update(&magic).chain_update(salt);
    let mut left = password.len();
    while left > 0 {
        outer.update(inner.get(..left.min(inner.len()))?);
        left = left.saturating_sub(inner.len());
    }
    let mut bits = password.len();
    while bits > 0 {
        outer.update(if bits & 1 == 1 { &[0][..] } else { password.get(..1)? });
        bits >>= 1;
    }
    let mut hash = outer.finalize();
    for round in 0..ROUNDS {
        let mut next = Md5::new();
        if round % 2 == 1 {
            next.update(password)
        } else {
            next.update(hash)
        }
        if round % 3 != 0 {
            next.update(salt);
        }
        if round % 7 != 0 {
            next.update(password);
        }
        if round % 2 == 1 {
            next.update(hash)
        } else {
            next.update(password)
        }
        hash = next.finalize();
    }
    let mut encoded = format!("{magic}{salt}$");
    for [first, second, third] in [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5]] {
        let byte = |index: usize| hash.get(index).map(|byte| u32::from(*byte));
        encode(&mut encoded, (byte(first)? << 16) | (byte(second)? << 8) | byte(third)?, 4)?;
    }
    encode(&mut encoded, u32::from(*hash.get(11)?), 2)?;
    Some(encoded)
}

/// Appends digits, those of the lowest bits first.
fn encode(text: &mut String, mut number: u32, digits: usize) -> Option<()> {
    for _ in 0..digits {
        text.push(char::from(*DIGITS.get(number as usize & 63)?));
        number >>= 6;
    }
    Some(())
}

/// Whether a password has this SHA-1, in Base64. What follows the digest is a salt.
pub(super) fn is_sha1(password: &[u8], stored: &str) -> bool {
    let Ok(bytes) = STANDARD.decode(stored) else { return false };
    let Some((digest, salt)) = bytes.split_at_checked(SHA1_BYTES) else { return false };
    Sha1::new().chain_update(password).chain_update(salt).finalize().ct_eq(digest).into()
}
