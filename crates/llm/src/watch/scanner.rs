//! Walks over JSON byte by byte and keeps only what it looks for. It believes that the text is JSON; of another it finds nothing or the wrong thing,
//! and ends.

/// Deepest bracket: a bit for each.
const DEPTH_MAX: u32 = 128;
/// Longest object that is kept: usage has a dozen numbers.
const OBJECT_BYTES_MAX: usize = 4 << 10;
/// Longest name and word.
const WORD_BYTES_MAX: usize = 64;
/// Usage is in the document, in its message or in its response. Deeper ones are of something else.
const OBJECT_DEPTH_MAX: u32 = 2;

/// What is looked for, by the names of members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Find {
    /// An object.
    pub(super) object: &'static str,
    /// Strings.
    pub(super) words: &'static [&'static str],
    /// Strings whose bytes are counted.
    pub(super) texts: &'static [&'static str],
}

/// What was found.
#[derive(Debug)]
pub(super) enum ScanHit {
    Object(Vec<u8>),
    Word(Vec<u8>),
}

/// What the string that is being read is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextRole {
    Name,
    Word,
    Counted,
    Other,
}

/// Walks over one document after the other.
#[derive(Debug)]
pub(super) struct Scanner {
    find: Find,
    depth: u32,
    /// For each open bracket whether it is an object's.
    objects: u128,
    /// The name of the member whose value comes.
    name: Vec<u8>,
    expects_name: bool,
    text: Option<TextRole>,
    is_escaped: bool,
    word: Vec<u8>,
    /// The object that is kept, and the depth at which it ends.
    kept: Option<(Vec<u8>, u32)>,
    text_bytes: u64,
    /// Whether there was an object that tells an error.
    has_error: bool,
    is_lost: bool,
}

impl Scanner {
    pub(super) fn new(find: Find) -> Self {
        Scanner {
            find,
            depth: 0,
            objects: 0,
            name: Vec::new(),
            expects_name: false,
            text: None,
            is_escaped: false,
            word: Vec::new(),
            kept: None,
            text_bytes: 0,
            has_error: false,
            is_lost: false,
        }
    }

    /// The next document begins.
    pub(super) fn restart(&mut self) {
        // Names and words keep their memory.
        let (mut name, mut word) = (std::mem::take(&mut self.name), std::mem::take(&mut self.word));
        name.clear();
        word.clear();
        *self = Scanner { name, word, text_bytes: self.text_bytes, has_error: self.has_error, ..Scanner::new(self.find) };
    }

    pub(super) fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    pub(super) fn has_error(&self) -> bool {
        self.has_error
    }

    /// Reads a byte.
    pub(super) fn push(&mut self, byte: u8) -> Option<ScanHit> {
        if self.is_lost {
            return None;
        }
        if let Some((kept, _)) = &mut self.kept {
            kept.push(byte);
            if kept.len() > OBJECT_BYTES_MAX {
                self.kept = None;
            }
        }
        if let Some(text) = self.text {
            return self.push_text(text, byte);
        }
        match byte {
            b'"' => self.begin_text(),
            b'{' | b'[' => self.open(byte),
            b'}' | b']' => return self.close(),
            b',' => {
                self.expects_name = self.is_in_object();
                self.name.clear();
            }
            b':' => self.expects_name = false,
            _ => {}
        }
        None
    }

    /// Reads what comes of a string, up to a byte that may mean something, and returns its length.
    pub(super) fn take_text(&mut self, bytes: &[u8]) -> usize {
        let Some(text) = self.text.filter(|_| self.kept.is_none() && !self.is_escaped && !self.is_lost) else { return 0 };
        let length = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\' | b'\n' | b'\r')).unwrap_or(bytes.len());
        self.keep_text(text, bytes.get(..length).unwrap_or_default());
        length
    }

    fn is_in_object(&self) -> bool {
        self.objects & 1 == 1
    }

    fn begin_text(&mut self) {
        let text = if self.expects_name {
            self.name.clear();
            TextRole::Name
        } else if self.find.words.iter().any(|word| self.name == word.as_bytes()) {
            self.word.clear();
            TextRole::Word
        } else if self.find.texts.iter().any(|text| self.name == text.as_bytes()) {
            TextRole::Counted
        } else {
            TextRole::Other
        };
        self.text = Some(text);
    }

    fn push_text(&mut self, text: TextRole, byte: u8) -> Option<ScanHit> {
        if !self.is_escaped && byte == b'"' {
            self.text = None;
            return (text == TextRole::Word).then(|| ScanHit::Word(std::mem::take(&mut self.word)));
        }
        self.is_escaped = !self.is_escaped && byte == b'\\';
        self.keep_text(text, std::slice::from_ref(&byte));
        None
    }

    fn keep_text(&mut self, text: TextRole, bytes: &[u8]) {
        let kept = match text {
            TextRole::Name => &mut self.name,
            TextRole::Word => &mut self.word,
            TextRole::Counted => {
                self.text_bytes = self.text_bytes.saturating_add(bytes.len() as u64);
                return;
            }
            TextRole::Other => return,
        };
        let room = WORD_BYTES_MAX.saturating_sub(kept.len());
        kept.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    fn open(&mut self, byte: u8) {
        if self.depth >= DEPTH_MAX {
            self.is_lost = true;
            return;
        }
        let is_object = byte == b'{';
        if is_object && self.kept.is_none() && self.depth <= OBJECT_DEPTH_MAX && self.name == self.find.object.as_bytes() {
            self.kept = Some((vec![byte], self.depth));
        }
        self.has_error |= is_object && self.depth <= OBJECT_DEPTH_MAX && self.name == b"error";
        self.depth += 1;
        self.objects = self.objects << 1 | u128::from(is_object);
        self.expects_name = is_object;
        self.name.clear();
    }

    fn close(&mut self) -> Option<ScanHit> {
        if self.depth == 0 {
            self.is_lost = true;
            return None;
        }
        self.depth -= 1;
        self.objects >>= 1;
        self.name.clear();
        self.expects_name = false;
        let depth = self.depth;
        self.kept.take_if(|(_, ends)| *ends == depth).map(|(object, _)| ScanHit::Object(object))
    }
}
