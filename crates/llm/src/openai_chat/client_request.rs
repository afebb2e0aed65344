//! A client's request, read member by member.

use crate::conversation::{Conversation, media_of_url};
use crate::form::{
    Ask, Effort, Media, Part, Reasoning, ReasoningPart, ResponseFormat, Role, Tool, ToolCall, ToolChoice, ToolResult, Unsupported,
};
use crate::json::{Fields, JsonNode};

/// Members that change nothing of an answer: who asks, what the provider keeps, how it finds its cache, how it predicts.
const HARMLESS: &[&str] =
    &["metadata", "prediction", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "safety_identifier", "store"];

/// Reads a request of at most so many bytes.
pub(crate) fn read_request(body: &[u8], bytes_max: usize) -> Result<Ask, Unsupported> {
    let mut fields = Fields::of_body(body, bytes_max)?;
    let mut ask = Ask { model: fields.needed_text("model")?, ..Ask::default() };
    let mut conversation = Conversation::default();
    for message in fields.objects("messages")? {
        read_message(message, &mut ask.system, &mut conversation)?;
    }
    ask.messages = conversation.done("messages")?;
    ask.tools = fields.objects("tools")?.into_iter().map(read_tool).collect::<Result<_, _>>()?;
    ask.tool_choice = read_tool_choice(&mut fields)?;
    ask.parallel_tool_calls = fields.flag("parallel_tool_calls")?;
    let limit = fields.whole("max_tokens")?;
    ask.output_tokens_max = fields.whole("max_completion_tokens")?.or(limit);
    ask.temperature = fields.number("temperature")?;
    ask.top_p = fields.number("top_p")?;
    ask.top_k = fields.whole("top_k")?;
    ask.stop = fields.texts("stop")?;
    ask.seed = fields.integer("seed")?;
    ask.frequency_penalty = fields.number("frequency_penalty")?;
    ask.presence_penalty = fields.number("presence_penalty")?;
    ask.response_format = read_format(&mut fields)?;
    ask.reasoning = match fields.text("reasoning_effort")?.as_deref() {
        None => None,
        Some("none") => Some(Reasoning::Off),
        Some(name) => match Effort::of_name(name) {
            Some(effort) => Some(Reasoning::Effort(effort)),
            None => return fields.refuse("reasoning_effort", "is no level of reasoning"),
        },
    };
    if let Some(mut reasoning) = fields.object("reasoning")? {
        // A summary is what comes of thoughts in any case.
        reasoning.drop_all(&["summary"]);
        reasoning.done()?;
    }
    ask.stream = fields.flag("stream")?.unwrap_or(false);
    if let Some(mut options) = fields.object("stream_options")? {
        ask.include_usage = options.flag("include_usage")?.unwrap_or(false);
        options.drop_all(&["include_obfuscation"]);
        options.done()?;
    }
    ask.user = fields.text("user")?;
    for (name, neutral) in [
        ("n", &["1"] as &[&str]),
        ("logprobs", &["false"]),
        ("top_logprobs", &["0"]),
        ("logit_bias", &["{}"]),
        ("modalities", &["[\"text\"]"]),
        ("service_tier", &["\"auto\"", "\"default\""]),
        ("verbosity", &["\"medium\""]),
    ] {
        fields.only(name, neutral)?;
    }
    fields.drop_all(HARMLESS);
    fields.done()?;
    Ok(ask)
}

fn read_message(mut message: Fields, system: &mut Vec<String>, conversation: &mut Conversation) -> Result<(), Unsupported> {
    let role = message.needed_text("role")?;
    let path = message.path("content");
    match role.as_str() {
        "system" | "developer" => {
            message.drop_all(&["name"]);
            let texts = read_texts(&mut message)?;
            system.extend(texts.into_iter().filter(|text| !text.is_empty()));
        }
        "user" => {
            for part in read_content(&mut message)? {
                conversation.push(Role::User, part, &path)?;
            }
        }
        "assistant" => read_assistant(&mut message, conversation)?,
        "tool" => {
            let id = message.needed_text("tool_call_id")?;
            message.drop_all(&["name"]);
            let parts = read_content(&mut message)?;
            let result = ToolResult { id, name: String::new(), parts, is_error: false };
            conversation.push(Role::User, Part::ToolResult(result), &path)?;
        }
        _ => return message.refuse("role", "must be system, developer, user, assistant or tool"),
    }
    message.done()
}

fn read_assistant(message: &mut Fields, conversation: &mut Conversation) -> Result<(), Unsupported> {
    let path = message.path("content");
    let mut push = |part| conversation.push(Role::Assistant, part, &path);
    for part in read_reasoning(message)? {
        push(Part::Reasoning(part))?;
    }
    for part in read_content(message)? {
        push(part)?;
    }
    if let Some(refusal) = message.text("refusal")? {
        push(Part::Text(refusal))?;
    }
    for mut call in message.objects("tool_calls")? {
        if !matches!(call.text("type")?.as_deref(), None | Some("function")) {
            return call.refuse("type", "only functions have a counterpart at the provider of this model");
        }
        call.drop_all(&["index"]);
        let id = call.needed_text("id")?;
        let signature = match call.object("extra_content")? {
            None => None,
            Some(mut extra) => match extra.object("google")? {
                None => None,
                Some(mut google) => google.text("thought_signature")?,
            },
        };
        let mut function = call.needed_object("function")?;
        let made = ToolCall {
            id,
            name: function.needed_text("name")?,
            arguments: function.text("arguments")?.unwrap_or_default(),
            signature,
        };
        function.done()?;
        call.done()?;
        push(Part::ToolCall(made))?;
    }
    // What clients send back of an answer without reading it.
    message.drop_all(&["annotations"]);
    message.drop_all(&["reasoning"]);
    Ok(())
}

/// Thoughts, as providers of this API name them: one text, or a list of details with proofs.
fn read_reasoning(message: &mut Fields) -> Result<Vec<ReasoningPart>, Unsupported> {
    let text = message.text("reasoning_content")?;
    let mut parts = Vec::new();
    for mut detail in message.objects("reasoning_details")? {
        match detail.text("type")?.as_deref() {
            Some("reasoning.text") => parts.push(ReasoningPart {
                text: detail.text("text")?.unwrap_or_default(),
                signature: detail.text("signature")?,
                redacted: None,
            }),
            Some("reasoning.encrypted") => {
                parts.push(ReasoningPart { text: String::new(), signature: None, redacted: detail.text("data")? });
            }
            _ => return detail.refuse("type", "must be reasoning.text or reasoning.encrypted"),
        }
    }
    if parts.is_empty() {
        parts.extend(text.filter(|text| !text.is_empty()).map(|text| ReasoningPart { text, ..ReasoningPart::default() }));
    }
    Ok(parts)
}

/// The texts of a message that may have nothing else.
fn read_texts(message: &mut Fields) -> Result<Vec<String>, Unsupported> {
    let path = message.path("content");
    let texts = read_content(message)?.into_iter().map(|part| match part {
        Part::Text(text) => Ok(text),
        _ => Err(Unsupported::new(path.clone(), "must be text")),
    });
    texts.collect()
}

/// The content of a message: a string or an array of parts.
fn read_content(message: &mut Fields) -> Result<Vec<Part>, Unsupported> {
    let path = message.path("content");
    let Some(content) = message.take("content") else { return Ok(Vec::new()) };
    if content.is_text() {
        let text = content.text().ok_or_else(|| Unsupported::new(path, "has half a surrogate pair"))?;
        return Ok(vec![Part::Text(text.into_owned())]);
    }
    let items = content.items().ok_or_else(|| Unsupported::new(path.clone(), "must be a string or an array"))?;
    items.into_iter().enumerate().map(|(at, item)| read_part(item, format!("{path}[{at}]"))).collect()
}

fn read_part(item: JsonNode, path: String) -> Result<Part, Unsupported> {
    let mut fields = Fields::of(item, path)?;
    fields.drop_all(&["prompt_cache_breakpoint", "cache_control"]);
    let part = match fields.needed_text("type")?.as_str() {
        "text" => Part::Text(fields.needed_text("text")?),
        "refusal" => Part::Text(fields.needed_text("refusal")?),
        "image_url" => {
            let mut image = fields.needed_object("image_url")?;
            image.drop_all(&["detail"]);
            let media = media_of_url(&image.needed_text("url")?, &image.path("url"))?;
            image.done()?;
            Part::Image(media)
        }
        "file" => {
            let mut file = fields.needed_object("file")?;
            let name = file.text("filename")?;
            let path = file.path("file_data");
            let Some(data) = file.text("file_data")? else {
                return file.refuse("file_data", "is missing; files that the provider keeps have no counterpart elsewhere");
            };
            file.done()?;
            match media_of_url(&data, &path)? {
                Media::Url(_) => return Err(Unsupported::new(path, "must be a data URL")),
                media => Part::Document(media, name),
            }
        }
        _ => return fields.refuse("type", "this kind of content has no counterpart at the provider of this model"),
    };
    fields.done()?;
    Ok(part)
}

fn read_tool(mut tool: Fields) -> Result<Tool, Unsupported> {
    if tool.needed_text("type")? != "function" {
        return tool.refuse("type", "only functions have a counterpart at the provider of this model");
    }
    let mut function = tool.needed_object("function")?;
    let read = Tool {
        name: function.needed_text("name")?,
        description: function.text("description")?,
        schema: function.raw_object("parameters")?.unwrap_or_else(|| EMPTY_SCHEMA.to_owned()),
        strict: function.flag("strict")?,
    };
    function.done()?;
    tool.drop_all(&["cache_control"]);
    tool.done()?;
    Ok(read)
}

/// The schema of a function without arguments.
const EMPTY_SCHEMA: &str = r#"{"type":"object","properties":{}}"#;

fn read_tool_choice(fields: &mut Fields) -> Result<Option<ToolChoice>, Unsupported> {
    let path = fields.path("tool_choice");
    let Some(node) = fields.take("tool_choice") else { return Ok(None) };
    if let Some(name) = node.text() {
        return match &*name {
            "auto" => Ok(Some(ToolChoice::Auto)),
            "none" => Ok(Some(ToolChoice::None)),
            "required" => Ok(Some(ToolChoice::Required)),
            _ => Err(Unsupported::new(path, "must be auto, none, required or a function")),
        };
    }
    let mut choice = Fields::of(node, path)?;
    if choice.needed_text("type")? != "function" {
        return choice.refuse("type", "only a function has a counterpart at the provider of this model");
    }
    let mut function = choice.needed_object("function")?;
    let name = function.needed_text("name")?;
    function.done()?;
    choice.done()?;
    Ok(Some(ToolChoice::Named(name)))
}

fn read_format(fields: &mut Fields) -> Result<ResponseFormat, Unsupported> {
    let Some(mut format) = fields.object("response_format")? else { return Ok(ResponseFormat::Text) };
    let read = match format.needed_text("type")?.as_str() {
        "text" => ResponseFormat::Text,
        "json_object" => ResponseFormat::Json,
        "json_schema" => {
            let mut schema = format.needed_object("json_schema")?;
            let read = ResponseFormat::Schema {
                name: schema.needed_text("name")?,
                description: schema.text("description")?,
                schema: schema.raw_object("schema")?.unwrap_or_else(|| "{}".to_owned()),
                strict: schema.flag("strict")?,
            };
            schema.done()?;
            read
        }
        _ => return format.refuse("type", "must be text, json_object or json_schema"),
    };
    format.done()?;
    Ok(read)
}
