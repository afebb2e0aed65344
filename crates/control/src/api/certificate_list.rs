//! `/tyk/list/certs`: a page of the uploaded certificates, with who uses them.

use super::Control;
use super::answer::{ControlAnswer, Error};
use super::lists::{Asked, ListPage};
use axum::extract::{Query, State};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use tollgate_access::certificates;

/// Bytes of an id: at least those of a SHA-256 in hexadecimal digits.
const ID_BYTES_MIN: usize = 64;
/// Uses that a row names; with more, the certificate is used anyway.
const USES_MAX: usize = 20;

/// What uses a certificate.
#[derive(Serialize)]
struct CertificateUse {
    /// `configuration` or `api`.
    what: &'static str,
    id: String,
}

/// A page of the uploaded certificates
///
/// Rows are those of `GET /tyk/certs?mode=detailed`, with `used_by`: up to 20 uses by the configuration or by definitions. Keys that name a
/// certificate are not looked at.
#[utoipa::path(
    get, path = "/tyk/list/certs", tag = "Lists", operation_id = "searchCertificates",
    security(("secret" = ["viewer", "scope:closed"])),
    params(
        ("q" = Option<String>, Query, description = "Words that must all be in the row, in any letter case."),
        ("sort" = Option<String>, Query, description = "`not_after`, `subject_cn` or `id`; `-` before it for descending.", example = "not_after"),
        ("limit" = Option<String>, Query, description = "Rows, 1 to 1000; 100 by default."),
        ("after" = Option<String>, Query, description = "`next` of the page before."),
    ),
    responses(
        (status = 200, body = ListPage, description = "The page."),
        (status = 400, body = Error, description = "A parameter has an invalid value."),
    )
)]
pub(super) async fn certs(State(control): State<Arc<Control>>, Query(query): Query<HashMap<String, String>>) -> ControlAnswer {
    let asked = match Asked::read(&query, &["not_after", "subject_cn", "id"]) {
        Ok(asked) => asked,
        Err(answer) => return answer,
    };
    let store = &control.shared.certificates;
    let ids = store.ids("");
    let uses = uses(&control, &ids);
    let all = ids.iter().filter_map(|id| {
        let mut row = serde_json::to_value(certificates::summary(id, &*store.get(id)?)).ok()?;
        let used_by = uses.get(id.as_str()).map(Vec::as_slice).unwrap_or_default();
        row.as_object_mut()?.insert("used_by".to_owned(), json!(used_by));
        Some(row)
    });
    let rows = all.filter(|row| asked.fits(std::iter::once(row.to_string().as_str()))).collect();
    asked.page(rows, ids.len())
}

/// Who names each of these certificates.
fn uses<'i>(control: &Control, ids: &'i [String]) -> HashMap<&'i str, Vec<CertificateUse>> {
    let mut uses: HashMap<&str, Vec<CertificateUse>> = ids.iter().map(|id| (id.as_str(), Vec::new())).collect();
    let mut note = |text: &str, what: &'static str, by: &str| {
        for name in text.split(',').map(str::trim).filter(|name| name.len() >= ID_BYTES_MIN) {
            let Some(users) = uses.get_mut(name) else { continue };
            let is_known = users.last().is_some_and(|last| (last.what, last.id.as_str()) == (what, by));
            if users.len() < USES_MAX && !is_known {
                users.push(CertificateUse { what, id: by.to_owned() });
            }
        }
    };
    control.shared.settings.documents.certificates_named.iter().for_each(|name| note(name, "configuration", ""));
    for api in &control.shared.current.load().apis {
        // Definitions name certificates in several fields, and more are added.
        each_text(&api.raw, &mut |text| note(text, "api", &api.id));
    }
    uses
}

fn each_text(value: &Value, visit: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, visit)),
        Value::Object(members) => members.values().for_each(|member| each_text(member, visit)),
        _ => {}
    }
}
