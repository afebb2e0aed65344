//! A request with places for variables, in the parts that both protocols send it in.

use super::url::Url;

/// One value that changes from request to request: `{name}` stands for the lines of a file in turn.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    /// Not empty.
    pub lines: Vec<Vec<u8>>,
}

/// Text with places for variables.
#[derive(Clone, Debug, Default)]
pub struct Text {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Fixed(Vec<u8>),
    /// Index into the variables.
    Variable(usize),
}

impl Text {
    /// Text in which `{name}` of a variable is a place; every other brace stands for itself.
    pub fn parse(text: &[u8], variables: &[Variable]) -> Self {
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
                        pieces.push(Piece::Fixed(std::mem::take(&mut fixed)));
                    }
                    pieces.push(Piece::Variable(index));
                    rest = after;
                }
                None => {
                    fixed.push(byte);
                    rest = tail;
                }
            }
        }
        if !fixed.is_empty() {
            pieces.push(Piece::Fixed(fixed));
        }
        Text { pieces }
    }

    /// Text without places.
    pub fn fixed(text: impl Into<Vec<u8>>) -> Self {
        Text { pieces: vec![Piece::Fixed(text.into())] }
    }

    /// There is no place in it.
    pub fn is_fixed(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Fixed(_)))
    }

    /// Appends it as request `number` has it.
    pub fn render(&self, variables: &[Variable], number: u64, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            out.extend_from_slice(piece.bytes(variables, number));
        }
    }

    /// How long it is in request `number`.
    pub fn len(&self, variables: &[Variable], number: u64) -> usize {
        self.pieces.iter().map(|piece| piece.bytes(variables, number).len()).sum()
    }

    /// As request `number` has it.
    pub fn rendered(&self, variables: &[Variable], number: u64) -> Vec<u8> {
        let mut out = Vec::new();
        self.render(variables, number, &mut out);
        out
    }
}

impl Piece {
    #[inline]
    fn bytes<'a>(&'a self, variables: &'a [Variable], number: u64) -> &'a [u8] {
        match self {
            Piece::Fixed(bytes) => bytes,
            Piece::Variable(index) => {
                let lines = variables.get(*index).map(|variable| variable.lines.as_slice()).unwrap_or_default();
                lines.get((number % lines.len().max(1) as u64) as usize).map(Vec::as_slice).unwrap_or_default()
            }
        }
    }
}

/// One request.
#[derive(Clone, Debug)]
pub struct Message {
    pub method: String,
    pub url: Url,
    /// Path and query.
    pub path: Text,
    /// The Host header or `:authority`.
    pub authority: Text,
    /// All other header lines but those of the framing.
    pub headers: Vec<(String, Text)>,
    pub body: Text,
    /// The body's length is announced even if it is 0.
    pub has_body: bool,
}

impl Message {
    /// It is the same each time.
    pub fn is_fixed(&self) -> bool {
        [&self.path, &self.authority, &self.body].into_iter().chain(self.headers.iter().map(|(_, value)| value)).all(Text::is_fixed)
    }

    /// A failed attempt can be repeated without harm (RFC 9110 §9.2.2).
    pub fn is_idempotent(&self) -> bool {
        !matches!(self.method.as_str(), "POST" | "PATCH")
    }

    /// What follows from a redirect with `status` to `url` (RFC 9110 §15.4), as browsers and Go's client do it.
    pub fn redirected(&self, status: u16, url: Url, variables: &[Variable], number: u64) -> Message {
        let mut next = self.clone();
        // Another host gets no credentials, and not the Host that was typed for this one.
        if !self.url.same_server(&url) {
            next.headers
                .retain(|(name, _)| !["authorization", "cookie", "www-authenticate"].contains(&name.to_ascii_lowercase().as_str()));
        }
        if status != 307 && status != 308 && self.method != "GET" && self.method != "HEAD" {
            next.method = "GET".to_owned();
            next.body = Text::default();
            next.has_body = false;
            next.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        }
        for (_, value) in &mut next.headers {
            *value = Text::fixed(value.rendered(variables, number));
        }
        next.body = Text::fixed(next.body.rendered(variables, number));
        next.path = Text::fixed(url.path.as_bytes());
        next.authority = Text::fixed(url.authority.as_bytes());
        next.url = url;
        next
    }
}

/// A request as HTTP/1.1 sends it: ready bytes if nothing in it changes.
#[derive(Clone, Debug)]
pub struct Wire {
    ready: Option<Vec<u8>>,
    head: Vec<Text>,
    /// Where in `head` the body's length goes; none if it has no body.
    length_at: Option<usize>,
    body: Text,
}

impl Wire {
    /// Prepares `message`; a proxy for plain requests is asked with the absolute URL.
    pub fn new(message: &Message, keep_alive: bool, by_proxy: bool, variables: &[Variable]) -> Self {
        let mut head = vec![Text::fixed(format!("{} ", message.method))];
        if by_proxy {
            head.push(Text::fixed(format!("http://{}", message.url.authority)));
        }
        head.push(message.path.clone());
        head.push(Text::fixed(" HTTP/1.1\r\nHost: "));
        head.push(message.authority.clone());
        for (name, value) in &message.headers {
            head.push(Text::fixed(format!("\r\n{name}: ")));
            head.push(value.clone());
        }
        let mut length_at = None;
        if message.has_body {
            head.push(Text::fixed("\r\nContent-Length: "));
            length_at = Some(head.len());
        }
        head.push(Text::fixed(if keep_alive { "\r\n\r\n" } else { "\r\nConnection: close\r\n\r\n" }));
        let mut wire = Wire { ready: None, head, length_at, body: message.body.clone() };
        if wire.head.iter().chain([&wire.body]).all(Text::is_fixed) {
            let mut bytes = Vec::new();
            wire.write(variables, 0, &mut bytes);
            wire.ready = Some(bytes);
        }
        wire
    }

    /// The bytes of request `number`, in `buffer` if they had to be put together.
    #[inline]
    pub fn bytes<'a>(&'a self, variables: &[Variable], number: u64, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        if let Some(ready) = &self.ready {
            return ready;
        }
        buffer.clear();
        self.write(variables, number, buffer);
        buffer
    }

    fn write(&self, variables: &[Variable], number: u64, out: &mut Vec<u8>) {
        use std::io::Write;
        for (index, text) in self.head.iter().enumerate() {
            if self.length_at == Some(index) {
                // Writing into memory does not fail.
                let _ = write!(out, "{}", self.body.len(variables, number));
            }
            text.render(variables, number, out);
        }
        self.body.render(variables, number, out);
    }
}

#[cfg(test)]
mod tests;
