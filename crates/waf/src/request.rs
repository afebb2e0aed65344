//! A request taken apart into the values that rules look at.

use crate::body;
use crate::budget::{InspectionBudget, TooMuchWork};
use crate::parameters::{parameters, split_once};
use crate::source::ValueSource;
use crate::transformation::url_decode;
use crate::values::ValueStore;
use std::net::IpAddr;

/// A request as its client sent it.
#[derive(Debug, Clone)]
pub struct InspectedRequest<'a> {
    /// As in the request line.
    pub method: &'a [u8],
    /// Path and query as in the request line.
    pub target: &'a [u8],
    /// Such as `HTTP/1.1`.
    pub protocol: &'a str,
    /// Header lines in their order.
    pub headers: Vec<(&'a [u8], &'a [u8])>,
    /// The body, or as much of it as is inspected. Not compressed.
    pub body: &'a [u8],
    /// Where the client is.
    pub client: IpAddr,
    /// Differs from request to request.
    pub id: &'a str,
}

impl InspectedRequest<'_> {
    /// The values of the head.
    pub(crate) fn fill_head(&self, values: &mut ValueStore, budget: &mut InspectionBudget) -> Result<(), TooMuchWork> {
        let line = [self.method, b" ", self.target, b" ", self.protocol.as_bytes()].concat();
        let uri = without_authority(self.target);
        let uri = split_once(uri, b'#').map_or(uri, |(before, _)| before);
        let (path, query) = split_once(uri, b'?').unwrap_or((uri, b""));
        let path = decode_path(path);
        let basename = path.rsplit(|b| matches!(b, b'/' | b'\\')).next().unwrap_or_default();
        let client = self.client.to_canonical().to_string();
        for (source, value) in [
            (ValueSource::QueryString, query),
            (ValueSource::RemoteAddr, client.as_bytes()),
            (ValueSource::RequestBasename, basename),
            (ValueSource::RequestFilename, &path),
            (ValueSource::RequestLine, &line),
            (ValueSource::RequestMethod, self.method),
            (ValueSource::RequestProtocol, self.protocol.as_bytes()),
            (ValueSource::RequestUri, uri),
            (ValueSource::RequestUriRaw, self.target),
            (ValueSource::UniqueId, self.id.as_bytes()),
        ] {
            values.add(source, b"", value, budget)?;
        }
        for (name, value) in parameters(query) {
            values.add(ValueSource::ArgsGet, &name, &value, budget)?;
        }
        for (name, value) in &self.headers {
            values.add(ValueSource::Headers, name, value, budget)?;
            if name.eq_ignore_ascii_case(b"cookie") {
                for pair in value.split(|b| *b == b';').map(<[u8]>::trim_ascii).filter(|pair| !pair.is_empty()) {
                    let (name, value) = split_once(pair, b'=').unwrap_or((pair, b""));
                    values.add(ValueSource::Cookies, name, value, budget)?;
                }
            }
        }
        let processor = body::default_processor(self.header(b"content-type").unwrap_or_default());
        values.set(ValueSource::BodyProcessor, processor.as_bytes());
        Ok(())
    }

    /// The first header with this name, in lower case.
    pub(crate) fn header(&self, name: &[u8]) -> Option<&[u8]> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }
}

/// Path and query of a target that names a server, too.
fn without_authority(target: &[u8]) -> &[u8] {
    let Some(scheme) = memchr::memmem::find(target, b"://").filter(|end| *end <= 5 && !target.starts_with(b"/")) else {
        return target;
    };
    let behind = target.get(scheme + 3..).unwrap_or_default();
    let slash = behind.iter().position(|b| matches!(b, b'/' | b'?'));
    slash.and_then(|slash| behind.get(slash..)).unwrap_or(b"/")
}

/// As parameters, but a plus is a plus.
fn decode_path(path: &[u8]) -> Vec<u8> {
    let parts: Vec<Vec<u8>> = path.split(|b| *b == b'+').map(url_decode).collect();
    parts.join(&b'+')
}
