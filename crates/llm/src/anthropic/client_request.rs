//! A client's request, read member by member.

use crate::conversation::{Conversation, is_base64};
use crate::form::{
    Ask, Effort, Media, Part, Reasoning, ReasoningPart, ResponseFormat, Role, Tool, ToolCall, ToolChoice, ToolResult, Unsupported,
};
use crate::json::{Fields, JsonNode};

/// Members that change nothing of an answer: what is cached, whose it is.
const HARMLESS: &[&str] = &["cache_control", "diagnostics", "user_profile_id", "workspace_id"];

/// Reads a request of at most so many bytes.
pub(crate) fn read_request(body: &[u8], bytes_max: usize) -> Result<Ask, Unsupported> {
    let ask = read_count(body, bytes_max)?;
    if ask.output_tokens_max.is_none() {
        return Err(Unsupported::new("max_tokens", "is missing"));
    }
    Ok(ask)
}

/// Reads a question for the number of tokens, which has no bound of an answer.
pub(crate) fn read_count(body: &[u8], bytes_max: usize) -> Result<Ask, Unsupported> {
    let mut fields = Fields::of_body(body, bytes_max)?;
    let mut ask = Ask { model: fields.needed_text("model")?, include_usage: true, ..Ask::default() };
    ask.output_tokens_max = fields.whole("max_tokens")?;
    ask.system = read_system(&mut fields, "system")?;
    let mut conversation = Conversation::default();
    for mut message in fields.objects("messages")? {
        let role = match message.needed_text("role")?.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => {
                ask.system.extend(read_system(&mut message, "content")?);
                message.done()?;
                continue;
            }
            _ => return message.refuse("role", "must be user, assistant or system"),
        };
        let path = message.path("content");
        for part in read_content(&mut message, "content")? {
            conversation.push(role, part, &path)?;
        }
        message.done()?;
    }
    ask.messages = conversation.done("messages")?;
    ask.tools = fields.objects("tools")?.into_iter().map(read_tool).collect::<Result<_, _>>()?;
    read_tool_choice(&mut fields, &mut ask)?;
    ask.temperature = fields.number("temperature")?;
    ask.top_p = fields.number("top_p")?;
    ask.top_k = fields.whole("top_k")?;
    ask.stop = fields.texts("stop_sequences")?;
    ask.reasoning = read_thinking(&mut fields)?;
    read_output(&mut fields, &mut ask)?;
    ask.stream = fields.flag("stream")?.unwrap_or(false);
    if let Some(mut metadata) = fields.object("metadata")? {
        ask.user = metadata.text("user_id")?;
        metadata.done()?;
    }
    // Where and how fast an answer is computed is part of what was asked for.
    for (name, neutral) in [
        ("inference_geo", &["\"global\""] as &[&str]),
        ("service_tier", &["\"auto\"", "\"standard_only\""]),
        ("speed", &["\"standard\""]),
    ] {
        fields.only(name, neutral)?;
    }
    fields.drop_all(HARMLESS);
    fields.done()?;
    Ok(ask)
}

fn read_system(fields: &mut Fields, name: &str) -> Result<Vec<String>, Unsupported> {
    let path = fields.path(name);
    let texts = read_content(fields, name)?.into_iter().map(|part| match part {
        Part::Text(text) => Ok(text),
        _ => Err(Unsupported::new(path.clone(), "must be text")),
    });
    Ok(texts.collect::<Result<Vec<_>, _>>()?.into_iter().filter(|text| !text.is_empty()).collect())
}

/// Content: a string or an array of blocks.
fn read_content(fields: &mut Fields, name: &str) -> Result<Vec<Part>, Unsupported> {
    read_blocks(fields, name, true)
}

/// Results of tools have blocks of their own, but no results of tools again.
fn read_blocks(fields: &mut Fields, name: &str, may_nest: bool) -> Result<Vec<Part>, Unsupported> {
    let path = fields.path(name);
    let Some(content) = fields.take(name) else { return Ok(Vec::new()) };
    if content.is_text() {
        let text = content.text().ok_or_else(|| Unsupported::new(path, "has half a surrogate pair"))?;
        return Ok(vec![Part::Text(text.into_owned())]);
    }
    let items = content.items().ok_or_else(|| Unsupported::new(path.clone(), "must be a string or an array"))?;
    items.into_iter().enumerate().map(|(at, item)| read_block(item, format!("{path}[{at}]"), may_nest)).collect()
}

fn read_block(item: JsonNode, path: String, may_nest: bool) -> Result<Part, Unsupported> {
    let mut block = Fields::of(item, path)?;
    block.drop_all(&["cache_control"]);
    let kind = block.needed_text("type")?;
    let part = match kind.as_str() {
        "text" => {
            // What clients send back of an answer with sources: the text has them as words.
            block.drop_all(&["citations"]);
            Part::Text(block.needed_text("text")?)
        }
        "image" => {
            let source = block.needed_object("source")?;
            Part::Image(read_source(source)?)
        }
        "document" => {
            block.only("citations", &[r#"{"enabled":false}"#, r#"{"enabled": false}"#])?;
            let name = block.text("title")?;
            let source = block.needed_object("source")?;
            Part::Document(read_source(source)?, name)
        }
        "thinking" => Part::Reasoning(ReasoningPart {
            text: block.needed_text("thinking")?,
            signature: block.text("signature")?.filter(|signature| !signature.is_empty()),
            redacted: None,
        }),
        "redacted_thinking" => {
            Part::Reasoning(ReasoningPart { text: String::new(), signature: None, redacted: Some(block.needed_text("data")?) })
        }
        "tool_use" => {
            block.drop_all(&["caller"]);
            Part::ToolCall(ToolCall {
                id: block.needed_text("id")?,
                name: block.needed_text("name")?,
                arguments: block.raw_object("input")?.unwrap_or_default(),
                signature: None,
            })
        }
        "tool_result" if may_nest => Part::ToolResult(ToolResult {
            id: block.needed_text("tool_use_id")?,
            name: String::new(),
            parts: read_blocks(&mut block, "content", false)?,
            is_error: block.flag("is_error")?.unwrap_or(false),
        }),
        _ => return block.refuse("type", "this kind of content has no counterpart at the provider of this model"),
    };
    block.done()?;
    Ok(part)
}

fn read_source(mut source: Fields) -> Result<Media, Unsupported> {
    let media = match source.needed_text("type")?.as_str() {
        "url" => Media::Url(source.needed_text("url")?),
        "base64" => {
            let (media_type, data) = (source.needed_text("media_type")?, source.needed_text("data")?);
            if !is_base64(&data) {
                return source.refuse("data", "must be base64");
            }
            Media::Base64 { media_type, data }
        }
        "text" => {
            source.drop_all(&["media_type"]);
            Media::Text(source.needed_text("data")?)
        }
        _ => {
            return source
                .refuse("type", "must be url, base64 or text; files that the provider keeps have no counterpart elsewhere");
        }
    };
    source.done()?;
    Ok(media)
}

fn read_tool(mut tool: Fields) -> Result<Tool, Unsupported> {
    if !matches!(tool.text("type")?.as_deref(), None | Some("custom")) {
        return tool.refuse("type", "tools that the provider runs have no counterpart elsewhere");
    }
    let schema = match tool.raw_object("input_schema")? {
        Some(schema) => schema,
        None => return tool.refuse("input_schema", "is missing"),
    };
    let read =
        Tool { name: tool.needed_text("name")?, description: tool.text("description")?, schema, strict: tool.flag("strict")? };
    tool.drop_all(&["cache_control", "eager_input_streaming"]);
    tool.only("defer_loading", &["false"])?;
    tool.only("allowed_callers", &["[\"direct\"]"])?;
    tool.done()?;
    Ok(read)
}

fn read_tool_choice(fields: &mut Fields, ask: &mut Ask) -> Result<(), Unsupported> {
    let Some(mut choice) = fields.object("tool_choice")? else { return Ok(()) };
    ask.tool_choice = Some(match choice.needed_text("type")?.as_str() {
        "auto" => ToolChoice::Auto,
        "any" => ToolChoice::Required,
        "none" => ToolChoice::None,
        "tool" => ToolChoice::Named(choice.needed_text("name")?),
        _ => return choice.refuse("type", "must be auto, any, tool or none"),
    });
    ask.parallel_tool_calls = choice.flag("disable_parallel_tool_use")?.map(|disabled| !disabled);
    choice.done()
}

fn read_thinking(fields: &mut Fields) -> Result<Option<Reasoning>, Unsupported> {
    let Some(mut thinking) = fields.object("thinking")? else { return Ok(None) };
    thinking.drop_all(&["display"]);
    let read = match thinking.needed_text("type")?.as_str() {
        "enabled" => match thinking.whole("budget_tokens")? {
            Some(tokens) => Reasoning::Budget(tokens),
            None => return thinking.refuse("budget_tokens", "is missing"),
        },
        "disabled" => Reasoning::Off,
        "adaptive" => Reasoning::Adaptive,
        _ => return thinking.refuse("type", "must be enabled, adaptive or disabled"),
    };
    thinking.done()?;
    Ok(Some(read))
}

fn read_output(fields: &mut Fields, ask: &mut Ask) -> Result<(), Unsupported> {
    let Some(mut output) = fields.object("output_config")? else { return Ok(()) };
    if let Some(name) = output.text("effort")? {
        match Effort::of_name(&name) {
            Some(effort) if ask.reasoning.is_none() || ask.reasoning == Some(Reasoning::Adaptive) => {
                ask.reasoning = Some(Reasoning::Effort(effort));
            }
            Some(_) => {}
            None => return output.refuse("effort", "is no level of effort"),
        }
    }
    if let Some(mut format) = output.object("format")? {
        if format.needed_text("type")? != "json_schema" {
            return format.refuse("type", "must be json_schema");
        }
        let Some(schema) = format.raw_object("schema")? else { return format.refuse("schema", "is missing") };
        format.done()?;
        ask.response_format = ResponseFormat::Schema { name: "answer".to_owned(), description: None, schema, strict: Some(true) };
    }
    output.done()
}
