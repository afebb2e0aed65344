//! A client's request, read member by member. What its path says is in its document (see [`GeminiPath`]).
//!
//! [`GeminiPath`]: super::GeminiPath

use super::media::{read_file, read_inline};
use super::proof::Proof;
use super::schema::json_schema;
use crate::conversation::Conversation;
use crate::form::{
    Ask, Effort, Part, Reasoning, ReasoningPart, ResponseFormat, Role, Tool, ToolCall, ToolChoice, ToolResult, Unsupported,
};
use crate::json::{Fields, JsonNode};
use std::collections::{HashMap, HashSet, VecDeque};

/// Members that change nothing of an answer: what it is accounted as, whether it is kept.
const HARMLESS: &[&str] = &["labels", "store"];
/// The tier that every request has.
const USUAL_TIER: &[&str] = &["\"standard\"", "\"STANDARD\"", "\"unspecified\"", "\"SERVICE_TIER_UNSPECIFIED\""];
/// Thresholds that ask for no filter, or for the usual one.
const NO_FILTER: [&str; 3] = ["OFF", "BLOCK_NONE", "HARM_BLOCK_THRESHOLD_UNSPECIFIED"];
/// The schema of a function without arguments.
const EMPTY_SCHEMA: &str = r#"{"type":"object","properties":{}}"#;

/// Reads a request of at most so many bytes.
pub(crate) fn read_request(body: &[u8], bytes_max: usize) -> Result<Ask, Unsupported> {
    let mut fields = Fields::of_google_body(body, bytes_max)?;
    let mut ask = Ask { model: fields.needed_text("model")?, include_usage: true, ..Ask::default() };
    ask.stream = fields.flag("stream")?.unwrap_or(false);
    if let Some(system) = fields.object("systemInstruction")? {
        ask.system = read_system(system)?;
    }
    let mut reader = ContentReader::default();
    for content in fields.one_or_more("contents")? {
        reader.read(content)?;
    }
    ask.messages = reader.done()?;
    for tool in fields.one_or_more("tools")? {
        read_tools(tool, &mut ask.tools)?;
    }
    if let Some(config) = fields.object("toolConfig")? {
        read_tool_config(config, &mut ask)?;
    }
    if let Some(config) = fields.object("generationConfig")? {
        read_config(config, &mut ask)?;
    }
    for mut setting in fields.objects("safetySettings")? {
        let threshold = setting.text("threshold")?;
        if threshold.is_some_and(|threshold| !NO_FILTER.contains(&threshold.as_str())) {
            return setting.refuse("threshold", "the provider of this model has no filters that a request chooses");
        }
        setting.drop_all(&["category", "method"]);
        setting.done()?;
    }
    fields.only("serviceTier", USUAL_TIER)?;
    fields.drop_all(HARMLESS);
    fields.done()?;
    Ok(ask)
}

fn read_system(mut system: Fields) -> Result<Vec<String>, Unsupported> {
    system.drop_all(&["role"]);
    let mut texts = Vec::new();
    for mut part in system.one_or_more("parts")? {
        texts.push(part.needed_text("text")?);
        part.done()?;
    }
    system.done()?;
    texts.retain(|text| !text.is_empty());
    Ok(texts)
}

/// Reads turns. Thoughts of a stream come back in pieces, their proof with the last one.
#[derive(Default)]
struct ContentReader {
    conversation: Conversation,
    thought: Option<(ReasoningPart, String)>,
    calls: Calls,
}

impl ContentReader {
    fn read(&mut self, mut content: Fields) -> Result<(), Unsupported> {
        let role = match content.text("role")?.as_deref() {
            None | Some("" | "user" | "function") => Role::User,
            Some("model") => Role::Assistant,
            Some(_) => return content.refuse("role", "must be user or model"),
        };
        for part in content.one_or_more("parts")? {
            self.read_part(role, part)?;
        }
        content.done()
    }

    fn read_part(&mut self, role: Role, mut part: Fields) -> Result<(), Unsupported> {
        let path = part.path("text");
        let is_thought = part.flag("thought")?.unwrap_or(false);
        let proof = part.text("thoughtSignature")?.and_then(|text| Proof::read(&text));
        let text = part.text("text")?;
        if is_thought {
            part.done()?;
            return self.think(role, text.unwrap_or_default(), proof, path);
        }
        self.end_thought()?;
        // A proof of Google's beside a text says nothing to others.
        if let Some(text) = text {
            self.conversation.push(role, Part::Text(text), &path)?;
        }
        for (name, read) in [("inlineData", read_inline as fn(Fields) -> _), ("fileData", read_file)] {
            let path = part.path(name);
            if let Some(data) = part.object(name)? {
                self.conversation.push(role, read(data)?, &path)?;
            }
        }
        let path = part.path("functionCall");
        if let Some(call) = part.object("functionCall")? {
            let signature = if let Some(Proof::Own(signature)) = proof { Some(signature) } else { None };
            let call = self.calls.read(call, signature)?;
            self.conversation.push(role, Part::ToolCall(call), &path)?;
        }
        let path = part.path("functionResponse");
        if let Some(result) = part.object("functionResponse")? {
            let result = self.calls.read_result(result)?;
            self.conversation.push(role, Part::ToolResult(result), &path)?;
        }
        part.done()
    }

    fn think(&mut self, role: Role, text: String, proof: Option<Proof>, path: String) -> Result<(), Unsupported> {
        if role == Role::User {
            return Err(Unsupported::new(path, "only models think"));
        }
        match proof {
            Some(Proof::Redacted(data)) => {
                self.end_thought()?;
                let part = ReasoningPart { redacted: Some(data), ..ReasoningPart::default() };
                self.conversation.push(role, Part::Reasoning(part), &path)
            }
            proof => {
                let (thought, _) = self.thought.get_or_insert_with(|| (ReasoningPart::default(), path));
                thought.text.push_str(&text);
                if let Some(Proof::Signature(signature)) = proof {
                    thought.signature = Some(signature);
                    return self.end_thought();
                }
                Ok(())
            }
        }
    }

    fn end_thought(&mut self) -> Result<(), Unsupported> {
        let Some((thought, path)) = self.thought.take() else { return Ok(()) };
        self.conversation.push(Role::Assistant, Part::Reasoning(thought), &path)
    }

    fn done(mut self) -> Result<Vec<crate::form::Message>, Unsupported> {
        self.end_thought()?;
        self.conversation.done("contents")
    }
}

/// Calls of tools, which need no ids in this API: a result belongs to the first call of its tool that has none.
#[derive(Default)]
struct Calls {
    count: usize,
    without_result: HashSet<String>,
    of_tool: HashMap<String, VecDeque<String>>,
}

impl Calls {
    fn read(&mut self, mut call: Fields, signature: Option<String>) -> Result<ToolCall, Unsupported> {
        self.count += 1;
        let id = call.text("id")?.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{}", self.count));
        let name = call.needed_text("name")?;
        let arguments = call.raw_object("args")?.unwrap_or_default();
        call.done()?;
        self.without_result.insert(id.clone());
        self.of_tool.entry(name.clone()).or_default().push_back(id.clone());
        Ok(ToolCall { id, name, arguments, signature })
    }

    fn read_result(&mut self, mut result: Fields) -> Result<ToolResult, Unsupported> {
        let (id, name) = (result.text("id")?, result.needed_text("name")?);
        let known = id.filter(|id| self.without_result.remove(id)).or_else(|| {
            let of_tool = self.of_tool.get_mut(&name)?;
            std::iter::from_fn(|| of_tool.pop_front()).find(|id| self.without_result.remove(id))
        });
        let Some(id) = known else { return result.refuse("name", "has no call before it") };
        let (mut parts, is_error) = read_response(&mut result)?;
        for mut part in result.one_or_more("parts")? {
            for (name, read) in [("inlineData", read_inline as fn(Fields) -> _), ("fileData", read_file)] {
                if let Some(data) = part.object(name)? {
                    parts.push(read(data)?);
                }
            }
            part.done()?;
        }
        result.only("willContinue", &["false"])?;
        result.only("scheduling", &["\"SCHEDULING_UNSPECIFIED\""])?;
        result.done()?;
        Ok(ToolResult { id, name, parts, is_error })
    }
}

/// What a tool said: all of its response, unless that has nothing but `output` or `error`, as Google documents it.
fn read_response(result: &mut Fields) -> Result<(Vec<Part>, bool), Unsupported> {
    let Some(raw) = result.raw_object("response")? else { return Ok((Vec::new(), false)) };
    let whole = |text: &str| vec![Part::Text(text.to_owned())];
    let Some(members) = JsonNode::read(raw.as_bytes(), raw.len()).ok().and_then(JsonNode::object) else {
        return Ok((whole(&raw), false));
    };
    Ok(match members.members().as_slice() {
        [(name, value)] if name == "output" || name == "error" => {
            let text = value.text().map_or_else(|| value.raw().to_owned(), |text| text.into_owned());
            (whole(&text), name == "error")
        }
        _ => (whole(&raw), false),
    })
}

fn read_tools(mut tool: Fields, tools: &mut Vec<Tool>) -> Result<(), Unsupported> {
    for mut function in tool.one_or_more("functionDeclarations")? {
        let name = function.needed_text("name")?;
        let description = function.text("description")?;
        let schema = function.raw_object("parametersJsonSchema")?;
        let schema = match (schema, function.object("parameters")?) {
            (Some(_), Some(_)) => return function.refuse("parametersJsonSchema", "is there beside `parameters`"),
            (Some(schema), None) => schema,
            (None, Some(parameters)) => json_schema(parameters)?,
            (None, None) => EMPTY_SCHEMA.to_owned(),
        };
        // What a tool says is there to read when it has been called; Google's own client sends this always.
        function.drop_all(&["response", "responseJsonSchema"]);
        function.only("behavior", &["\"BLOCKING\"", "\"UNSPECIFIED\""])?;
        function.done()?;
        tools.push(Tool { name, description, schema, strict: None });
    }
    tool.done()
}

fn read_tool_config(mut config: Fields, ask: &mut Ask) -> Result<(), Unsupported> {
    if let Some(mut calling) = config.object("functionCallingConfig")? {
        let mode = calling.text("mode")?.map(|mode| mode.to_ascii_uppercase());
        let names = calling.texts("allowedFunctionNames")?;
        let is_all = names.is_empty() || ask.tools.iter().all(|tool| names.contains(&tool.name));
        ask.tool_choice = match (mode.as_deref(), names.as_slice()) {
            (None | Some("MODE_UNSPECIFIED"), []) => None,
            (Some("AUTO"), []) => Some(ToolChoice::Auto),
            (Some("NONE"), []) => Some(ToolChoice::None),
            (Some("ANY"), [name]) => Some(ToolChoice::Named(name.clone())),
            (Some("ANY"), _) if is_all => Some(ToolChoice::Required),
            (Some("VALIDATED"), _) if is_all => {
                ask.tools.iter_mut().for_each(|tool| tool.strict = Some(true));
                Some(ToolChoice::Auto)
            }
            (None | Some("MODE_UNSPECIFIED" | "AUTO" | "NONE" | "ANY" | "VALIDATED"), _) => {
                return calling.refuse("allowedFunctionNames", "must be one, or all, at the provider of this model");
            }
            _ => return calling.refuse("mode", "must be AUTO, ANY, NONE or VALIDATED"),
        };
        calling.done()?;
    }
    config.done()
}

fn read_config(mut config: Fields, ask: &mut Ask) -> Result<(), Unsupported> {
    ask.temperature = config.number("temperature")?;
    ask.top_p = config.number("topP")?;
    ask.top_k = config.whole("topK")?;
    ask.output_tokens_max = config.whole("maxOutputTokens")?;
    ask.stop = config.texts("stopSequences")?;
    ask.seed = config.integer("seed")?;
    ask.frequency_penalty = config.number("frequencyPenalty")?;
    ask.presence_penalty = config.number("presencePenalty")?;
    ask.response_format = read_format(&mut config)?;
    ask.reasoning = read_thinking(&mut config)?;
    if let Some(modalities) = config.items("responseModalities")? {
        let is_text = |(kind, _): &(JsonNode, String)| kind.text().is_some_and(|kind| kind.eq_ignore_ascii_case("text"));
        if !modalities.iter().all(is_text) {
            return config.refuse("responseModalities", "only text has a counterpart at the provider of this model");
        }
    }
    config.only("candidateCount", &["1"])?;
    config.only("responseLogprobs", &["false"])?;
    // As the detail of pictures in OpenAI's API.
    config.drop_all(&["mediaResolution"]);
    config.done()
}

fn read_format(config: &mut Fields) -> Result<ResponseFormat, Unsupported> {
    let schema = config.raw_object("responseJsonSchema")?;
    let schema = match (schema, config.object("responseSchema")?) {
        (Some(_), Some(_)) => return config.refuse("responseJsonSchema", "is there beside `responseSchema`"),
        (Some(schema), None) => Some(schema),
        (None, own) => own.map(json_schema).transpose()?,
    };
    match (config.text("responseMimeType")?.as_deref(), schema) {
        (None | Some("text/plain"), None) => Ok(ResponseFormat::Text),
        (Some("application/json"), None) => Ok(ResponseFormat::Json),
        (None | Some("application/json"), Some(schema)) => {
            Ok(ResponseFormat::Schema { name: "answer".to_owned(), description: None, schema, strict: None })
        }
        _ => config.refuse("responseMimeType", "must be text/plain, or application/json with or without a schema"),
    }
}

fn read_thinking(config: &mut Fields) -> Result<Option<Reasoning>, Unsupported> {
    let Some(mut thinking) = config.object("thinkingConfig")? else { return Ok(None) };
    // Thoughts that there are come marked as such.
    let shows = thinking.flag("includeThoughts")?.unwrap_or(false);
    let level = thinking.text("thinkingLevel")?.map(|level| level.to_ascii_lowercase());
    let level = level.filter(|level| level != "thinking_level_unspecified");
    let read = match (level, thinking.integer("thinkingBudget")?) {
        (Some(_), Some(_)) => return thinking.refuse("thinkingBudget", "is there beside `thinkingLevel`"),
        (Some(level), None) => match Effort::of_name(&level) {
            Some(effort) => Some(Reasoning::Effort(effort)),
            None => return thinking.refuse("thinkingLevel", "is no level of thinking"),
        },
        (None, Some(0)) => Some(Reasoning::Off),
        (None, Some(-1)) => Some(Reasoning::Adaptive),
        (None, Some(tokens)) => match u64::try_from(tokens) {
            Ok(tokens) => Some(Reasoning::Budget(tokens)),
            Err(_) => return thinking.refuse("thinkingBudget", "must be a number of tokens, or -1"),
        },
        (None, None) => shows.then_some(Reasoning::Adaptive),
    };
    thinking.done()?;
    Ok(read)
}
