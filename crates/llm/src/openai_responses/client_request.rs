//! A client's request, read member by member.

use super::reply::{REDACTED, SIGNATURE};
use crate::conversation::{Conversation, media_of_url};
use crate::form::{
    Ask, Effort, Media, Part, Reasoning, ReasoningPart, ResponseFormat, Role, Tool, ToolCall, ToolChoice, ToolResult, Unsupported,
};
use crate::json::{Fields, JsonNode};

/// Members that change nothing of an answer: who asks, what the provider keeps, how it finds its cache.
const HARMLESS: &[&str] = &[
    "metadata",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "store",
    "stream_options",
];

/// Reads a request of at most so many bytes.
pub(crate) fn read_request(body: &[u8], bytes_max: usize) -> Result<Ask, Unsupported> {
    let mut fields = Fields::of_body(body, bytes_max)?;
    let mut ask = Ask { model: fields.needed_text("model")?, include_usage: true, ..Ask::default() };
    ask.system.extend(fields.text("instructions")?.filter(|text| !text.is_empty()));
    read_input(&mut fields, &mut ask)?;
    ask.tools = fields.objects("tools")?.into_iter().map(read_tool).collect::<Result<_, _>>()?;
    ask.tool_choice = read_tool_choice(&mut fields)?;
    ask.parallel_tool_calls = fields.flag("parallel_tool_calls")?;
    ask.output_tokens_max = fields.whole("max_output_tokens")?;
    ask.temperature = fields.number("temperature")?;
    ask.top_p = fields.number("top_p")?;
    if let Some(mut text) = fields.object("text")? {
        ask.response_format = read_format(&mut text)?;
        text.only("verbosity", &["\"medium\""])?;
        text.done()?;
    }
    if let Some(mut reasoning) = fields.object("reasoning")? {
        reasoning.drop_all(&["summary", "generate_summary"]);
        ask.reasoning = match reasoning.text("effort")?.as_deref() {
            None => None,
            Some("none") => Some(Reasoning::Off),
            Some(name) => match Effort::of_name(name) {
                Some(effort) => Some(Reasoning::Effort(effort)),
                None => return reasoning.refuse("effort", "is no level of reasoning"),
            },
        };
        reasoning.done()?;
    }
    ask.stream = fields.flag("stream")?.unwrap_or(false);
    ask.user = fields.text("user")?;
    for (name, neutral) in [
        ("background", &["false"] as &[&str]),
        ("truncation", &["\"disabled\""]),
        ("top_logprobs", &["0"]),
        ("service_tier", &["\"auto\"", "\"default\""]),
        ("include", &["[]", "[\"reasoning.encrypted_content\"]"]),
    ] {
        fields.only(name, neutral)?;
    }
    fields.drop_all(HARMLESS);
    fields.done()?;
    Ok(ask)
}

fn read_input(fields: &mut Fields, ask: &mut Ask) -> Result<(), Unsupported> {
    let mut conversation = Conversation::default();
    let path = fields.path("input");
    match fields.take("input") {
        None => return fields.refuse("input", "is missing"),
        Some(input) if input.is_text() => {
            let text = input.text().ok_or_else(|| Unsupported::new(path.clone(), "has half a surrogate pair"))?;
            conversation.push(Role::User, Part::Text(text.into_owned()), &path)?;
        }
        Some(input) => {
            let items = input.items().ok_or_else(|| Unsupported::new(path.clone(), "must be a string or an array"))?;
            for (at, item) in items.into_iter().enumerate() {
                read_item(Fields::of(item, format!("{path}[{at}]"))?, &mut ask.system, &mut conversation)?;
            }
        }
    }
    ask.messages = conversation.done(&path)?;
    Ok(())
}

fn read_item(mut item: Fields, system: &mut Vec<String>, conversation: &mut Conversation) -> Result<(), Unsupported> {
    let path = item.path("content");
    item.drop_all(&["id", "status"]);
    match item.text("type")?.as_deref() {
        None | Some("message") => {
            item.drop_all(&["phase"]);
            let role = match item.needed_text("role")?.as_str() {
                "user" => Role::User,
                "assistant" => Role::Assistant,
                "system" | "developer" => {
                    for part in read_content(&mut item, "content")? {
                        let Part::Text(text) = part else { return item.refuse("content", "must be text") };
                        system.extend(Some(text).filter(|text| !text.is_empty()));
                    }
                    return item.done();
                }
                _ => return item.refuse("role", "must be user, assistant, system or developer"),
            };
            for part in read_content(&mut item, "content")? {
                conversation.push(role, part, &path)?;
            }
        }
        Some("function_call") => {
            let call = ToolCall {
                id: item.needed_text("call_id")?,
                name: item.needed_text("name")?,
                arguments: item.needed_text("arguments")?,
                signature: None,
            };
            conversation.push(Role::Assistant, Part::ToolCall(call), &item.path("arguments"))?;
        }
        Some("function_call_output") => {
            let id = item.needed_text("call_id")?;
            let parts = read_content(&mut item, "output")?;
            let result = ToolResult { id, name: String::new(), parts, is_error: false };
            conversation.push(Role::User, Part::ToolResult(result), &path)?;
        }
        Some("reasoning") => {
            if let Some(part) = read_reasoning(&mut item)? {
                conversation.push(Role::Assistant, Part::Reasoning(part), &path)?;
            }
        }
        Some(_) => return item.refuse("type", "this kind of item has no counterpart at the provider of this model"),
    }
    item.done()
}

/// A thought that an answer of this gateway gave; those of others mean nothing to the provider.
fn read_reasoning(item: &mut Fields) -> Result<Option<ReasoningPart>, Unsupported> {
    let mut text = String::new();
    for name in ["summary", "content"] {
        for mut part in item.objects(name)? {
            text.push_str(&part.text("text")?.unwrap_or_default());
        }
    }
    let proof = item.text("encrypted_content")?.unwrap_or_default();
    let signature = proof.strip_prefix(SIGNATURE).map(str::to_owned);
    let redacted = proof.strip_prefix(REDACTED).map(str::to_owned);
    let is_known = !text.is_empty() || redacted.is_some();
    Ok(is_known.then_some(ReasoningPart { text, signature, redacted }))
}

fn read_content(item: &mut Fields, name: &str) -> Result<Vec<Part>, Unsupported> {
    let path = item.path(name);
    let Some(content) = item.take(name) else { return Ok(Vec::new()) };
    if content.is_text() {
        let text = content.text().ok_or_else(|| Unsupported::new(path, "has half a surrogate pair"))?;
        return Ok(vec![Part::Text(text.into_owned())]);
    }
    let items = content.items().ok_or_else(|| Unsupported::new(path.clone(), "must be a string or an array"))?;
    items.into_iter().enumerate().map(|(at, item)| read_part(item, format!("{path}[{at}]"))).collect()
}

fn read_part(item: JsonNode, path: String) -> Result<Part, Unsupported> {
    let mut part = Fields::of(item, path)?;
    part.drop_all(&["prompt_cache_breakpoint", "detail"]);
    let read = match part.needed_text("type")?.as_str() {
        "input_text" | "output_text" | "text" => {
            // What clients send back of an answer without reading it.
            part.drop_all(&["annotations", "logprobs"]);
            Part::Text(part.needed_text("text")?)
        }
        "refusal" => Part::Text(part.needed_text("refusal")?),
        "input_image" => {
            let path = part.path("image_url");
            match part.text("image_url")? {
                Some(url) => Part::Image(media_of_url(&url, &path)?),
                None => return part.refuse("image_url", "is missing; files that the provider keeps have no counterpart elsewhere"),
            }
        }
        "input_file" => {
            let name = part.text("filename")?;
            let path = part.path("file_data");
            match (part.text("file_data")?, part.text("file_url")?) {
                (Some(data), None) => match media_of_url(&data, &path)? {
                    Media::Url(_) => return part.refuse("file_data", "must be a data URL"),
                    media => Part::Document(media, name),
                },
                (None, Some(url)) => Part::Document(Media::Url(url), name),
                _ => return part.refuse("file_data", "is missing; files that the provider keeps have no counterpart elsewhere"),
            }
        }
        _ => return part.refuse("type", "this kind of content has no counterpart at the provider of this model"),
    };
    part.done()?;
    Ok(read)
}

fn read_tool(mut tool: Fields) -> Result<Tool, Unsupported> {
    if tool.needed_text("type")? != "function" {
        return tool.refuse("type", "tools that the provider runs have no counterpart elsewhere");
    }
    let read = Tool {
        name: tool.needed_text("name")?,
        description: tool.text("description")?,
        schema: tool.raw_object("parameters")?.unwrap_or_else(|| r#"{"type":"object","properties":{}}"#.to_owned()),
        strict: tool.flag("strict")?,
    };
    tool.only("defer_loading", &["false"])?;
    tool.only("allowed_callers", &["[\"direct\"]"])?;
    tool.done()?;
    Ok(read)
}

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
    let name = choice.needed_text("name")?;
    choice.done()?;
    Ok(Some(ToolChoice::Named(name)))
}

fn read_format(text: &mut Fields) -> Result<ResponseFormat, Unsupported> {
    let Some(mut format) = text.object("format")? else { return Ok(ResponseFormat::Text) };
    let read = match format.needed_text("type")?.as_str() {
        "text" => ResponseFormat::Text,
        "json_object" => ResponseFormat::Json,
        "json_schema" => ResponseFormat::Schema {
            name: format.needed_text("name")?,
            description: format.text("description")?,
            schema: format.raw_object("schema")?.unwrap_or_else(|| "{}".to_owned()),
            strict: format.flag("strict")?,
        },
        _ => return format.refuse("type", "must be text, json_object or json_schema"),
    };
    format.done()?;
    Ok(read)
}
