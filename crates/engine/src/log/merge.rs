//! Joins adjacent deltas of one segment or of one tool input, for replays and for readers that are behind.

use protocol::{SessionEvent, event::LogEntry};

pub(crate) fn merged(entries: Vec<LogEntry>) -> Vec<LogEntry> {
    let mut out: Vec<LogEntry> = Vec::with_capacity(entries.len());
    for entry in entries {
        if let Some(before) = out.last_mut()
            && join(&mut before.event, &entry.event)
        {
            before.seq = entry.seq;
        } else {
            out.push(entry);
        }
    }
    out
}

/// Whether `next` continues the segment or tool input of `before`.
pub(crate) fn continues(before: &SessionEvent, next: &SessionEvent) -> bool {
    match (before, next) {
        (
            SessionEvent::SegmentDelta { message, segment, .. },
            SessionEvent::SegmentDelta { message: other, segment: number, .. },
        ) => message == other && segment == number,
        (
            SessionEvent::ToolInputDelta { message, call, .. },
            SessionEvent::ToolInputDelta { message: other, call: name, .. },
        ) => message == other && call == name,
        _ => false,
    }
}

fn length(event: &SessionEvent) -> usize {
    match event {
        SessionEvent::SegmentDelta { delta, .. } | SessionEvent::ToolInputDelta { delta, .. } => delta.len(),
        _ => 0,
    }
}

/// A joined delta grows no longer than this, so that a reader receives a long text in pieces.
const LONGEST: usize = 32 * 1024;

/// Appends `next` to `before` if it continues it and there is room; returns whether it did.
pub(crate) fn join(before: &mut SessionEvent, next: &SessionEvent) -> bool {
    if !continues(before, next) || length(before) >= LONGEST {
        return false;
    }
    if let SessionEvent::SegmentDelta { delta, .. } | SessionEvent::ToolInputDelta { delta, .. } = before
        && let SessionEvent::SegmentDelta { delta: more, .. }
        | SessionEvent::ToolInputDelta { delta: more, .. } = next
    {
        delta.push_str(more);
    }
    true
}
