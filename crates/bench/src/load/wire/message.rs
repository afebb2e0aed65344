//! A request with variables, in a form that suits both protocols.

use super::url::RequestUrl;

/// A variable: `{name}` is replaced with the lines of a file in turn.
#[derive(Clone, Debug)]
pub(crate) struct TemplateVariable {
    pub name: String,
    /// Not empty.
    pub lines: Vec<Vec<u8>>,
}

/// Text with variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct TemplateText {
    pieces: Vec<TemplatePart>,
}

#[derive(Clone, Debug)]
enum TemplatePart {
    Fixed(Vec<u8>),
    /// Index into the variables.
    Variable(usize),
}

impl TemplateText {
    /// Parses text: `{name}` of a variable is replaced; every other brace is literal.
    pub(crate) fn parse(text: &[u8], variables: &[TemplateVariable]) -> Self {
        let mut pieces = Vec::new();
        let mut fixed = Vec::new();
        let mut rest = text;
        while let Some((&byte, tail)) = rest.split_first() {
            let place = variables.iter().enumerate().filter(|_| byte == b'{').find_map(|(index, variable)| {
                let after = tail.strip_prefix(variable.name.as_bytes())?.strip_prefix(b"}")?;
                Some((index, after))
            });
            match place {
                Some((index, after)) => {
                    if !fixed.is_empty() {
                        pieces.push(TemplatePart::Fixed(std::mem::take(&mut fixed)));
                    }
                    pieces.push(TemplatePart::Variable(index));
                    rest = after;
                }
                None => {
                    fixed.push(byte);
                    rest = tail;
                }
            }
        }
        if !fixed.is_empty() {
            pieces.push(TemplatePart::Fixed(fixed));
        }
        TemplateText { pieces }
    }

    /// Text without variables.
    pub(crate) fn fixed(text: impl Into<Vec<u8>>) -> Self {
        TemplateText { pieces: vec![TemplatePart::Fixed(text.into())] }
    }

    /// Whether it contains no variable.
    pub(crate) fn is_fixed(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, TemplatePart::Fixed(_)))
    }

    /// Appends the text for request `number`.
    pub(crate) fn render(&self, variables: &[TemplateVariable], number: u64, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            out.extend_from_slice(piece.bytes(variables, number));
        }
    }

    /// Length of the text in request `number`.
    pub(crate) fn len(&self, variables: &[TemplateVariable], number: u64) -> usize {
        self.pieces.iter().map(|piece| piece.bytes(variables, number).len()).sum()
    }

    /// The text for request `number`.
    pub(crate) fn rendered(&self, variables: &[TemplateVariable], number: u64) -> Vec<u8> {
        let mut out = Vec::new();
        self.render(variables, number, &mut out);
        out
    }
}

impl TemplatePart {
    #[inline]
    fn bytes<'a>(&'a self, variables: &'a [TemplateVariable], number: u64) -> &'a [u8] {
        match self {
            TemplatePart::Fixed(bytes) => bytes,
            TemplatePart::Variable(index) => {
                let lines = variables.get(*index).map(|variable| variable.lines.as_slice()).unwrap_or_default();
                lines.get((number % lines.len().max(1) as u64) as usize).map(Vec::as_slice).unwrap_or_default()
            }
        }
    }
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct RequestTemplate {
    pub method: String,
    pub url: RequestUrl,
    /// Path and query.
    pub path: TemplateText,
    /// The Host header or `:authority`.
    pub authority: TemplateText,
    /// All header lines except those for framing.
    pub headers: Vec<(String, TemplateText)>,
    pub body: TemplateText,
    /// Whether to announce the body's length even if it is 0.
    pub has_body: bool,
}

impl RequestTemplate {
    /// Whether it is the same for every request.
    pub(crate) fn is_fixed(&self) -> bool {
        [&self.path, &self.authority, &self.body]
            .into_iter()
            .chain(self.headers.iter().map(|(_, value)| value))
            .all(TemplateText::is_fixed)
    }

    /// Whether a failed attempt can safely be repeated (RFC 9110 §9.2.2).
    pub(crate) fn is_idempotent(&self) -> bool {
        !matches!(self.method.as_str(), "POST" | "PATCH")
    }

    /// The request that follows a redirect with `status` to `url` (RFC 9110 §15.4), as browsers and Go's client send it.
    pub(crate) fn redirected(&self, status: u16, url: RequestUrl, variables: &[TemplateVariable], number: u64) -> RequestTemplate {
        let mut next = self.clone();
        // Another host gets neither credentials nor the Host header of this one.
        if !self.url.same_server(&url) {
            next.headers
                .retain(|(name, _)| !["authorization", "cookie", "www-authenticate"].contains(&name.to_ascii_lowercase().as_str()));
        }
        if status != 307 && status != 308 && self.method != "GET" && self.method != "HEAD" {
            next.method = "GET".to_owned();
            next.body = TemplateText::default();
            next.has_body = false;
            next.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        }
        for (_, value) in &mut next.headers {
            *value = TemplateText::fixed(value.rendered(variables, number));
        }
        next.body = TemplateText::fixed(next.body.rendered(variables, number));
        next.path = TemplateText::fixed(url.path.as_bytes());
        next.authority = TemplateText::fixed(url.authority.as_bytes());
        next.url = url;
        next
    }
}

/// A request in HTTP/1.1 form: prepared bytes if it is always the same.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    ready: Option<Vec<u8>>,
    head: Vec<TemplateText>,
    /// Position of the body's length in `head`; none without a body.
    length_at: Option<usize>,
    body: TemplateText,
}

impl Wire {
    /// Prepares `message`; a proxy for plain requests gets the absolute URL.
    pub(crate) fn new(message: &RequestTemplate, keep_alive: bool, by_proxy: bool, variables: &[TemplateVariable]) -> Self {
        let mut head = vec![TemplateText::fixed(format!("{} ", message.method))];
        if by_proxy {
            head.push(TemplateText::fixed(format!("http://{}", message.url.authority)));
        }
        head.push(message.path.clone());
        head.push(TemplateText::fixed(" HTTP/1.1\r\nHost: "));
        head.push(message.authority.clone());
        for (name, value) in &message.headers {
            head.push(TemplateText::fixed(format!("\r\n{name}: ")));
            head.push(value.clone());
        }
        let mut length_at = None;
        if message.has_body {
            head.push(TemplateText::fixed("\r\nContent-Length: "));
            length_at = Some(head.len());
        }
        head.push(TemplateText::fixed(if keep_alive { "\r\n\r\n" } else { "\r\nConnection: close\r\n\r\n" }));
        let mut wire = Wire { ready: None, head, length_at, body: message.body.clone() };
        if wire.head.iter().chain([&wire.body]).all(TemplateText::is_fixed) {
            let mut bytes = Vec::new();
            wire.write(variables, 0, &mut bytes);
            wire.ready = Some(bytes);
        }
        wire
    }

    /// The bytes of request `number`; in `buffer` if they had to be assembled.
    #[inline]
    pub(crate) fn bytes<'a>(&'a self, variables: &[TemplateVariable], number: u64, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        if let Some(ready) = &self.ready {
            return ready;
        }
        buffer.clear();
        self.write(variables, number, buffer);
        buffer
    }

    fn write(&self, variables: &[TemplateVariable], number: u64, out: &mut Vec<u8>) {
        use std::io::Write;
        for (index, text) in self.head.iter().enumerate() {
            if self.length_at == Some(index) {
                // Writing to memory cannot fail.
                let _ = write!(out, "{}", self.body.len(variables, number));
            }
            text.render(variables, number, out);
        }
        self.body.render(variables, number, out);
    }
}

#[cfg(test)]
mod tests;
