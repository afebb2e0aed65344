//! `tollgate certs`.

use super::session::shown;
use super::{CommandFailure, Gateway, accepted, document, segment, table};
use clap::{Args, Subcommand};
use serde_json::Value;
use std::path::PathBuf;

/// Commands about certificates.
#[derive(Debug, Subcommand)]
pub enum Certs {
    /// List the certificates.
    List(OrgArgument),
    /// Show a certificate.
    Show(CertificateArguments),
    /// Add a certificate with or without its private key, or a public key.
    Add(AddCertificate),
    /// Delete certificates.
    #[command(visible_alias = "rm")]
    Delete(DeleteCertificate),
}

/// The organisation.
#[derive(Debug, Args)]
pub struct OrgArgument {
    /// Only certificates of this organisation
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    org: String,
}

/// The certificate.
#[derive(Debug, Args)]
pub struct CertificateArguments {
    /// The certificate's id
    #[arg(value_name = "ID")]
    id: String,
}

/// Options of `add`.
#[derive(Debug, Args)]
pub struct AddCertificate {
    /// PEM files of one certificate: the certificate, its chain, its private key; - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The organisation that owns it
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    org: String,
}

/// Options of `delete`.
#[derive(Debug, Args)]
pub struct DeleteCertificate {
    /// Ids of certificates
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

pub(super) fn run(command: Certs, gateway: &Gateway) -> Result<(), CommandFailure> {
    match command {
        Certs::List(OrgArgument { org }) => list(&org, gateway),
        Certs::Show(CertificateArguments { id }) => {
            let certificate = gateway.get(&path(&id))?;
            gateway.print(&certificate, || serde_json::to_string_pretty(&certificate).unwrap_or_default());
            Ok(())
        }
        Certs::Add(options) => add(&options, gateway),
        Certs::Delete(DeleteCertificate { ids }) => {
            for id in ids {
                // The gateway, like Tyk, reports "removed" even for an unknown id.
                if gateway.find(&path(&id))?.is_none() {
                    return Err(CommandFailure::Refused(format!("there is no certificate with the id {id}")));
                }
                let answer = gateway.call("DELETE", &path(&id), None)?;
                gateway.print(&answer, || format!("{id}: deleted"));
            }
            Ok(())
        }
    }
}

fn path(id: &str) -> String {
    format!("/tyk/certs/{}", segment(id))
}

fn list(org: &str, gateway: &Gateway) -> Result<(), CommandFailure> {
    let answer = gateway.get(&format!("/tyk/certs?mode=detailed&org_id={}", segment(org)))?;
    gateway.print(&answer, || {
        let rows = answer.get("certs").and_then(Value::as_array).into_iter().flatten().map(|line| {
            let has_key = line.get("has_private") == Some(&true.into());
            let names = shown(line, "dns_names");
            let key = if has_key { "yes" } else { "no" };
            vec![
                shown(line, "id"),
                shown(line, "subject_cn"),
                names,
                shown(line, "issuer_cn"),
                shown(line, "not_after"),
                key.to_owned(),
            ]
        });
        table::columns(&["id", "subject", "names", "issuer", "ends", "private key"], rows.collect())
    });
    Ok(())
}

fn add(options: &AddCertificate, gateway: &Gateway) -> Result<(), CommandFailure> {
    let mut text = Vec::new();
    for file in &options.files {
        text.extend(document::read(file)?);
        text.push(b'\n');
    }
    let answer = accepted(gateway.ask("POST", &format!("/tyk/certs?org_id={}", segment(&options.org)), Some(text))?)?;
    gateway.print(&answer, || shown(&answer, "id"));
    Ok(())
}
