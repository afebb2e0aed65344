//! One call as a module sees and changes it. What the call was made with stays as it is until it ends, so that it can start again.

use crate::header_changes::{HeaderChanges, Lines, TooManyHeaders};
use crate::limits::{BODY_BYTES_MAX, CHANGED_BYTES_MAX};
use serde_json::{Map, Value};
use tollgate_plugin::{HookCall, HookKind, PluginResponse};

/// Pseudo headers of a request.
const PSEUDO_HEADERS: usize = 4;

/// A list of headers, by its number in the interface. Trailers and those of other calls are always empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderList {
    Request,
    Response,
}

impl HeaderList {
    /// The list with a number.
    pub(crate) fn of(number: i32) -> Option<Self> {
        match number {
            0 => Some(HeaderList::Request),
            2 => Some(HeaderList::Response),
            _ => None,
        }
    }
}

/// A call and its changes.
pub(crate) struct WasmCall {
    pub call: HookCall,
    pub request: HeaderChanges,
    pub response: HeaderChanges,
    pub method: Option<String>,
    pub url: Option<String>,
    pub status: Option<u16>,
    /// The new body of the request, or of the response for a response hook.
    pub body: Option<Vec<u8>>,
    /// The response that ends the request.
    pub reply: Option<LocalReply>,
    /// Whether the plugin has continued a request that it had paused.
    pub is_continued: bool,
    pub session: Option<Vec<u8>>,
    pub token: Option<String>,
    pub meta_data: Option<Map<String, Value>>,
    property_bytes: usize,
}

/// The response with which a plugin ends a request.
#[derive(Debug)]
pub(crate) struct LocalReply {
    pub status: i64,
    pub body: Vec<u8>,
    pub headers: Lines,
}

/// Why a change is not made.
#[derive(Debug)]
pub(crate) enum ChangeFault {
    /// There is no such thing, or it cannot have this value.
    Invalid,
    /// It is more than a call may change; this ends the call.
    TooMuch(&'static str),
}

impl From<TooManyHeaders> for ChangeFault {
    fn from(_: TooManyHeaders) -> Self {
        ChangeFault::TooMuch("the plugin changes too many headers")
    }
}

impl WasmCall {
    pub(crate) fn new(call: HookCall) -> Self {
        WasmCall {
            call,
            request: HeaderChanges::default(),
            response: HeaderChanges::default(),
            method: None,
            url: None,
            status: None,
            body: None,
            reply: None,
            is_continued: false,
            session: None,
            token: None,
            meta_data: None,
            property_bytes: 0,
        }
    }

    /// The list that this hook may change.
    pub(crate) fn own_list(&self) -> HeaderList {
        if self.call.kind == HookKind::Response { HeaderList::Response } else { HeaderList::Request }
    }

    /// The path and query as they are now.
    pub(crate) fn url(&self) -> &str {
        self.url.as_deref().unwrap_or(&self.call.request.url)
    }

    /// The method as it is now.
    pub(crate) fn method(&self) -> &str {
        self.method.as_deref().unwrap_or(&self.call.request.method)
    }

    /// The status of the response as it is now.
    pub(crate) fn status(&self) -> Option<u16> {
        self.status.or_else(|| self.call.response.as_ref().map(|response| response.status))
    }

    /// The first value of a header, or a pseudo header.
    pub(crate) fn header(&self, list: HeaderList, name: &str) -> Option<String> {
        if name.starts_with(':') {
            return self.pseudo_headers(list).into_iter().find_map(|(known, value)| (known == name).then_some(value));
        }
        if list == HeaderList::Request && name.eq_ignore_ascii_case("host") {
            return Some(self.call.request.host.clone());
        }
        self.changes(list).first(self.lines(list), name).map(str::to_owned)
    }

    /// All pseudo headers of a list.
    pub(crate) fn pseudo_headers(&self, list: HeaderList) -> Vec<(&'static str, String)> {
        match list {
            HeaderList::Request => vec![
                (":authority", self.call.request.host.clone()),
                (":path", self.url().to_owned()),
                (":method", self.method().to_owned()),
                (":scheme", self.call.request.scheme.to_owned()),
            ],
            HeaderList::Response => self.status().map(|status| (":status", status.to_string())).into_iter().collect(),
        }
    }

    /// The changes of a list.
    pub(crate) fn changes(&self, list: HeaderList) -> &HeaderChanges {
        match list {
            HeaderList::Request => &self.request,
            HeaderList::Response => &self.response,
        }
    }

    /// The lines of a list without its changes.
    pub(crate) fn lines(&self, list: HeaderList) -> &[(String, String)] {
        match list {
            HeaderList::Request => &self.call.request.headers,
            HeaderList::Response => response_lines(self.call.response.as_ref()),
        }
    }

    /// Number of lines of a list.
    pub(crate) fn line_count(&self, list: HeaderList) -> usize {
        let pseudo_headers = match list {
            HeaderList::Request => PSEUDO_HEADERS,
            HeaderList::Response => 1,
        };
        self.changes(list).current(self.lines(list)).count() + pseudo_headers
    }

    /// Changes a header of the list that this hook may change.
    pub(crate) fn change(&mut self, list: HeaderList, change: LineChange<'_>) -> Result<(), ChangeFault> {
        if list != self.own_list() {
            return Err(ChangeFault::Invalid);
        }
        if let LineChange::Set(name, value) | LineChange::Add(name, value) = change
            && name.starts_with(':')
        {
            return self.set_pseudo_header(list, name, value);
        }
        let (changes, lines) = match list {
            HeaderList::Request => (&mut self.request, self.call.request.headers.as_slice()),
            HeaderList::Response => (&mut self.response, response_lines(self.call.response.as_ref())),
        };
        match change {
            LineChange::Set(name, value) => changes.set(lines, name, value)?,
            LineChange::Add(name, value) => changes.add(lines, name, value)?,
            LineChange::Remove(name) if name.starts_with(':') => return Err(ChangeFault::Invalid),
            LineChange::Remove(name) => changes.remove(lines, name)?,
            LineChange::RemoveAll => changes.remove_all(lines)?,
        }
        Ok(())
    }

    fn set_pseudo_header(&mut self, list: HeaderList, name: &str, value: &str) -> Result<(), ChangeFault> {
        self.count(name.len() + value.len())?;
        match (list, name) {
            (HeaderList::Request, ":path") => self.url = Some(value.to_owned()),
            (HeaderList::Request, ":method") => self.method = Some(value.to_owned()),
            // As for other plugins: the gateway writes them.
            (HeaderList::Request, ":authority" | ":scheme") => {}
            (HeaderList::Response, ":status") => self.status = Some(value.parse().map_err(|_| ChangeFault::Invalid)?),
            _ => return Err(ChangeFault::Invalid),
        }
        Ok(())
    }

    /// The body that this hook sees, as it is now.
    pub(crate) fn own_body(&self) -> &[u8] {
        match (&self.body, &self.call.response) {
            (Some(body), _) => body,
            (None, Some(response)) => &response.body,
            (None, None) => &self.call.request.body,
        }
    }

    /// Replaces a part of the body.
    pub(crate) fn splice_body(&mut self, start: usize, bytes: usize, new: &[u8]) -> Result<(), ChangeFault> {
        let length = self.own_body().len();
        let start = start.min(length);
        let end = start.saturating_add(bytes).min(length);
        if length - (end - start) + new.len() > BODY_BYTES_MAX {
            return Err(ChangeFault::TooMuch("the plugin makes too large a body"));
        }
        if let Some(body) = &mut self.body {
            drop(body.splice(start..end, new.iter().copied()));
        } else {
            let body = self.own_body();
            let parts = [body.get(..start), Some(new), body.get(end..)];
            self.body = Some(parts.into_iter().flatten().flatten().copied().collect());
        }
        Ok(())
    }

    /// Counts bytes that the call keeps outside its module.
    pub(crate) fn count(&mut self, bytes: usize) -> Result<(), ChangeFault> {
        self.property_bytes = self.property_bytes.saturating_add(bytes);
        if self.property_bytes > CHANGED_BYTES_MAX {
            return Err(ChangeFault::TooMuch("the plugin sets too many properties"));
        }
        Ok(())
    }
}

fn response_lines(response: Option<&PluginResponse>) -> &[(String, String)] {
    response.map(|response| response.headers.as_slice()).unwrap_or_default()
}

/// A change of a header.
#[derive(Clone, Copy)]
pub(crate) enum LineChange<'a> {
    Set(&'a str, &'a str),
    Add(&'a str, &'a str),
    Remove(&'a str),
    RemoveAll,
}
