//! Which call a piece of a tool call belongs to. Servers number the calls of an answer in their own ways:
//!
//! - by `index`, the id and the name only in the first piece (OpenAI); or the id repeated in every piece; or a
//!   fresh id in every piece, which then has no name;
//! - without `index`, one whole call per piece, or all calls in one list;
//! - every call under index 0, told apart by the id or only by being complete.
//!
//! Our own numbering is dense and in the order in which the calls began.

use std::collections::VecDeque;

use protocol::ProviderMetadata;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::wire::CallDelta;
use crate::{
    model::{ModelError, ModelEvent},
    remote::bounds::{MAX_ARGUMENT_BYTES, MAX_CALLS},
};

/// Where the `extra_content` of a call is kept.
pub const EXTRA_PROVIDER: &str = "openai";
pub const EXTRA_FIELD: &str = "extra_content";

#[derive(Debug, Default)]
pub struct Calls {
    calls: Vec<Call>,
    /// Counts the lists of pieces, to know which calls a list has already had a piece for.
    lists: u64,
    /// The argument text of all calls.
    bytes: usize,
}

#[derive(Debug)]
struct Call {
    their_index: Option<u32>,
    id: String,
    /// Empty until the name arrives; the call is told only then.
    name: String,
    arguments: String,
    /// Until the call is told.
    extra: Option<Value>,
    last_list: u64,
}

impl Calls {
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// A call whose name never came cannot be made.
    pub fn all_are_named(&self) -> bool {
        self.calls.iter().all(|call| !call.name.is_empty())
    }

    /// Takes the pieces of one event.
    pub fn take(
        &mut self,
        pieces: Vec<CallDelta<'_>>,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        self.lists += 1;
        for piece in pieces {
            self.take_piece(piece, events);
            if self.calls.len() > MAX_CALLS || self.bytes > MAX_ARGUMENT_BYTES {
                return Err(ModelError::Garbage("more tool calls than one answer may have".to_owned()));
            }
        }
        Ok(())
    }

    fn take_piece(&mut self, piece: CallDelta<'_>, events: &mut VecDeque<ModelEvent>) {
        let function = piece.function.unwrap_or_default();
        let name = function.name.0;
        let place = self.find(piece.index, &piece.id.0, &name).unwrap_or_else(|| {
            self.calls.push(Call {
                their_index: piece.index,
                id: String::new(),
                name: String::new(),
                arguments: String::new(),
                extra: None,
                last_list: 0,
            });
            self.calls.len() - 1
        });
        let call = &mut self.calls[place];
        call.last_list = self.lists;
        if call.id.is_empty() {
            call.id = piece.id.0.into_owned();
        }
        let index = u32::try_from(place).unwrap_or(u32::MAX);
        let arguments = function.arguments.0;
        self.bytes += arguments.len();
        call.arguments.push_str(&arguments);
        if let Some(extra) = piece.extra_content {
            call.extra = Some(*extra);
        }
        if !call.name.is_empty() {
            if !arguments.is_empty() {
                events.push_back(ModelEvent::ToolDelta { index, delta: arguments.into_owned() });
            }
        } else if !name.is_empty() {
            call.name = name.into_owned();
            let id = (!call.id.is_empty()).then(|| call.id.clone());
            events.push_back(ModelEvent::ToolStarted { index, id, name: call.name.clone() });
            if !call.arguments.is_empty() {
                events.push_back(ModelEvent::ToolDelta { index, delta: call.arguments.clone() });
            }
        }
        if !call.name.is_empty()
            && let Some(extra) = call.extra.take()
        {
            let provider = ProviderMetadata::one(EXTRA_PROVIDER, EXTRA_FIELD, extra);
            events.push_back(ModelEvent::ToolSigned { index, provider });
        }
    }

    /// The place of the call that the piece continues, or `None` when it begins one.
    fn find(&self, index: Option<u32>, id: &str, name: &str) -> Option<usize> {
        let same_id = |call: &Call| !id.is_empty() && call.id == id;
        let place = match index {
            Some(index) => self.calls.iter().rposition(|call| call.their_index == Some(index))?,
            None => match self.calls.iter().rposition(same_id) {
                Some(place) => place,
                None => self.calls.len().checked_sub(1)?,
            },
        };
        let call = &self.calls[place];
        // Without a name nothing can begin; with the id that is already there nothing does.
        if name.is_empty() || same_id(call) {
            return Some(place);
        }
        let other_id = !id.is_empty() && !call.id.is_empty();
        let begins = other_id
            || (!call.name.is_empty()
                && (call.name != name || call.last_list == self.lists || is_complete(&call.arguments)));
        (!begins).then_some(place)
    }
}

fn is_complete(arguments: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}
