//! Assembles tool calls from their deltas. Servers identify the calls of an answer in different ways:
//!
//! - by `index`, with the id and the name only in the first delta (OpenAI); or with the id repeated in every delta; or
//!   with a new id in every delta, which then has no name;
//! - without `index`, one whole call per delta, or all calls in one list;
//! - every call under index 0, distinguished by the id or only by being complete.
//!
//! Our own indexes are consecutive, in the order in which the calls started.

use std::collections::VecDeque;

use protocol::ProviderMetadata;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::wire::CallDelta;
use crate::{
    model::{ModelError, ModelEvent},
    remote::bounds::{MAX_ARGUMENT_BYTES, MAX_CALLS},
};

/// The provider metadata that holds the `extra_content` of a call.
pub const EXTRA_PROVIDER: &str = "openai";
pub const EXTRA_FIELD: &str = "extra_content";

#[derive(Debug, Default)]
pub struct CallAssembler {
    calls: Vec<PartialCall>,
    /// The number of delta lists so far, to know for which calls the current list already had a delta.
    lists: u64,
    /// The argument text of all calls.
    bytes: usize,
}

#[derive(Debug)]
struct PartialCall {
    their_index: Option<u32>,
    id: String,
    /// Empty until the name arrives; only then is the call passed on.
    name: String,
    arguments: String,
    /// Kept until the call is passed on.
    extra: Option<Value>,
    last_list: u64,
}

impl CallAssembler {
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether the name of every call has arrived.
    pub fn all_are_named(&self) -> bool {
        self.calls.iter().all(|call| !call.name.is_empty())
    }

    /// Adds the deltas of one event.
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
            self.calls.push(PartialCall {
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

    /// The index of the call that the delta continues, or `None` if it starts one.
    fn find(&self, index: Option<u32>, id: &str, name: &str) -> Option<usize> {
        let same_id = |call: &PartialCall| !id.is_empty() && call.id == id;
        let place = match index {
            Some(index) => self.calls.iter().rposition(|call| call.their_index == Some(index))?,
            None => match self.calls.iter().rposition(same_id) {
                Some(place) => place,
                None => self.calls.len().checked_sub(1)?,
            },
        };
        let call = &self.calls[place];
        // A delta without a name, or with the id of this call, continues it.
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
