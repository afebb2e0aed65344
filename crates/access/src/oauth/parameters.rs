//! The parameters of a request to the provider, from its query and its body. The body is a form or, as in Tyk, a JSON object of texts. A
//! repeated parameter is an error (RFC 6749, section 3.2), because nobody can say which one counts.

use super::refused::{ErrorCode, OauthRefusal};
use serde_json::Value;
use tollgate_http::form::decode_form;

/// Most parameters of a request; the endpoints use no more than a dozen.
const PARAMETERS_MAX: usize = 64;
/// Longest name or value, in bytes, except for `key_rules`. Challenges and tokens have some hundred bytes.
const TEXT_BYTES_MAX: usize = 8 << 10;
/// Parameter that may be longer: it holds a whole session.
const LONG: &str = "key_rules";
/// Parameters that a URL must not contain, because URLs are logged (RFC 6749, section 2.3.1).
const NEVER_IN_QUERY: [&str; 2] = ["client_secret", "password"];

/// Names and values.
#[derive(Default)]
pub struct OauthParameters(Vec<(String, String)>);

impl OauthParameters {
    /// The parameters of a request.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidRequest`] with the reason.
    pub fn read(query: Option<&str>, content_type: Option<&str>, body: &[u8]) -> Result<Self, OauthRefusal> {
        let mut parameters = OauthParameters::default();
        parameters.add_form(query.unwrap_or_default())?;
        parameters.0.retain(|(name, _)| !NEVER_IN_QUERY.contains(&name.as_str()));
        let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
        let text = std::str::from_utf8(body).map_err(|_| wrong("the body is not UTF-8"))?;
        match essence.to_ascii_lowercase().as_str() {
            _ if body.is_empty() => {}
            "" | "application/x-www-form-urlencoded" => parameters.add_form(text)?,
            "application/json" => parameters.add_json(text)?,
            _ => return Err(wrong("the body must be application/x-www-form-urlencoded")),
        }
        Ok(parameters)
    }

    /// The value of a parameter, empty when there is none.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    /// The value of a parameter that is present and not empty.
    pub fn find(&self, name: &str) -> Option<&str> {
        Some(self.get(name)).filter(|value| !value.is_empty())
    }

    fn add_form(&mut self, text: &str) -> Result<(), OauthRefusal> {
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (Some(name), Some(value)) = (decode_form(name), decode_form(value)) else {
                return Err(wrong("a parameter has an invalid escape"));
            };
            self.add(name, value)?;
        }
        Ok(())
    }

    fn add_json(&mut self, text: &str) -> Result<(), OauthRefusal> {
        let Ok(Value::Object(members)) = serde_json::from_str(text) else {
            return Err(wrong("the body is not a JSON object"));
        };
        for (name, value) in members {
            match value {
                Value::String(value) => self.add(name, value)?,
                Value::Null => {}
                _ => return Err(wrong("the members of the body must be texts")),
            }
        }
        Ok(())
    }

    fn add(&mut self, name: String, value: String) -> Result<(), OauthRefusal> {
        let is_known = |known: &(String, String)| known.0 == name;
        if name.len() > TEXT_BYTES_MAX || value.len() > TEXT_BYTES_MAX && name != LONG {
            return Err(wrong("a parameter is too long"));
        }
        if self.0.iter().any(is_known) {
            // The message does not repeat the name, which may be any text.
            return Err(wrong("a parameter comes more than once"));
        }
        if self.0.len() >= PARAMETERS_MAX {
            return Err(wrong("there are too many parameters"));
        }
        self.0.push((name, value));
        Ok(())
    }
}

fn wrong(what: &'static str) -> OauthRefusal {
    OauthRefusal::because(ErrorCode::InvalidRequest, what)
}

#[cfg(test)]
mod tests;
