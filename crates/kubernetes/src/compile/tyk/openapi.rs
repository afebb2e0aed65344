//! TykOasApiDefinition and TykMcpProxyDefinition: an OpenAPI document of a config map, with references to other objects in the resource.

use super::conversion::{Conversion, entries, set, texts};
use super::documents::document_of;
use super::references::target;
use crate::objects::{Key, Object, ResourceKind, TYK_EXTENSION, TykSettings};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

impl Conversion<'_, '_> {
    /// The document that a resource describes.
    ///
    /// # Errors
    /// The first thing that keeps it from being served.
    pub(super) fn openapi(&mut self, kind: ResourceKind, object: &Object<TykSettings>) -> Result<Value, String> {
        let mut document = document_of(self.names.cluster, kind, object)?;
        let Some(Value::Object(mut extension)) = document.remove(TYK_EXTENSION) else {
            return Err(format!("the document has no object {TYK_EXTENSION}"));
        };
        let settings = &object.spec;
        set(&mut extension, &["info", "id"], json!(self.id));
        if !self.org.is_empty() {
            set(&mut extension, &["info", "orgId"], json!(self.org));
        }
        self.add_domain(settings, &mut extension)?;
        self.add_client_certificates(settings, &mut extension)?;
        self.add_upstream_certificates(settings, &mut extension)?;
        self.add_pins(settings, &mut extension)?;
        self.add_request_signing(settings, &mut extension)?;
        self.add_policies(settings, &document, &mut extension);
        self.add_versions(settings, &mut extension)?;
        document.insert(TYK_EXTENSION.to_owned(), Value::Object(extension));
        if kind == ResourceKind::TykMcpProxyDefinition {
            set(&mut document, &["x-tollgate", "application_protocol"], json!("mcp"));
        }
        Ok(Value::Object(document))
    }

    fn add_domain(&mut self, settings: &TykSettings, extension: &mut Map<String, Value>) -> Result<(), String> {
        let Some(domain) = settings.0.get("customDomain") else { return Ok(()) };
        let mut ids: Vec<String> = texts(domain.get("certificates")).map(str::to_owned).collect();
        for name in texts(domain.get("certificatesRef")) {
            ids.push(self.own_certificate("spec.customDomain.certificatesRef", name)?);
        }
        let member = |name: &str| domain.get(name).cloned().unwrap_or_default();
        let new = json!({"enabled": member("enabled"), "name": member("name"), "certificates": ids});
        set(extension, &["server", "customDomain"], new);
        Ok(())
    }

    fn add_client_certificates(&mut self, settings: &TykSettings, extension: &mut Map<String, Value>) -> Result<(), String> {
        let Some(written) = settings.0.get("clientCertificate") else { return Ok(()) };
        let ids = texts(written.get("allowlist")).map(|name| self.certificate("spec.clientCertificate.allowlist", name));
        let ids: Vec<String> = ids.collect::<Result<_, _>>()?;
        let is_enabled = written.get("enabled").and_then(Value::as_bool).unwrap_or_default();
        set(extension, &["server", "clientCertificates"], json!({"enabled": is_enabled, "allowlist": ids}));
        Ok(())
    }

    fn add_upstream_certificates(&mut self, settings: &TykSettings, extension: &mut Map<String, Value>) -> Result<(), String> {
        let Some(written) = settings.0.get("mutualTLS") else { return Ok(()) };
        let mut mapped: Vec<Value> = Vec::new();
        for entry in entries(written.get("domainToCertificateMapping")) {
            let text = |name: &str| entry.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            let id = match text("certificateRef") {
                Some(name) => self.own_certificate("spec.mutualTLS.domainToCertificateMapping", name)?,
                None => text("certificateID").unwrap_or_default().to_owned(),
            };
            mapped.push(json!({"domain": text("domain"), "certificate": id}));
        }
        let is_enabled = written.get("enabled").and_then(Value::as_bool).unwrap_or_default();
        set(extension, &["upstream", "mutualTLS"], json!({"enabled": is_enabled, "domainToCertificateMapping": mapped}));
        Ok(())
    }

    fn add_pins(&mut self, settings: &TykSettings, extension: &mut Map<String, Value>) -> Result<(), String> {
        let Some(written) = settings.0.get("certificatePinning") else { return Ok(()) };
        let mut mapped: Vec<Value> = Vec::new();
        for entry in entries(written.get("domainToPublicKeysMapping")) {
            let mut pins: Vec<String> = texts(entry.get("publicKeys")).map(str::to_owned).collect();
            for name in texts(entry.get("publicKeyRefs")) {
                pins.push(self.public_key("spec.certificatePinning.domainToPublicKeysMapping", name)?);
            }
            mapped.push(json!({"domain": entry.get("domain"), "publicKeys": pins}));
        }
        let is_enabled = written.get("enabled").and_then(Value::as_bool).unwrap_or_default();
        set(extension, &["upstream", "certificatePinning"], json!({"enabled": is_enabled, "domainToPublicKeysMapping": mapped}));
        Ok(())
    }

    fn add_request_signing(&mut self, settings: &TykSettings, extension: &mut Map<String, Value>) -> Result<(), String> {
        let Some(written) = settings.0.get("upstreamRequestSigning") else { return Ok(()) };
        let mut put = |name: &str, value: Value| set(extension, &["upstream", "authentication", "requestSigning", name], value);
        for name in ["algorithm", "keyId"] {
            if let Some(value) = written.get(name) {
                put(name, value.clone());
            }
        }
        if let Some(name) = written.get("certificateRef").and_then(Value::as_str).filter(|name| !name.is_empty()) {
            put("certificateId", json!(self.own_certificate("spec.upstreamRequestSigning.certificateRef", name)?));
        }
        if let Some(reference) = written.get("secretRef") {
            let key = target(reference, &self.metadata.namespace);
            let name = reference.get("keyName").and_then(Value::as_str).unwrap_or_default();
            let found = self.names.cluster.secrets.get(&key).and_then(|secret| secret.spec.data.get(name));
            let found = found.and_then(|written| String::from_utf8(STANDARD.decode(written).ok()?).ok());
            let secret =
                found.ok_or_else(|| format!("spec.upstreamRequestSigning.secretRef: the Secret {key} has no text {name:?}"))?;
            put("secret", json!(secret));
        }
        put("enabled", json!(true));
        Ok(())
    }

    /// The policies of tokens, in each scheme that is one for tokens.
    fn add_policies(&self, settings: &TykSettings, document: &Map<String, Value>, extension: &mut Map<String, Value>) {
        let Some(written) = settings.0.get("jwtAuth") else { return };
        let schemes =
            document.get("components").and_then(|components| components.get("securitySchemes")).and_then(Value::as_object);
        let is_for_tokens = |scheme: &Value| {
            let has = |name: &str, value: &str| {
                scheme.get(name).and_then(Value::as_str).is_some_and(|text| text.eq_ignore_ascii_case(value))
            };
            has("type", "http") && has("scheme", "bearer") && has("bearerFormat", "JWT")
        };
        for (name, _) in schemes.into_iter().flatten().filter(|(_, scheme)| is_for_tokens(scheme)) {
            let at = ["server", "authentication", "securitySchemes", name.as_str()];
            let mut put = |rest: &[&str], value: Value| set(extension, &[at.as_slice(), rest].concat(), value);
            let policy = |reference: &Value| self.policy_of(&target(reference, &self.metadata.namespace));
            if let Some(references) = written.get("defaultPoliciesRef") {
                put(&["defaultPolicies"], entries(Some(references)).iter().map(|reference| json!(policy(reference))).collect());
            }
            let Some(scopes) = written.get("scopes") else { continue };
            if let Some(claim) = scopes.get("claimName") {
                put(&["scopes", "claimName"], claim.clone());
            }
            let mapped = entries(scopes.get("scopeToPolicyMapping")).iter();
            let mapped =
                mapped.filter_map(|entry| Some(json!({"scope": entry.get("scope")?, "policyId": policy(entry.get("policyRef")?)})));
            put(&["scopes", "scopeToPolicyMapping"], mapped.collect());
        }
    }

    fn add_versions(&self, settings: &TykSettings, extension: &mut Map<String, Value>) -> Result<(), String> {
        let Some(Value::Object(written)) = settings.0.get("versioning") else { return Ok(()) };
        let mut versions: Vec<Value> = Vec::new();
        for entry in entries(written.get("versions")) {
            let key = target(entry.get("tykOasApiDefinitionRef").unwrap_or(&Value::Null), &self.metadata.namespace);
            let id = self.names.api_of_kind(ResourceKind::TykOasApiDefinition, &key);
            let id = id.ok_or_else(|| format!("spec.versioning.versions: the TykOasApiDefinition {key} does not exist"))?;
            versions.push(json!({"name": entry.get("name"), "id": id}));
        }
        let mut versioning = written.clone();
        versioning.insert("versions".to_owned(), Value::Array(versions));
        set(extension, &["info", "versioning"], Value::Object(versioning));
        Ok(())
    }
}

/// The versions that a resource refers to.
pub(super) fn versions(object: &Object<TykSettings>) -> impl Iterator<Item = (&str, Key)> {
    let written = object.spec.0.get("versioning").and_then(|versioning| versioning.get("versions"));
    entries(written).iter().filter_map(|entry| {
        let key = target(entry.get("tykOasApiDefinitionRef")?, &object.metadata.namespace);
        Some((entry.get("name")?.as_str()?, key))
    })
}
