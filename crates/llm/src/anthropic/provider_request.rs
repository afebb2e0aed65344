//! A request for Anthropic.

use crate::form::{Ask, Effort, Media, Message, Part, Reasoning, ResponseFormat, Role, Tool, ToolChoice, Unsupported};
use crate::generation::thinks_by_budget;
use crate::json::{ArrayOut, ObjectOut, object};
use crate::tool_id::IdRule;

/// The bound of an answer whose client states none: the API requires one. Every model accepts it.
const OUTPUT_TOKENS: u64 = 4_096;
/// The least that a model may be given to think with.
const BUDGET_MIN: u64 = 1_024;

/// Writes the body.
pub(crate) fn write_request(ask: &Ask) -> Result<Vec<u8>, Unsupported> {
    let mut body = Vec::new();
    object(&mut body, |out| write_body(out, ask))?;
    Ok(body)
}

fn write_body(out: &mut ObjectOut, ask: &Ask) -> Result<(), Unsupported> {
    refuse_without_counterpart(ask)?;
    let budget = budget(ask);
    out.text("model", &ask.model);
    let tokens = ask.output_tokens_max.unwrap_or(OUTPUT_TOKENS + budget.unwrap_or(0));
    out.whole("max_tokens", tokens);
    if !ask.system.is_empty() {
        out.array("system", |system| {
            for text in &ask.system {
                system.object(|block| write_text(block, text));
            }
        });
    }
    out.array("messages", |messages| ask.messages.iter().try_for_each(|message| write_message(messages, message)))?;
    if !ask.tools.is_empty() {
        out.array("tools", |tools| ask.tools.iter().for_each(|tool| write_tool(tools, tool)));
        write_tool_choice(out, ask);
    }
    out.number_if("temperature", ask.temperature);
    out.number_if("top_p", ask.top_p);
    out.whole_if("top_k", ask.top_k);
    if !ask.stop.is_empty() {
        out.array("stop_sequences", |stop| ask.stop.iter().for_each(|text| stop.text(text)));
    }
    write_reasoning(out, ask, budget, tokens)?;
    if ask.stream {
        out.flag("stream", true);
    }
    if let Some(user) = &ask.user {
        out.object("metadata", |metadata| metadata.text("user_id", user));
    }
    Ok(())
}

fn refuse_without_counterpart(ask: &Ask) -> Result<(), Unsupported> {
    if ask.seed.is_some() {
        return Err(Unsupported::new("seed", "Anthropic has no counterpart"));
    }
    for (field, value) in [("frequency_penalty", ask.frequency_penalty), ("presence_penalty", ask.presence_penalty)] {
        if value.is_some_and(|value| value != 0.0) {
            return Err(Unsupported::new(field, "Anthropic has no counterpart"));
        }
    }
    if ask.temperature.is_some_and(|temperature| temperature > 1.0) {
        return Err(Unsupported::new("temperature", "Anthropic accepts 0 to 1"));
    }
    if ask.response_format == ResponseFormat::Json {
        return Err(Unsupported::new("response_format", "Anthropic answers in JSON only by a schema; use json_schema"));
    }
    Ok(())
}

/// The tokens to think with, where a number is wanted.
fn budget(ask: &Ask) -> Option<u64> {
    if !thinks_by_budget(&ask.model) {
        return None;
    }
    match ask.reasoning? {
        Reasoning::Budget(tokens) => Some(tokens),
        Reasoning::Effort(effort) => {
            let room = ask.output_tokens_max.map_or(u64::MAX, |tokens| tokens.saturating_sub(1));
            Some(effort.budget().min(room))
        }
        Reasoning::Adaptive => {
            Some(Effort::Medium.budget().min(ask.output_tokens_max.map_or(u64::MAX, |tokens| tokens.saturating_sub(1))))
        }
        Reasoning::Off => None,
    }
}

fn write_reasoning(out: &mut ObjectOut, ask: &Ask, budget: Option<u64>, tokens: u64) -> Result<(), Unsupported> {
    let mut effort = None;
    match (ask.reasoning, budget) {
        (None, _) => {}
        (_, Some(budget)) => {
            if budget < BUDGET_MIN || budget >= tokens {
                return Err(Unsupported::new(
                    "reasoning",
                    "Anthropic's models think with at least 1024 tokens, and less than the answer may have",
                ));
            }
            out.object("thinking", |thinking| {
                thinking.text("type", "enabled");
                thinking.whole("budget_tokens", budget);
            });
        }
        (Some(Reasoning::Off), _) => out.object("thinking", |thinking| thinking.text("type", "disabled")),
        (Some(Reasoning::Effort(_) | Reasoning::Budget(_)), _) => {
            effort = ask.reasoning.and_then(Reasoning::effort).map(|level| level.max(Effort::Low));
            out.object("thinking", |thinking| thinking.text("type", "adaptive"));
        }
        (Some(_), _) => out.object("thinking", |thinking| thinking.text("type", "adaptive")),
    }
    let schema = match &ask.response_format {
        ResponseFormat::Schema { schema, .. } => Some(schema),
        ResponseFormat::Text | ResponseFormat::Json => None,
    };
    if effort.is_some() || schema.is_some() {
        out.object("output_config", |output| {
            output.text_if("effort", effort.map(Effort::name));
            if let Some(schema) = schema {
                output.object("format", |format| {
                    format.text("type", "json_schema");
                    format.raw("schema", schema);
                });
            }
        });
    }
    Ok(())
}

fn write_tool(tools: &mut ArrayOut, tool: &Tool) {
    tools.object(|out| {
        out.text("name", &tool.name);
        out.text_if("description", tool.description.as_deref());
        out.raw("input_schema", &tool.schema);
        if let Some(strict) = tool.strict {
            out.flag("strict", strict);
        }
    });
}

fn write_tool_choice(out: &mut ObjectOut, ask: &Ask) {
    if ask.tool_choice.is_none() && ask.parallel_tool_calls.is_none() {
        return;
    }
    out.object("tool_choice", |choice| {
        match ask.tool_choice.as_ref().unwrap_or(&ToolChoice::Auto) {
            ToolChoice::Auto => choice.text("type", "auto"),
            ToolChoice::Required => choice.text("type", "any"),
            ToolChoice::Named(name) => {
                choice.text("type", "tool");
                choice.text("name", name);
            }
            ToolChoice::None => {
                choice.text("type", "none");
                return;
            }
        }
        if let Some(parallel) = ask.parallel_tool_calls {
            choice.flag("disable_parallel_tool_use", !parallel);
        }
    });
}

fn write_message(messages: &mut ArrayOut, message: &Message) -> Result<(), Unsupported> {
    if message.parts.iter().all(|part| matches!(part, Part::Reasoning(part) if part.redacted.is_none() && part.signature.is_none()))
    {
        return Ok(());
    }
    messages.object(|out| {
        out.text("role", if message.role == Role::User { "user" } else { "assistant" });
        out.array("content", |content| {
            // Results come before everything else that the user says.
            let is_result = |part: &&Part| matches!(part, Part::ToolResult(_));
            message.parts.iter().filter(is_result).try_for_each(|part| write_part(content, part))?;
            message.parts.iter().filter(|part| !is_result(part)).try_for_each(|part| write_part(content, part))
        })
    })
}

fn write_text(block: &mut ObjectOut, text: &str) {
    block.text("type", "text");
    block.text("text", text);
}

fn write_part(content: &mut ArrayOut, part: &Part) -> Result<(), Unsupported> {
    match part {
        Part::Text(text) => content.object(|block| write_text(block, text)),
        Part::Image(media) => content.object(|block| {
            block.text("type", "image");
            write_source(block, media);
        }),
        Part::Document(media, name) => content.object(|block| {
            block.text("type", "document");
            write_source(block, media);
            block.text_if("title", name.as_deref());
        }),
        Part::ToolCall(call) => content.object(|block| {
            block.text("type", "tool_use");
            block.text("id", &IdRule::Plain.fit(&call.id));
            block.text("name", &call.name);
            block.raw("input", &call.arguments);
        }),
        Part::ToolResult(result) => content.object(|block| {
            block.text("type", "tool_result");
            block.text("tool_use_id", &IdRule::Plain.fit(&result.id));
            let parts = result.parts.iter().filter(|part| !matches!(part, Part::Text(text) if text.is_empty()));
            block.array("content", |content| parts.into_iter().try_for_each(|part| write_inner(content, part)))?;
            if result.is_error {
                block.flag("is_error", true);
            }
            Ok(())
        })?,
        // A thought without proof is refused by the API, and worth nothing to the model.
        Part::Reasoning(part) => match (&part.redacted, &part.signature) {
            (Some(data), _) => content.object(|block| {
                block.text("type", "redacted_thinking");
                block.text("data", data);
            }),
            (None, Some(signature)) => content.object(|block| {
                block.text("type", "thinking");
                block.text("thinking", &part.text);
                block.text("signature", signature);
            }),
            (None, None) => {}
        },
        Part::Citation(_) => {}
    }
    Ok(())
}

/// A part of a tool's result, which has no calls and results again.
fn write_inner(content: &mut ArrayOut, part: &Part) -> Result<(), Unsupported> {
    match part {
        Part::Text(_) | Part::Image(_) | Part::Document(..) => write_part(content, part),
        _ => Err(Unsupported::new("messages", "the result of a tool has texts, images and documents")),
    }
}

fn write_source(block: &mut ObjectOut, media: &Media) {
    block.object("source", |source| match media {
        Media::Url(url) => {
            source.text("type", "url");
            source.text("url", url);
        }
        Media::Base64 { media_type, data } => {
            source.text("type", "base64");
            source.text("media_type", media_type);
            source.text("data", data);
        }
        Media::Text(text) => {
            source.text("type", "text");
            source.text("media_type", "text/plain");
            source.text("data", text);
        }
    });
}
