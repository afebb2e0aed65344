//! Calls of OpenAI's API beside conversations: sound, pictures, moderations. They pass to providers that speak the same API, with the provider's name of the
//! model; nothing of them is translated.

use crate::form::Unsupported;
use crate::json::{Fields, object};
use crate::multipart::MultipartForm;
use crate::provider::{Flavour, Provider, ProviderApi, ProviderRequest};

/// A call by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaCall {
    /// `POST /v1/moderations`.
    Moderations,
    /// `POST /v1/audio/speech`.
    Speech,
    /// `POST /v1/audio/transcriptions`.
    Transcriptions,
    /// `POST /v1/audio/translations`.
    Translations,
    /// `POST /v1/images/generations`.
    ImageGenerations,
    /// `POST /v1/images/edits`.
    ImageEdits,
    /// `POST /v1/images/variations`.
    ImageVariations,
}

/// What a request is made of anew for a provider.
#[derive(Clone, Copy, Debug)]
pub struct MediaChange<'a> {
    /// The model's name there.
    pub model: &'a str,
    /// What separates the parts of a form. Nobody may guess it.
    pub boundary: &'a str,
}

impl MediaCall {
    /// All.
    pub const ALL: [MediaCall; 7] = [
        MediaCall::Moderations,
        MediaCall::Speech,
        MediaCall::Transcriptions,
        MediaCall::Translations,
        MediaCall::ImageGenerations,
        MediaCall::ImageEdits,
        MediaCall::ImageVariations,
    ];

    /// Its path below `/v1`.
    pub fn path(self) -> &'static str {
        match self {
            MediaCall::Moderations => "/moderations",
            MediaCall::Speech => "/audio/speech",
            MediaCall::Transcriptions => "/audio/transcriptions",
            MediaCall::Translations => "/audio/translations",
            MediaCall::ImageGenerations => "/images/generations",
            MediaCall::ImageEdits => "/images/edits",
            MediaCall::ImageVariations => "/images/variations",
        }
    }

    /// The model of requests that name none, as OpenAI documents it.
    fn usual_model(self) -> Option<&'static str> {
        (self == MediaCall::Moderations).then_some("omni-moderation-latest")
    }

    /// The model of a request, by the client's name for it.
    ///
    /// # Errors
    /// The request is broken, or names none.
    pub fn model(self, content_type: &str, body: &[u8], bytes_max: usize) -> Result<String, Unsupported> {
        let model = if is_form(content_type) {
            MultipartForm::read(content_type, body)?.text(MODEL)?.map(str::to_owned)
        } else {
            let mut fields = Fields::of_body(body, bytes_max)?;
            // Servers in Go read names in any capitals, and the last of them counts.
            if let Some(name) = fields.names().find(|name| *name != MODEL && name.eq_ignore_ascii_case(MODEL)) {
                return Err(Unsupported::new(name, "is written in small letters"));
            }
            fields.text(MODEL)?
        };
        model.or(self.usual_model().map(str::to_owned)).ok_or_else(|| Unsupported::new(MODEL, "is missing"))
    }
}

const MODEL: &str = "model";

impl Provider {
    /// Whether requests of these calls are understood.
    pub fn speaks_media(&self) -> bool {
        matches!(self.api, ProviderApi::OpenAi(_))
    }

    /// The request for a provider that speaks OpenAI's API.
    ///
    /// # Errors
    /// As [`MediaCall::model`], or the provider speaks another API.
    pub fn media_request(
        &self,
        call: MediaCall,
        (content_type, body): (&str, &[u8]),
        bytes_max: usize,
        change: MediaChange<'_>,
    ) -> Result<ProviderRequest, Unsupported> {
        let ProviderApi::OpenAi(flavour) = self.api else {
            return Err(Unsupported::new(MODEL, format!("the provider of this model has no {}", call.path())));
        };
        if is_form(content_type) {
            let (content_type, body) = MultipartForm::read(content_type, body)?.write((MODEL, change.model), change.boundary);
            return Ok(self.media_with_head(flavour, call, &content_type, body));
        }
        let body = with_model(body, bytes_max, change.model)?;
        Ok(self.media_with_head(flavour, call, "application/json", body))
    }

    fn media_with_head(&self, flavour: Flavour, call: MediaCall, content_type: &str, body: Vec<u8>) -> ProviderRequest {
        let mut request = self.with_head(flavour.base_path(), call.path(), body);
        let lines = request.headers.iter_mut().filter(|(name, _)| *name == "content-type");
        lines.for_each(|(_, value)| *value = content_type.to_owned());
        request
    }
}

/// Whether a body is a form by its `Content-Type`, and not JSON.
pub fn is_form(content_type: &str) -> bool {
    content_type.get(..10).is_some_and(|kind| kind.eq_ignore_ascii_case("multipart/"))
}

/// The document with this model; all other members as they are.
fn with_model(body: &[u8], bytes_max: usize, model: &str) -> Result<Vec<u8>, Unsupported> {
    let mut fields = Fields::of_body(body, bytes_max)?;
    if fields.text(MODEL)?.as_deref() == Some(model) {
        return Ok(body.to_vec());
    }
    let mut changed = Vec::with_capacity(body.len() + 64);
    object(&mut changed, |out| {
        out.text(MODEL, model);
        for (name, value) in fields.left() {
            out.raw(&name, value.raw());
        }
    });
    Ok(changed)
}

#[cfg(test)]
mod tests;
