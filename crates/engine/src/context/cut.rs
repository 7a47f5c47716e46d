//! Where to cut when a window fills: what is summarised, what stays word for word, and what of it must be shortened.
//! Pure; never between a call and its result.

use models::ModelMessage;

use super::{
    compaction::Cut,
    conversation::{Conversation, Mark},
};
use crate::token_estimate;

/// How full a window may be before it is compacted, how full before something must be done at all, and what of it the
/// newest messages may take afterwards: percent.
const FULL: u64 = 80;
const BRIM: u64 = 95;
const KEPT: u64 = 25;
/// The longest summary, in tokens, and what of the window it may take.
const SUMMARY: u64 = 4_000;
const SUMMARY_SHARE: u64 = 8;
/// To how many characters results of tools are cut when even the newest do not fit.
const CLIPS: [usize; 6] = [16_000, 8_000, 4_000, 2_000, 1_000, 400];

/// A window and what is in it before any message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) window: u64,
    /// System prompt and tools.
    pub(crate) fixed: u64,
}

impl Room {
    pub(crate) fn full(&self) -> u64 {
        self.window * FULL / 100
    }

    pub(crate) fn brim(&self) -> u64 {
        self.window * BRIM / 100
    }

    fn kept(&self) -> u64 {
        self.window * KEPT / 100
    }

    /// How long a summary may be, in tokens.
    pub(crate) fn summary(&self) -> u64 {
        (self.window / SUMMARY_SHARE).clamp(100, SUMMARY)
    }
}

/// How much of the window the next call would take. Counted where a provider has counted, estimated behind that.
pub(crate) fn expected(conversation: &Conversation, fixed: u64) -> u64 {
    let of = |from: usize| {
        conversation.messages()[from..].iter().map(|message| token_estimate::of_message(message)).sum::<u64>()
    };
    match conversation.measured() {
        Some(measured) => measured.tokens + of(measured.up_to),
        None => fixed + of(0),
    }
}

/// What a compaction will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) keep: Option<Cut>,
    /// How many model messages the summary stands in for.
    pub(crate) replaced: usize,
    pub(crate) clip: Option<usize>,
    pub(crate) tokens_before: u64,
    pub(crate) tokens_after: u64,
}

/// How much is to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// As much as is good for the conversation.
    Much,
    /// The newest turn; a person asked for it.
    Little,
}

/// The best cut, or nothing when none would help.
pub(crate) fn plan(conversation: &Conversation, room: &Room, keep: Keep) -> Option<Plan> {
    let sizes = sizes(conversation, room);
    let behind: Vec<u64> = sizes
        .iter()
        .rev()
        .scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        })
        .collect();
    let behind = |at: usize| {
        behind.len().checked_sub(at + 1).and_then(|place| behind.get(place)).copied().unwrap_or(0)
    };
    // Work that is kept without the request it answers gets the request again.
    let pinned = |mark: &Mark| {
        let asked = conversation.marks().iter().rfind(|other| other.is_user && other.at < mark.at);
        if mark.is_user { 0 } else { asked.and_then(|asked| sizes.get(asked.at)).copied().unwrap_or(0) }
    };
    let stays = |mark: &Mark| behind(mark.at) + pinned(mark);
    let fits = |mark: &&Mark| stays(mark) <= room.kept();
    let user = || conversation.marks().iter().filter(|mark| mark.is_user && mark.at > 0);
    // The first message of all is the request itself.
    let step = || conversation.marks().iter().filter(|mark| !mark.is_user && mark.at > 1);
    let mark = match keep {
        Keep::Much => user().find(fits),
        Keep::Little => user().next_back().filter(fits),
    };
    let last = || user().chain(step()).max_by_key(|mark| mark.at);
    let mark = mark.or_else(|| step().find(fits)).or_else(last);

    let tokens_before = expected(conversation, room.fixed);
    let (from, pinned) = mark.map_or((0, 0), |mark| (mark.at, pinned(mark)));
    let summary = if mark.is_some() { room.summary() } else { 0 };
    let with = |tail: u64| room.fixed + summary + pinned + tail;
    let clipped = |limit: usize| {
        conversation.messages()[from..]
            .iter()
            .zip(&sizes[from..])
            .map(|(message, size)| clipped(message, *size, limit))
            .sum::<u64>()
    };
    let whole = with(behind(from));
    let clip = if whole > room.full() {
        let fits = CLIPS.into_iter().find(|limit| with(clipped(*limit)) <= room.full());
        fits.or(CLIPS.last().copied()).filter(|limit| with(clipped(*limit)) < whole)
    } else {
        None
    };
    let tokens_after = clip.map_or(whole, |limit| with(clipped(limit)));
    // A tenth at least: else it would be done again and again for nothing.
    let helps = keep == Keep::Little || tokens_after <= tokens_before - tokens_before / 10;
    let plan = Plan {
        keep: mark.map(|mark| Cut { message_id: mark.message.clone(), step: mark.step }),
        replaced: from,
        clip,
        tokens_before,
        tokens_after,
    };
    (helps && (plan.keep.is_some() || plan.clip.is_some())).then_some(plan)
}

/// What each message takes: the estimate, brought in line with what the provider counted for all of them together.
fn sizes(conversation: &Conversation, room: &Room) -> Vec<u64> {
    let mut sizes: Vec<u64> =
        conversation.messages().iter().map(|message| token_estimate::of_message(message)).collect();
    if let Some(measured) = conversation.measured() {
        let estimated = room.fixed + sizes.iter().take(measured.up_to).sum::<u64>();
        let percent = (measured.tokens.saturating_mul(100) / estimated.max(1)).clamp(50, 300);
        sizes.iter_mut().for_each(|size| *size = *size * percent / 100);
    }
    sizes
}

fn clipped(message: &ModelMessage, size: u64, limit: usize) -> u64 {
    match message {
        ModelMessage::Tool { text, .. } if text.len() > limit => {
            let length = text.chars().count().max(1);
            if length <= limit { size } else { size * limit as u64 / length as u64 + 16 }
        }
        _ => size,
    }
}

#[cfg(test)]
mod tests {
    use protocol::UiMessage;
    use serde_json::{Value, json};

    use super::*;

    fn push(conversation: &mut Conversation, message: Value) {
        let message: UiMessage = serde_json::from_value(message).unwrap();
        conversation.push(&message, None);
    }

    fn asks(conversation: &mut Conversation, id: &str, length: usize) {
        push(
            conversation,
            json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": "x".repeat(length) }] }),
        );
    }

    fn steps(conversation: &mut Conversation, id: &str, results: &[usize], metadata: Value) {
        let mut parts = Vec::new();
        for (number, length) in results.iter().enumerate() {
            parts.push(json!({ "type": "step-start" }));
            parts.push(
                json!({ "type": "tool-t", "toolCallId": format!("{id}-{number}"), "state": "output-available",
                               "input": {}, "output": "y".repeat(*length) }),
            );
        }
        push(conversation, json!({ "id": id, "role": "assistant", "metadata": metadata, "parts": parts }));
    }

    fn room(window: u64) -> Room {
        Room { window, fixed: 100 }
    }

    fn cut(plan: &Plan) -> (&str, u32) {
        plan.keep.as_ref().map(|cut| (cut.message_id.as_str(), cut.step)).unwrap()
    }

    #[test]
    fn whole_turns_are_kept_while_they_fit() {
        let mut conversation = Conversation::default();
        for turn in 0..10 {
            asks(&mut conversation, &format!("u{turn}"), 100);
            steps(&mut conversation, &format!("a{turn}"), &[1_000], json!({}));
        }
        // About 340 tokens a turn; a quarter of the window holds two.
        let plan = plan(&conversation, &room(3_000), Keep::Much).unwrap();
        assert_eq!(cut(&plan), ("u8", 0));
        assert_eq!((plan.clip, plan.replaced), (None, 8 * 3));
        assert!(plan.tokens_after < plan.tokens_before);
        assert_eq!(cut(&super::plan(&conversation, &room(100_000), Keep::Little).unwrap()), ("u9", 0));
    }

    #[test]
    fn a_long_turn_is_cut_between_its_steps() {
        let mut conversation = Conversation::default();
        asks(&mut conversation, "u", 100);
        steps(&mut conversation, "a", &[1_000; 20], json!({}));
        let plan = plan(&conversation, &room(4_000), Keep::Much).unwrap();
        let (message, step) = cut(&plan);
        assert_eq!(message, "a");
        assert!((15..=20).contains(&step), "{step}");
        assert_eq!(plan.clip, None);
    }

    #[test]
    fn the_newest_results_are_shortened_when_they_alone_do_not_fit() {
        let mut conversation = Conversation::default();
        asks(&mut conversation, "u", 100);
        steps(&mut conversation, "a", &[1_000, 40_000], json!({}));
        let plan = plan(&conversation, &room(4_000), Keep::Much).unwrap();
        assert_eq!(cut(&plan), ("a", 2));
        assert_eq!(plan.clip, Some(8_000));
        assert!(plan.tokens_after <= 3_200, "{plan:?}");
    }

    #[test]
    fn nothing_is_done_where_nothing_would_help() {
        let mut conversation = Conversation::default();
        asks(&mut conversation, "u", 100_000);
        assert_eq!(plan(&conversation, &room(4_000), Keep::Much), None);
        assert_eq!(plan(&Conversation::default(), &room(4_000), Keep::Little), None);
        let mut conversation = Conversation::default();
        asks(&mut conversation, "u", 50);
        steps(&mut conversation, "a", &[10, 10], json!({}));
        asks(&mut conversation, "v", 50);
        // Nearly all of the window is system prompt and tools.
        assert_eq!(plan(&conversation, &Room { window: 4_000, fixed: 3_900 }, Keep::Much), None);
    }

    #[test]
    fn what_a_provider_counted_wins_over_the_estimate() {
        let mut conversation = Conversation::default();
        asks(&mut conversation, "u", 1_000);
        steps(&mut conversation, "a", &[], json!({ "contextTokens": 50_000 }));
        assert_eq!(expected(&conversation, 100), 50_000);
        asks(&mut conversation, "v", 1_000);
        assert!((50_250..50_350).contains(&expected(&conversation, 100)), "{}", expected(&conversation, 100));
    }
}
