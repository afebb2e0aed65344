//! A bundle: the files of plugins, and a manifest that says what they are for.

use super::archive::{self, ArchivedFile, check_name};
use super::signature::{SigningKey, VerifyingKey};
use data_encoding::HEXLOWER;
use md5::{Digest as _, Md5};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tollgate_model::api::CustomMiddleware;
use tollgate_text::byte_order_mark;

/// Name of the manifest in the archive.
const MANIFEST: &str = "manifest.json";

/// The manifest, with Tyk's names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// The files, in the order in which checksum and signature see them.
    pub file_list: Vec<String>,
    /// The hooks.
    pub custom_middleware: CustomMiddleware,
    /// MD5 of the contents of all files, in hexadecimal.
    pub checksum: String,
    /// RSA signature of the contents of all files, in Base64; empty if there is none.
    pub signature: String,
}

/// A bundle that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// The manifest.
    pub manifest: Manifest,
    /// All files except the manifest.
    pub files: Vec<ArchivedFile>,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// It is no such document, or names a file outside the bundle.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let unreadable = |error: serde_json::Error| format!("{MANIFEST} can't be read: {error}");
        let written: Value = serde_json::from_slice(byte_order_mark::without(text)).map_err(unreadable)?;
        // An array would be read as the fields in their order.
        if !written.is_object() {
            return Err(format!("{MANIFEST} can't be read: it is not an object"));
        }
        let manifest: Manifest = serde_json::from_value(without_nulls(written)).map_err(unreadable)?;
        manifest.file_list.iter().try_for_each(|name| check_name(name))?;
        Ok(manifest)
    }

    /// Whether a hook is named.
    fn has_hooks(&self) -> bool {
        let plugins = &self.custom_middleware;
        let is_listed = plugins.lists().iter().any(|(_, hooks)| !hooks.is_empty());
        is_listed || !plugins.auth_check.name.is_empty() || !plugins.traffic_logs.name.is_empty()
    }
}

impl Bundle {
    /// Reads an archive, and checks it. With a key, it must be signed.
    ///
    /// # Errors
    /// It is no bundle, is broken, or its signature is missing or wrong.
    pub fn read(bytes: &[u8], key: Option<&VerifyingKey>) -> Result<Self, String> {
        let mut files = archive::read(bytes)?;
        let place = files.iter().position(|file| file.name == MANIFEST).ok_or_else(|| format!("it has no {MANIFEST}"))?;
        let manifest = Manifest::parse(&files.remove(place).content)?;
        let bundle = Bundle { manifest, files };
        bundle.check(key)?;
        Ok(bundle)
    }

    /// Checks checksum and signature.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, key: Option<&VerifyingKey>) -> Result<(), String> {
        let contents = contents(&self.manifest.file_list, &self.files)?;
        let checksum = HEXLOWER.encode(&Md5::digest(&contents));
        if !self.manifest.checksum.eq_ignore_ascii_case(&checksum) {
            return Err("its checksum is wrong: its files are not those that it was made of".to_owned());
        }
        match key {
            None => Ok(()),
            Some(_) if self.manifest.signature.is_empty() => Err("it is not signed, as public_key_path demands".to_owned()),
            Some(key) if key.verifies(&contents, &self.manifest.signature) => Ok(()),
            Some(_) => Err("its signature is wrong".to_owned()),
        }
    }

    /// Makes the archive of a bundle. The manifest gets checksum and signature.
    ///
    /// # Errors
    /// The manifest names no hook, no driver or a missing file.
    pub fn build(mut manifest: Manifest, mut files: Vec<ArchivedFile>, key: Option<&SigningKey>) -> Result<Vec<u8>, String> {
        if !manifest.has_hooks() {
            return Err("the manifest names no hook".to_owned());
        }
        if manifest.custom_middleware.driver.is_empty() {
            return Err("the manifest names no driver".to_owned());
        }
        let contents = contents(&manifest.file_list, &files)?;
        manifest.checksum = HEXLOWER.encode(&Md5::digest(&contents));
        manifest.signature = key.map(|key| key.sign(&contents)).transpose()?.unwrap_or_default();
        let content = serde_json::to_vec_pretty(&manifest).map_err(|error| error.to_string())?;
        files.push(ArchivedFile { name: MANIFEST.to_owned(), content });
        archive::write(&files)
    }
}

/// A document without members that are `null`, which means "not set" as in Go.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let set = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(set.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

/// The contents of the listed files, one after the other.
fn contents(list: &[String], files: &[ArchivedFile]) -> Result<Vec<u8>, String> {
    let mut contents = Vec::new();
    for name in list {
        let file = files.iter().find(|file| file.name == *name).ok_or_else(|| format!("{name:?} is missing"))?;
        contents.extend_from_slice(&file.content);
    }
    Ok(contents)
}

#[cfg(test)]
mod tests;
