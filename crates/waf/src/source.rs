//! Where values of a request come from, and the names by which rules call them.

/// One collection of values. A variable that has only one value is a collection, too, whose value has no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ValueSource {
    ArgsGet,
    ArgsPost,
    ArgsCombinedSize,
    Cookies,
    Files,
    FilesCombinedSize,
    Headers,
    MatchedVar,
    MatchedVarName,
    MatchedVars,
    MatchedVarsNames,
    MultipartPartHeaders,
    QueryString,
    RemoteAddr,
    BodyError,
    BodyErrorMessage,
    BodyProcessor,
    RequestBasename,
    RequestBody,
    RequestBodyLength,
    RequestFilename,
    RequestLine,
    RequestMethod,
    RequestProtocol,
    RequestUri,
    RequestUriRaw,
    ResponseBody,
    ResponseContentType,
    ResponseHeaders,
    ResponseProtocol,
    ResponseStatus,
    Tx,
    UniqueId,
    XmlAttributes,
    XmlText,
}

/// Which part of a value an operator looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    Name,
    Value,
}

use Part::{Name, Value};
use ValueSource as S;

/// Names of variables with their sources.
const NAMED: &[(&str, &[ValueSource], Part)] = &[
    ("ARGS", &[S::ArgsGet, S::ArgsPost], Value),
    ("ARGS_COMBINED_SIZE", &[S::ArgsCombinedSize], Value),
    ("ARGS_GET", &[S::ArgsGet], Value),
    ("ARGS_GET_NAMES", &[S::ArgsGet], Name),
    ("ARGS_NAMES", &[S::ArgsGet, S::ArgsPost], Name),
    ("ARGS_POST", &[S::ArgsPost], Value),
    ("ARGS_POST_NAMES", &[S::ArgsPost], Name),
    ("FILES", &[S::Files], Value),
    ("FILES_COMBINED_SIZE", &[S::FilesCombinedSize], Value),
    ("FILES_NAMES", &[S::Files], Name),
    ("MATCHED_VAR", &[S::MatchedVar], Value),
    ("MATCHED_VARS", &[S::MatchedVars], Value),
    ("MATCHED_VARS_NAMES", &[S::MatchedVarsNames], Value),
    ("MATCHED_VAR_NAME", &[S::MatchedVarName], Value),
    ("MULTIPART_PART_HEADERS", &[S::MultipartPartHeaders], Value),
    ("QUERY_STRING", &[S::QueryString], Value),
    ("REMOTE_ADDR", &[S::RemoteAddr], Value),
    ("REQBODY_ERROR", &[S::BodyError], Value),
    ("REQBODY_ERROR_MSG", &[S::BodyErrorMessage], Value),
    ("REQBODY_PROCESSOR", &[S::BodyProcessor], Value),
    ("REQUEST_BASENAME", &[S::RequestBasename], Value),
    ("REQUEST_BODY", &[S::RequestBody], Value),
    ("REQUEST_BODY_LENGTH", &[S::RequestBodyLength], Value),
    ("REQUEST_COOKIES", &[S::Cookies], Value),
    ("REQUEST_COOKIES_NAMES", &[S::Cookies], Name),
    ("REQUEST_FILENAME", &[S::RequestFilename], Value),
    ("REQUEST_HEADERS", &[S::Headers], Value),
    ("REQUEST_HEADERS_NAMES", &[S::Headers], Name),
    ("REQUEST_LINE", &[S::RequestLine], Value),
    ("REQUEST_METHOD", &[S::RequestMethod], Value),
    ("REQUEST_PROTOCOL", &[S::RequestProtocol], Value),
    ("REQUEST_URI", &[S::RequestUri], Value),
    ("REQUEST_URI_RAW", &[S::RequestUriRaw], Value),
    ("RESPONSE_BODY", &[S::ResponseBody], Value),
    ("RESPONSE_CONTENT_TYPE", &[S::ResponseContentType], Value),
    ("RESPONSE_HEADERS", &[S::ResponseHeaders], Value),
    ("RESPONSE_HEADERS_NAMES", &[S::ResponseHeaders], Name),
    ("RESPONSE_PROTOCOL", &[S::ResponseProtocol], Value),
    ("RESPONSE_STATUS", &[S::ResponseStatus], Value),
    ("TX", &[S::Tx], Value),
    ("UNIQUE_ID", &[S::UniqueId], Value),
];

impl ValueSource {
    /// The sources of the variable with this name, in capitals.
    pub(crate) fn named(name: &str) -> Option<(&'static [ValueSource], Part)> {
        NAMED.iter().find(|(known, ..)| *known == name).map(|(_, sources, part)| (*sources, *part))
    }

    /// Whether its values come from the body of a request, or are made of them.
    pub(crate) fn is_of_body(self) -> bool {
        matches!(
            self,
            S::ArgsPost
                | S::Files
                | S::MatchedVar
                | S::MatchedVarName
                | S::MatchedVars
                | S::MatchedVarsNames
                | S::MultipartPartHeaders
                | S::RequestBody
                | S::XmlAttributes
                | S::XmlText
        )
    }

    /// What the variable is called in reports.
    pub(crate) fn title(self, wanted: Part) -> &'static str {
        let by_part = |kind: Part| NAMED.iter().filter(move |(_, sources, part)| *part == kind && sources.contains(&self));
        // The name with the most sources: `ARGS`, not `ARGS_GET`.
        let found = by_part(wanted).max_by_key(|(_, sources, _)| sources.len());
        found.map_or("XML", |(name, ..)| name)
    }
}
