//! The identity of a caller, as `id_extractor` finds it in a request.

use super::xml_path::XmlPath;
use crate::exchange::Exchange;
use regex::Regex;
use std::borrow::Cow;
use tollgate_http::form::pairs;
use tollgate_model::api::IdExtractor;

/// Finds the identity of a caller.
pub(super) struct CallerId {
    source: IdSource,
    how: IdForm,
}

enum IdSource {
    Header(String),
    Form(String),
    Body,
}

enum IdForm {
    /// The whole text.
    Value,
    /// The match of an expression with this number.
    Match(Regex, usize),
    /// What a path finds in XML.
    Path(XmlPath),
}

impl CallerId {
    /// Compiles the settings; `None` if there are none. `Err` is the field and the reason.
    pub(super) fn new(settings: &IdExtractor) -> Result<Option<Self>, (&'static str, String)> {
        if settings.disabled || settings.extract_with.is_empty() {
            return Ok(None);
        }
        let config = &settings.extractor_config;
        let how = match settings.extract_with.as_str() {
            "value" => IdForm::Value,
            "regex" => {
                let expression = tollgate_re2::compile(&config.regex_expression);
                let expression =
                    expression.map_err(|error| ("extractor_config.regex_expression", format!("is not valid: {error}")))?;
                let index = usize::try_from(config.regex_match_index);
                IdForm::Match(
                    expression,
                    index.map_err(|_| ("extractor_config.regex_match_index", "must be at least 0".to_owned()))?,
                )
            }
            "xpath" => {
                let path = XmlPath::compile(&config.xpath_expression);
                IdForm::Path(path.map_err(|why| ("extractor_config.xpath_expression", format!("is not valid: {why}")))?)
            }
            other => return Err(("extract_with", format!("{other:?} is none of value, regex, xpath"))),
        };
        let source = match settings.extract_from.as_str() {
            "header" if config.header_name.is_empty() => return Err(("extractor_config.header_name", "is missing".to_owned())),
            "header" => IdSource::Header(config.header_name.clone()),
            "form" if config.param_name.is_empty() => return Err(("extractor_config.param_name", "is missing".to_owned())),
            "form" => IdSource::Form(config.param_name.clone()),
            "body" if matches!(how, IdForm::Value) => {
                return Err(("extract_from", "a whole body is no identity; use \"regex\" or \"xpath\"".to_owned()));
            }
            "body" => IdSource::Body,
            other => return Err(("extract_from", format!("{other:?} is none of header, form, body"))),
        };
        Ok(Some(CallerId { source, how }))
    }

    /// Whether the identity may be in the body, which must have been read then.
    pub(super) fn reads_body(&self) -> bool {
        !matches!(self.source, IdSource::Header(_))
    }

    /// The identity; `None` if the request has none.
    pub(super) fn find(&self, exchange: &Exchange<'_>) -> Option<String> {
        let text: Cow<'_, str> = match &self.source {
            IdSource::Header(name) => String::from_utf8_lossy(exchange.received().get(name)?),
            IdSource::Form(name) => {
                let fields = exchange.form().into_iter().chain(exchange.query()).flat_map(pairs);
                let values: Vec<String> = fields.filter(|(known, _)| known == name).map(|(_, value)| value).collect();
                if values.is_empty() {
                    return None;
                }
                Cow::Owned(values.concat())
            }
            IdSource::Body => String::from_utf8_lossy(exchange.body()),
        };
        match &self.how {
            IdForm::Value => Some(text.into_owned()).filter(|text| !text.is_empty()),
            IdForm::Path(path) => path.find(&text).filter(|text| !text.is_empty()),
            IdForm::Match(expression, index) => expression.find_iter(&text).nth(*index).map(|found| found.as_str().to_owned()),
        }
    }
}
