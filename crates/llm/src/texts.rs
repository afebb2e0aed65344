//! Where texts are in requests and answers, as bytes: what people, tools and models say, and not what the API says itself. Texts of requests are all
//! strings but those that are known to be something else, so that nothing hides in a member that this version does not know.

use crate::json::JsonNode;
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// Deepest nesting that is looked at: others read no more.
const DEPTH_MAX: usize = 128;
/// Shorter values of members for data are looked at, also if they may be base64.
const DATA_BYTES_MIN: usize = 256;

/// Strings of requests that are no texts, by the names of their members.
const NAMES: [&str; 28] = [
    "model",
    "role",
    "type",
    "object",
    "status",
    "id",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "item_id",
    "file_id",
    "previous_response_id",
    "name",
    "signature",
    "thought_signature",
    "thoughtSignature",
    "encrypted_content",
    "url",
    "image_url",
    "media_type",
    "mime_type",
    "mimeType",
    "fileUri",
    "file_uri",
    "responseMimeType",
    "response_mime_type",
    "effort",
    "prompt_cache_key",
];
/// Strings of answers that are texts.
const ANSWERS: [&str; 8] =
    ["content", "text", "refusal", "reasoning_content", "reasoning", "output_text", "transcript", "instructions"];
/// Objects in which all is said: arguments of calls, and what tools said.
const ARGUMENTS: [&str; 3] = ["input", "args", "response"];
/// Numbers that tell the parts of a stream apart.
const INDICES: [&str; 4] = ["index", "output_index", "content_index", "summary_index"];

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// What somebody says.
    Text,
    /// JSON in a text: what is put into it is escaped.
    Arguments,
    /// A thought that may have a proof, so that nothing of it can be changed.
    Thought,
}

/// A text in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPlace {
    /// The string with its quotes.
    pub range: Range<usize>,
    /// What it is.
    pub kind: TextKind,
}

/// A text in an event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventText {
    /// Where it is in the event's data.
    pub place: TextPlace,
    /// Which text of the answer it belongs to.
    pub channel: TextChannel,
    /// Whether it goes on with what came before, and is not the whole text once more.
    pub is_delta: bool,
}

/// A text of a streamed answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextChannel {
    /// The number of its part, and numbers within.
    pub indices: Vec<u64>,
    /// The name of its member.
    pub name: String,
}

/// What an event of a stream says of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventTexts {
    /// The texts, in their order.
    pub texts: Vec<EventText>,
    /// The parts that end, by the first of their indices; `None` for all.
    pub ends: Vec<Option<u64>>,
}

/// An open bracket.
#[derive(Debug)]
struct Bracket {
    is_object: bool,
    /// Where the name of the member is whose value comes.
    name: Range<usize>,
    number: usize,
}

/// Takes the brackets around a value, where it is, and whether it is a string.
type Visit<'v> = dyn FnMut(&[Bracket], Range<usize>, bool) + 'v;

/// Tells what a string is, by the brackets around it and its place; `None` if it is no text.
type KindOf<'k> = dyn Fn(&[Bracket], &Range<usize>) -> Option<TextKind> + 'k;

/// The texts of a request, in their order. The document is valid JSON; in another one, something or nothing is found.
pub fn request_texts(document: &[u8]) -> Vec<TextPlace> {
    texts_of(document, &|brackets, range| kind_in_request(document, brackets, range))
}

/// The texts of a whole answer, in their order.
pub fn answer_texts(document: &[u8]) -> Vec<TextPlace> {
    texts_of(document, &|brackets, _| kind_in_answer(document, brackets))
}

fn texts_of(document: &[u8], kind_of: &KindOf<'_>) -> Vec<TextPlace> {
    let (mut found, mut thoughts) = (Vec::new(), HashSet::new());
    walk(document, &mut |brackets, range, is_text| {
        let number = brackets.last().map_or(0, |bracket| bracket.number);
        if !is_text && is_thought_mark(document, brackets, &range) {
            thoughts.insert(number);
        } else if is_text && let Some(kind) = kind_of(brackets, &range) {
            found.push((number, TextPlace { range, kind }));
        }
    });
    let texts = found.into_iter().map(|(number, place)| match place.kind {
        TextKind::Text if thoughts.contains(&number) => TextPlace { kind: TextKind::Thought, ..place },
        _ => place,
    });
    texts.collect()
}

/// Whether a value says that the text beside it is a thought, as Google's API has it.
fn is_thought_mark(document: &[u8], brackets: &[Bracket], range: &Range<usize>) -> bool {
    let is_of_part = brackets.iter().any(|bracket| bracket.is_object && document.get(bracket.name.clone()) == Some(b"parts"));
    name_of(document, brackets) == b"thought"
        && document.get(range.clone()) == Some(b"true")
        && is_of_part
        && !is_in_arguments(document, brackets)
}

/// What the data of an event says.
pub fn event_texts(data: &[u8]) -> EventTexts {
    if data.trim_ascii() == b"[DONE]" {
        return EventTexts { texts: Vec::new(), ends: vec![None] };
    }
    let (mut found, mut indices) = (Vec::new(), Vec::new());
    let (mut kind, mut finished, mut has_error) = (String::new(), Vec::new(), false);
    let mut candidates = CandidateMarks::default();
    walk(data, &mut |brackets, range, is_text| {
        let name = name_of(data, brackets);
        let chain = || brackets.iter().map(|bracket| bracket.number).collect::<Vec<_>>();
        has_error |= brackets.iter().any(|bracket| bracket.is_object && data.get(bracket.name.clone()) == Some(b"error"));
        candidates.note(data, brackets, &range);
        match name {
            b"type" if is_text && brackets.len() == 1 => kind = text_at(data, &range).into_owned(),
            b"finish_reason" if is_text => finished.push(chain()),
            name if !is_text => {
                let value = std::str::from_utf8(data.get(range).unwrap_or_default()).ok().and_then(|text| text.parse::<u64>().ok());
                if let (Some(value), Some(bracket)) = (value, brackets.last())
                    && INDICES.iter().any(|known| known.as_bytes() == name)
                {
                    indices.push((bracket.number, value));
                }
            }
            b"delta" => found.push((chain(), name.to_vec(), TextPlace { range, kind: TextKind::Text })),
            name => {
                if let Some(kind) = kind_in_answer(data, brackets) {
                    found.push((chain(), name.to_vec(), TextPlace { range, kind }));
                }
            }
        }
    });
    let indices_of = |chain: &[usize]| -> Vec<u64> {
        indices.iter().filter(|(bracket, _)| chain.contains(bracket)).map(|(_, value)| *value).collect()
    };
    if candidates.are_there {
        return candidates.texts(found, &|chain| indices_of(chain).first().copied().unwrap_or(0));
    }
    let is_response = kind.starts_with("response.");
    let is_whole = is_response && !kind.ends_with(".delta");
    let texts = found.into_iter().map(|(chain, name, mut place)| {
        if kind.contains("arguments") {
            place.kind = TextKind::Arguments;
        }
        // Texts and thoughts of Responses differ in their events' types.
        let name = if name == b"delta" { kind.clone() } else { String::from_utf8_lossy(&name).into_owned() };
        let channel = TextChannel { indices: indices_of(&chain), name };
        EventText { place, channel, is_delta: !is_whole }
    });
    let texts = texts.collect();
    let mut ends: Vec<Option<u64>> = finished.iter().map(|chain| indices_of(chain).first().copied()).collect();
    let top = indices.iter().find(|(bracket, _)| *bracket == 0).map(|(_, value)| *value);
    match kind.as_str() {
        "content_block_stop" => ends.push(top),
        "message_delta" | "message_stop" | "error" => ends.push(None),
        _ if is_whole => ends.push(top),
        _ if has_error => ends.push(None),
        _ => {}
    }
    EventTexts { texts, ends }
}

/// A text that was found: the brackets around it, the name of its member, its place.
type FoundText = (Vec<usize>, Vec<u8>, TextPlace);

/// What an event of Google's API says of its candidates. Each has a text and a thought that grow (two channels, by twice its index and the number
/// behind it), of which the one ends where the other goes on; calls are whole, and end both.
#[derive(Default)]
struct CandidateMarks {
    are_there: bool,
    /// Brackets of thoughts.
    thoughts: HashSet<usize>,
    /// Brackets within calls.
    in_calls: HashSet<usize>,
    /// The brackets around what ends the texts of a candidate.
    ends: Vec<Vec<usize>>,
}

impl CandidateMarks {
    fn note(&mut self, data: &[u8], brackets: &[Bracket], range: &Range<usize>) {
        let name_in = |bracket: &Bracket| data.get(bracket.name.clone()).unwrap_or_default();
        self.are_there |= brackets.first().is_some_and(|root| name_in(root) == b"candidates");
        if !self.are_there {
            return;
        }
        if is_thought_mark(data, brackets, range) {
            self.thoughts.extend(brackets.last().map(|bracket| bracket.number));
        }
        let is_call = |bracket: &Bracket| bracket.is_object && name_in(bracket) == b"functionCall";
        let is_in_call = brackets.iter().any(is_call);
        self.in_calls.extend(brackets.last().filter(|_| is_in_call).map(|bracket| bracket.number));
        if is_in_call || name_of(data, brackets) == b"finishReason" {
            self.ends.push(brackets.iter().map(|bracket| bracket.number).collect());
        }
    }

    fn texts(self, found: Vec<FoundText>, index_of: &dyn Fn(&[usize]) -> u64) -> EventTexts {
        let channel = |chain: &[usize], is_thought: bool| index_of(chain).saturating_mul(2).saturating_add(u64::from(is_thought));
        let mut ends: Vec<Option<u64>> =
            self.ends.iter().flat_map(|chain| [false, true].map(|thought| Some(channel(chain, thought)))).collect();
        let texts = found.into_iter().map(|(chain, name, mut place)| {
            let is_delta = name == b"text" && chain.last().is_some_and(|number| !self.in_calls.contains(number));
            let is_thought = chain.last().is_some_and(|number| self.thoughts.contains(number));
            if is_thought {
                place.kind = TextKind::Thought;
            }
            if is_delta {
                ends.push(Some(channel(&chain, !is_thought)));
            }
            let channel = TextChannel { indices: vec![channel(&chain, is_thought)], name: PARTS.to_owned() };
            EventText { place, channel, is_delta }
        });
        let texts = texts.collect();
        ends.sort_unstable();
        ends.dedup();
        EventTexts { texts, ends }
    }
}

/// The name of the channels of Google's API.
const PARTS: &str = "parts";

/// A text of a document. Halves of surrogate pairs are replaced.
pub fn text_at<'a>(document: &'a [u8], range: &Range<usize>) -> Cow<'a, str> {
    let raw = document.get(range.clone()).unwrap_or_default();
    JsonNode::read(raw, raw.len()).ok().and_then(JsonNode::lossy_text).unwrap_or_default()
}

/// A document with other texts at these places, which are in their order. All other bytes are as they were.
pub fn spliced(document: &[u8], changes: &[(Range<usize>, String)]) -> Vec<u8> {
    let mut made = Vec::with_capacity(document.len());
    let mut at = 0;
    for (range, text) in changes {
        made.extend_from_slice(document.get(at..range.start).unwrap_or_default());
        // A string can always be written into memory.
        let _ = serde_json::to_writer(&mut made, text);
        at = range.end;
    }
    made.extend_from_slice(document.get(at..).unwrap_or_default());
    made
}

/// The name of the member that a value belongs to, also if it is in an array.
fn name_of<'a>(document: &'a [u8], brackets: &[Bracket]) -> &'a [u8] {
    let object = brackets.iter().rfind(|bracket| bracket.is_object);
    object.and_then(|object| document.get(object.name.clone())).unwrap_or_default()
}

/// Whether a value is in the arguments of a call, which are an object: all that is in it is said.
fn is_in_arguments(document: &[u8], brackets: &[Bracket]) -> bool {
    let mut outer = brackets.iter().filter(|bracket| bracket.is_object).skip(1);
    let is_one = |name: &[u8]| ARGUMENTS.iter().any(|known| known.as_bytes() == name);
    outer.any(|bracket| document.get(bracket.name.clone()).is_some_and(is_one))
}

fn kind_in_request(document: &[u8], brackets: &[Bracket], range: &Range<usize>) -> Option<TextKind> {
    if is_in_arguments(document, brackets) {
        return Some(TextKind::Text);
    }
    let name = name_of(document, brackets);
    let raw = document.get(range.clone()).unwrap_or_default();
    match name {
        b"thinking" => Some(TextKind::Thought),
        b"arguments" => Some(TextKind::Arguments),
        b"data" | b"file_data" if is_data(raw) => None,
        name if NAMES.iter().any(|known| known.as_bytes() == name) => None,
        _ => Some(TextKind::Text),
    }
}

/// Whether a string is bytes in base64, alone or in a URL.
fn is_data(raw: &[u8]) -> bool {
    let text = raw.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or_default();
    let is_url = text.starts_with(b"data:") && text.get(..128).unwrap_or(text).windows(8).any(|part| part == b";base64,");
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    is_url || (text.len() >= DATA_BYTES_MIN && text.iter().all(is_base64))
}

fn kind_in_answer(document: &[u8], brackets: &[Bracket]) -> Option<TextKind> {
    match name_of(document, brackets) {
        b"thinking" => Some(TextKind::Thought),
        b"arguments" | b"partial_json" => Some(TextKind::Arguments),
        name if ANSWERS.iter().any(|known| known.as_bytes() == name) => Some(TextKind::Text),
        _ => is_in_arguments(document, brackets).then_some(TextKind::Text),
    }
}

/// Calls `visit` with each string and each other value that is no bracket, with the brackets around it.
fn walk(document: &[u8], visit: &mut Visit<'_>) {
    let (mut brackets, mut count, mut at, mut expects_name) = (Vec::<Bracket>::new(), 0, 0, false);
    while let Some(byte) = document.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'{' | b'[' => {
                if brackets.len() >= DEPTH_MAX {
                    return;
                }
                expects_name = *byte == b'{';
                brackets.push(Bracket { is_object: expects_name, name: 0..0, number: count });
                count += 1;
            }
            b'}' | b']' => {
                brackets.pop();
                expects_name = false;
            }
            b',' => expects_name = brackets.last().is_some_and(|bracket| bracket.is_object),
            b':' => expects_name = false,
            b'"' => {
                at = end_of_string(document, at);
                match brackets.last_mut() {
                    Some(bracket) if expects_name => bracket.name = start + 1..at.saturating_sub(1).max(start + 1),
                    _ => visit(&brackets, start..at, true),
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => {
                let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
                at = document.get(at..).and_then(|rest| rest.iter().position(ends)).map_or(document.len(), |more| at + more);
                visit(&brackets, start..at, false);
            }
        }
    }
}

/// Where a string ends that begins before `at`, behind its quotes.
fn end_of_string(document: &[u8], mut at: usize) -> usize {
    while let Some(byte) = document.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    document.len()
}

#[cfg(test)]
mod tests;
