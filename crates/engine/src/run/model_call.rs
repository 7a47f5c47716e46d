//! Calling models: the request, the streamed answer, the calls in it, what it cost, and compaction when it gets too long.

pub(crate) mod accept;
mod ask_again;
pub(crate) mod call;
pub(crate) mod compact;
mod event_batches;
mod hints;
mod summarise;
pub(crate) mod title;
pub(crate) mod usage_record;
