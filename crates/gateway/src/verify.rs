//! `tollgate version --verify`: whether the file of this program is one of a release, by the release's signed list of sums. A program that
//! was changed by somebody can print anything: only minisign and sha256sum, from elsewhere, judge one that is not trusted yet.

use crate::cli::VersionOptions;
use aws_lc_rs::{digest, signature};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use blake2::{Blake2b512, Digest};
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The release key with which the program was built: a line of minisign. Builds that are no releases have none.
const RELEASE_KEY: Option<&str> = option_env!("TOLLGATE_RELEASE_KEY");
/// The file that is running, also after an upgrade has given its name to another one.
const RUNNING: &str = "/proc/self/exe";
/// Longer than any list of sums; keeps a wrong file from filling the memory.
const LIST_BYTES_MAX: u64 = 1024 * 1024;
/// Algorithm, number of the key, and key; or signature.
const KEY_BYTES: usize = 2 + 8 + 32;
const SIGNATURE_BYTES: usize = 2 + 8 + 64;

/// Prints the version, and with `--verify` what the list says about this program.
pub(crate) fn version(options: &VersionOptions) -> Result<(), Box<dyn std::error::Error>> {
    say!("tollgate {}", env!("CARGO_PKG_VERSION"));
    let Some(list) = &options.verify else { return Ok(()) };
    let key = match &options.key {
        Some(file) => key_line(&read(file)?).map_err(|why| format!("{}: {why}", file.display()))?,
        None => RELEASE_KEY.filter(|key| !key.is_empty()).map(str::to_owned).ok_or(
            "this program was built without a release key, so it is no release; give the key of whoever built it with --key",
        )?,
    };
    let sums = read(list)?;
    let signed = beside(list);
    check_signature(sums.as_bytes(), &read(&signed)?, &key).map_err(|why| format!("{}: {why}", signed.display()))?;
    let sum = sum_of(Path::new(RUNNING))?;
    let name =
        named(&sums, &sum).ok_or_else(|| format!("{}: does not list this program, whose SHA-256 is {sum}", list.display()))?;
    say!("this program is {name}, and {} is signed with the key {}", list.display(), number(&key));
    Ok(())
}

/// The name of the file that the list says has a sum.
fn named<'s>(sums: &'s str, sum: &str) -> Option<&'s str> {
    sums.lines().filter_map(|line| line.split_once("  ")).find(|(listed, _)| *listed == sum).map(|(_, name)| name)
}

/// The signature of a list is the file beside it with one more ending.
fn beside(list: &Path) -> PathBuf {
    let mut name = OsString::from(list);
    name.push(".minisig");
    name.into()
}

/// The line of a public key file that is the key; a bare key is one, too.
fn key_line(text: &str) -> Result<String, String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("untrusted comment:"));
    match (lines.next(), lines.next()) {
        (Some(line), None) => Ok(line.to_owned()),
        _ => Err("this is no public key of minisign".to_owned()),
    }
}

/// Checks a signature of minisign (<https://jedisct1.github.io/minisign/>): Ed25519 of the content's BLAKE2b-512, and of the signature with
/// the trusted comment.
fn check_signature(content: &[u8], text: &str, key: &str) -> Result<(), &'static str> {
    const FORM: &str = "this is no signature of minisign";
    let decoded = |line: &str| STANDARD.decode(line.trim()).ok();
    let key: [u8; KEY_BYTES] = decoded(key).and_then(|key| key.try_into().ok()).ok_or("the key is no public key of minisign")?;
    let mut lines = text.lines();
    let (Some(_), Some(first), Some(comment), Some(last)) = (lines.next(), lines.next(), lines.next(), lines.next()) else {
        return Err(FORM);
    };
    let first: [u8; SIGNATURE_BYTES] = decoded(first).and_then(|bytes| bytes.try_into().ok()).ok_or(FORM)?;
    let comment = comment.strip_prefix("trusted comment: ").ok_or(FORM)?;
    let last = decoded(last).ok_or(FORM)?;
    let (Some((key_kind, key)), Some((kind, first))) = (key.split_first_chunk::<2>(), first.split_first_chunk::<2>()) else {
        return Err(FORM);
    };
    let (Some((key_number, key)), Some((signer, first))) = (key.split_first_chunk::<8>(), first.split_first_chunk::<8>()) else {
        return Err(FORM);
    };
    if key_kind != b"Ed" || kind != b"ED" {
        return Err("the signature or the key is of a kind that this program does not know");
    }
    if key_number != signer {
        return Err("it was made with another key");
    }
    let key = signature::UnparsedPublicKey::new(&signature::ED25519, key);
    let fits = |content: &[u8], signature: &[u8]| key.verify(content, signature).is_ok();
    if !fits(&Blake2b512::digest(content), first) {
        return Err("the list was changed after it was signed");
    }
    if !fits(&[first, comment.as_bytes()].concat(), &last) {
        return Err("the trusted comment was changed after it was signed");
    }
    Ok(())
}

/// The number of a key as minisign prints it.
fn number(key: &str) -> String {
    let bytes = STANDARD.decode(key).unwrap_or_default();
    let number: Vec<u8> = bytes.iter().skip(2).take(8).rev().copied().collect();
    data_encoding::HEXUPPER.encode(&number)
}

fn read(file: &Path) -> Result<String, String> {
    let mut text = String::new();
    let opened = fs::File::open(file).and_then(|opened| opened.take(LIST_BYTES_MAX).read_to_string(&mut text));
    opened.map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(text)
}

fn sum_of(file: &Path) -> Result<String, String> {
    let fault = |error: std::io::Error| format!("{}: {error}", file.display());
    let mut opened = fs::File::open(file).map_err(fault)?;
    let mut context = digest::Context::new(&digest::SHA256);
    let mut piece = vec![0; 64 * 1024];
    loop {
        let length = opened.read(&mut piece).map_err(fault)?;
        let Some(read) = piece.get(..length).filter(|read| !read.is_empty()) else { break };
        context.update(read);
    }
    Ok(data_encoding::HEXLOWER.encode(context.finish().as_ref()))
}

#[cfg(test)]
mod tests;
