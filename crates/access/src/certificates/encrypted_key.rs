//! Private keys that are encrypted within PEM, as OpenSSL does it and Tyk stores them (RFC 1421): AES-CBC with a key made of a secret by MD5.

use super::pem_block::write_block;
use aws_lc_rs::cipher::{
    AES_128, AES_192, AES_256, Algorithm, DecryptionContext, PaddedBlockDecryptingKey, PaddedBlockEncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use md5::{Digest, Md5};
use rustls::pki_types::PrivateKeyDer;
use std::fmt::Write as _;

const IV_BYTES: usize = 16;
/// Bytes of the initialisation vector that are the salt of the key.
const SALT_BYTES: usize = 8;

/// The secrets for private keys in the store.
#[derive(Clone, Default)]
pub struct KeyEncoding {
    /// Encrypts what is stored; empty to store keys as they are.
    pub encrypts: String,
    /// Decrypts what is read; the first that fits.
    pub decrypts: Vec<String>,
}

impl KeyEncoding {
    /// The block that is stored for a key.
    pub(super) fn encrypted(&self, der: &[u8]) -> Result<String, String> {
        let failed = |_| "the private key can't be encrypted".to_owned();
        let iv = FixedLength::<IV_BYTES>::new().map_err(failed)?;
        let iv_bytes = *iv.as_ref();
        let key = UnboundCipherKey::new(&AES_256, &derived_key(&self.encrypts, &iv_bytes, 32)).map_err(failed)?;
        let mut bytes = der.to_vec();
        let key = PaddedBlockEncryptingKey::cbc_pkcs7(key).map_err(failed)?;
        key.less_safe_encrypt(&mut bytes, aws_lc_rs::cipher::EncryptionContext::Iv128(iv)).map_err(failed)?;
        let headers = format!("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,{}\n\n", HEXLOWER.encode(&iv_bytes));
        let mut text = String::new();
        write_block("ENCRYPTED PRIVATE KEY", &headers, &bytes, &mut text);
        Ok(text)
    }

    /// PEM text with its encrypted blocks in clear.
    pub(super) fn decrypted(&self, text: &str) -> Result<String, String> {
        let (mut clear, mut lines) = (String::with_capacity(text.len()), text.lines());
        while let Some(line) = lines.next() {
            if !line.starts_with("-----BEGIN ") {
                let _ = writeln!(clear, "{line}");
                continue;
            }
            let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("-----END ")).collect();
            match EncryptedBlock::parse(&block)? {
                Some(block) => self.open(&block, &mut clear)?,
                None => {
                    let end = line.replacen("BEGIN", "END", 1);
                    let _ = writeln!(clear, "{line}\n{}\n{end}", block.join("\n"));
                }
            }
        }
        Ok(clear)
    }

    fn open(&self, block: &EncryptedBlock, clear: &mut String) -> Result<(), String> {
        let secrets = self.decrypts.iter().filter(|secret| !secret.is_empty());
        let key = secrets.filter_map(|secret| block.decrypt(secret)).find_map(|der| PrivateKeyDer::try_from(der).ok());
        let key = key.ok_or("a private key is encrypted with another secret than security.private_certificate_encoding_secret")?;
        let label = match &key {
            PrivateKeyDer::Pkcs1(_) => "RSA PRIVATE KEY",
            PrivateKeyDer::Sec1(_) => "EC PRIVATE KEY",
            _ => "PRIVATE KEY",
        };
        write_block(label, "", key.secret_der(), clear);
        Ok(())
    }
}

struct EncryptedBlock {
    algorithm: &'static Algorithm,
    key_bytes: usize,
    iv: [u8; IV_BYTES],
    bytes: Vec<u8>,
}

impl EncryptedBlock {
    /// Reads the lines of a block; `None` if it is not encrypted.
    fn parse(lines: &[&str]) -> Result<Option<EncryptedBlock>, String> {
        if !lines.iter().any(|line| line.starts_with("Proc-Type:") && line.contains("ENCRYPTED")) {
            return Ok(None);
        }
        let information = lines.iter().find_map(|line| line.strip_prefix("DEK-Info:"));
        let (name, iv) =
            information.and_then(|text| text.trim().split_once(',')).ok_or("an encrypted private key has no DEK-Info")?;
        let (algorithm, key_bytes) = match name {
            "AES-128-CBC" => (&AES_128, 16),
            "AES-192-CBC" => (&AES_192, 24),
            "AES-256-CBC" => (&AES_256, 32),
            _ => return Err(format!("private keys encrypted with {name} are not supported: decrypt it first, or use AES-256-CBC")),
        };
        let iv = HEXLOWER_PERMISSIVE.decode(iv.trim().as_bytes()).ok().and_then(|iv| <[u8; IV_BYTES]>::try_from(iv).ok());
        let body: String = lines.iter().filter(|line| !line.contains(':')).map(|line| line.trim()).collect();
        let (Some(iv), Ok(bytes)) = (iv, STANDARD.decode(body)) else {
            return Err("an encrypted private key can't be decoded".to_owned());
        };
        Ok(Some(EncryptedBlock { algorithm, key_bytes, iv, bytes }))
    }

    fn decrypt(&self, secret: &str) -> Option<Vec<u8>> {
        let key = UnboundCipherKey::new(self.algorithm, &derived_key(secret, &self.iv, self.key_bytes)).ok()?;
        let key = PaddedBlockDecryptingKey::cbc_pkcs7(key).ok()?;
        let mut bytes = self.bytes.clone();
        key.decrypt(&mut bytes, DecryptionContext::Iv128(FixedLength::from(&self.iv))).ok().map(|clear| clear.to_vec())
    }
}

/// OpenSSL's key of a secret, with one round of MD5 for each 16 bytes.
fn derived_key(secret: &str, iv: &[u8; IV_BYTES], bytes: usize) -> Vec<u8> {
    let mut key: Vec<u8> = Vec::new();
    let mut last: Vec<u8> = Vec::new();
    while key.len() < bytes {
        last = Md5::new()
            .chain_update(&last)
            .chain_update(secret)
            .chain_update(iv.get(..SALT_BYTES).unwrap_or_default())
            .finalize()
            .to_vec();
        key.extend(&last);
    }
    key.truncate(bytes);
    key
}
