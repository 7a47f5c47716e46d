//! Formats each chunk as one short line, for transcripts in snapshot tests.

use protocol::{Chunk, MessageFacts, ProviderMetadata};

pub fn chunk_line(chunk: &Chunk<'_>) -> String {
    match chunk {
        Chunk::Start { message_id, message_metadata } => {
            // The values are the same in every test, and one test checks them.
            let keys: Vec<_> =
                message_metadata.iter().flat_map(|facts| facts.to_map()).map(|(key, _)| key).collect();
            with(format!("start {message_id}"), &keys.join(","))
        }
        Chunk::StartStep => "start-step".to_owned(),
        Chunk::FinishStep => "finish-step".to_owned(),
        Chunk::TextStart { id } => format!("text-start {id}"),
        Chunk::TextDelta { id, delta } => format!("text-delta {id} {delta:?}"),
        Chunk::TextEnd { id } => format!("text-end {id}"),
        Chunk::ReasoningStart { id } => format!("reasoning-start {id}"),
        Chunk::ReasoningDelta { id, delta } => format!("reasoning-delta {id} {delta:?}"),
        Chunk::ReasoningEnd { id, provider_metadata } => {
            format!("reasoning-end {id}{}", signed(provider_metadata.as_deref()))
        }
        Chunk::ToolInputStart { tool_call_id, tool_name } => {
            format!("tool-input-start {tool_call_id} {tool_name}")
        }
        Chunk::ToolInputDelta { tool_call_id, input_text_delta } => {
            format!("tool-input-delta {tool_call_id} {input_text_delta}")
        }
        Chunk::ToolInputAvailable { tool_call_id, tool_name, input, provider_metadata } => {
            let signed = signed(provider_metadata.as_deref());
            format!("tool-input-available {tool_call_id} {tool_name} {input}{signed}")
        }
        Chunk::ToolInputError { tool_call_id, tool_name, input, error_text } => {
            format!("tool-input-error {tool_call_id} {tool_name} {input} {error_text:?}")
        }
        Chunk::ToolApprovalRequest { approval_id, tool_call_id } => {
            format!("tool-approval-request {approval_id} {tool_call_id}")
        }
        Chunk::ToolApprovalResponse { approval_id, approved, reason } => {
            with(format!("tool-approval-response {approval_id} {approved}"), reason.as_deref().unwrap_or(""))
        }
        Chunk::ToolOutputAvailable { tool_call_id, output, preliminary } => {
            let kind = if *preliminary { "tool-output-preliminary" } else { "tool-output-available" };
            format!("{kind} {tool_call_id} {output}")
        }
        Chunk::ToolOutputError { tool_call_id, error_text } => {
            format!("tool-output-error {tool_call_id} {error_text:?}")
        }
        Chunk::ToolOutputDenied { tool_call_id } => format!("tool-output-denied {tool_call_id}"),
        Chunk::SourceUrl { source_id, url, .. } => format!("source-url {source_id} {url}"),
        Chunk::SourceDocument { source_id, title, .. } => format!("source-document {source_id} {title:?}"),
        Chunk::File { url, media_type } => format!("file {media_type} {url}"),
        Chunk::MessageMetadata { message_metadata } => {
            format!("message-metadata {}", object(message_metadata))
        }
        Chunk::Finish { finish_reason, message_metadata } => {
            let reason = serde_json::to_value(finish_reason).unwrap_or_default();
            let line = format!("finish {}", reason.as_str().unwrap_or_default());
            with(line, &message_metadata.as_ref().map(|metadata| object(metadata)).unwrap_or_default())
        }
        Chunk::Abort => "abort".to_owned(),
        Chunk::Error { error_text } => format!("error {error_text:?}"),
        Chunk::Data(data) => {
            let mut line = format!("data-{}", data.kind.0);
            if data.transient {
                line.push_str(" transient");
            }
            if let Some(id) = &data.id {
                line.push_str(&format!(" {id}"));
            }
            format!("{line} {}", data.data)
        }
    }
}

fn with(mut line: String, more: &str) -> String {
    if !more.is_empty() {
        line.push(' ');
        line.push_str(more);
    }
    line
}

fn signed(provider: Option<&ProviderMetadata>) -> String {
    provider
        .and_then(|provider| serde_json::to_string(provider).ok())
        .map_or_else(String::new, |it| format!(" {it}"))
}

fn object(facts: &MessageFacts) -> String {
    serde_json::to_string(facts).unwrap_or_default()
}

/// Merges adjacent deltas of one segment or one tool input: where a delta was cut depends on timing only.
pub fn merge_deltas(chunks: &[Chunk<'static>]) -> Vec<Chunk<'static>> {
    let mut out: Vec<Chunk<'static>> = Vec::new();
    for chunk in chunks {
        match (out.last_mut(), chunk) {
            (Some(Chunk::TextDelta { id, delta }), Chunk::TextDelta { id: other, delta: more })
            | (Some(Chunk::ReasoningDelta { id, delta }), Chunk::ReasoningDelta { id: other, delta: more })
                if id == other =>
            {
                delta.to_mut().push_str(more);
            }
            (
                Some(Chunk::ToolInputDelta { tool_call_id, input_text_delta }),
                Chunk::ToolInputDelta { tool_call_id: other, input_text_delta: more },
            ) if tool_call_id == other => input_text_delta.to_mut().push_str(more),
            _ => out.push(chunk.clone()),
        }
    }
    out
}

pub fn chunk_lines(chunks: &[Chunk<'static>]) -> String {
    chunks.iter().map(chunk_line).collect::<Vec<_>>().join("\n")
}
