//! Pictures and documents of a client's request: bytes in either alphabet of base64, or where they are.

use super::proof::bytes_of;
use crate::form::{Media, Part, Unsupported};
use crate::json::Fields;
use data_encoding::BASE64;

/// Places of files that Google keeps for its own models.
const KEPT: [&str; 3] = ["gs://", "https://generativelanguage.googleapis.com/", "files/"];

/// Reads `inlineData`.
pub(super) fn read_inline(mut data: Fields) -> Result<Part, Unsupported> {
    let media_type = data.needed_text("mimeType")?;
    let text = data.needed_text("data")?;
    let name = data.text("displayName")?;
    let Some(bytes) = bytes_of(&text) else { return data.refuse("data", "must be base64") };
    let part = if media_type.starts_with("text/") {
        match String::from_utf8(bytes) {
            Ok(text) => Part::Document(Media::Text(text), name),
            Err(_) => return data.refuse("data", "must be text in UTF-8"),
        }
    } else {
        match part_of(&media_type, Media::Base64 { media_type: media_type.clone(), data: BASE64.encode(&bytes) }, name) {
            Some(part) => part,
            None => return data.refuse("mimeType", NO_COUNTERPART),
        }
    };
    data.done()?;
    Ok(part)
}

/// Reads `fileData`.
pub(super) fn read_file(mut data: Fields) -> Result<Part, Unsupported> {
    let url = data.needed_text("fileUri")?;
    if KEPT.iter().any(|place| url.starts_with(place)) {
        return data.refuse("fileUri", "files that the provider keeps have no counterpart elsewhere");
    }
    let name = data.text("displayName")?;
    let media_type = data.text("mimeType")?.or_else(|| media_type_of(&url).map(str::to_owned));
    let Some(media_type) = media_type else { return data.refuse("mimeType", "is missing") };
    match part_of(&media_type, Media::Url(url), name) {
        Some(part) => {
            data.done()?;
            Ok(part)
        }
        None => data.refuse("mimeType", NO_COUNTERPART),
    }
}

const NO_COUNTERPART: &str = "only pictures, PDF and text have a counterpart at the provider of this model";

fn part_of(media_type: &str, media: Media, name: Option<String>) -> Option<Part> {
    match media_type {
        "application/pdf" => Some(Part::Document(media, name)),
        kind if kind.starts_with("image/") => Some(Part::Image(media)),
        _ => None,
    }
}

/// The type that a URL's ending means.
pub(super) fn media_type_of(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next()?;
    let (_, ending) = path.rsplit_once('.')?;
    Some(match ending.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "gif" => "image/gif",
        "pdf" => "application/pdf",
        _ => return None,
    })
}
