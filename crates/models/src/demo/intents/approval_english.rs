//! Recognises "ask me before you …" in many forms and finds its subject.
//!
//! Two things are required: asking *me*, and an action that waits for it. "Ask me a question" lacks the second, "he should
//! ask me first" is about another person.

use super::super::{
    politeness,
    terms::{covered, ends_any, find_any, has_any, starts_any, trim_end, trim_start},
    utterance::Unit,
};

const ASK: &str = "
    ask me, asking me, asked me, ask for my, check with me, checking with me, check in with me,
    confirm with me, confirming with me, double check with me, verify with me, consult me,
    consulting me, consult with me, clear it with me, clear this with me, run it by me,
    run that by me, run this by me, ask first, ask permission, ask for permission, ask for approval,
    ask for confirmation, get permission, get approval, get confirmation, seek approval,
    request approval, request permission, seek permission, check first, let me approve,
    let me confirm, let me decide, let me sign off, let me check, let me review, i approve,
    i confirm, i agree, i say yes, i say so, i say ok, i have approved, i have confirmed,
    i have agreed, i want to approve, i need to approve, i must approve, i have to approve,
    i should approve, i give you, i would like to approve, i want to confirm, i want to be asked,
    i would like to be asked, i want a say, approved by me, confirmed by me, ask me for approval,
    ask me for permission, ask me for confirmation, i want to sign off, i ok it, i ok, i allow it,
    i permit it, wait for me to approve, wait for me to confirm, wait for my, i sign off,
    i need to sign off, ask me about it, ask me for my, get back to me, asking,
    asking first, checking, checking first, ask, have me confirm, have me approve,
    i need to be asked, talk to me";
const OWN: &str = "
    approval, permission, consent, ok, confirmation, go ahead, sign off, blessing, agreement,
    authorization, say so, green light, yes, explicit approval, explicit permission,
    explicit consent, prior approval, approval first, final approval, word, explicit ok";
const OWN_VERBS: &str = "
    get, getting, obtain, obtaining, request, requesting, seek, seeking, have, having, need, needs,
    require, wait for, await, ask for, asking for, ask me for, you get, you have, you need, i give,
    ask, i have given, with, receive, receiving";
const BEFORE: &str = "
    before, prior to, before you, before you go and, before you start, before ever, before actually,
    before you ever, before you actually, before you try to, first before, first before you,
    each time before you, every time before you, always before you, whenever you want to,
    any time you want to, every time you want to, each time you want to, if you want to,
    when you want to, whenever you are about to, when you are about to, if you are about to,
    if you need to, before you decide to, before you begin, before you go ahead and, before you may,
    before you can";
const NOT: &str = "
    do not, never, you must not, you should not, you can not, you may not, please do not,
    do not ever, you are not allowed to, must not, should not, can not, may not, do not you dare,
    under no circumstances, hold off, hold off on, wait with, wait, refrain from, avoid, no,
    nothing, i do not want you to, stop, you are not to, not, i would rather you did not";
const FIRST: &str = "
    first, beforehand, before, before that, before you do, before doing so, before doing it,
    before you do it, before you do that, in advance, before proceeding, before continuing,
    before you proceed";
const LEAD: &str = "
    please, you, should, must, always, to, remember, be sure, make sure, that, i, want, need, would,
    like, have, just, can, could, will, kindly, first, then, and, hey, hi, hello, ok, do,
    do not forget, is, it, important, from now on, of course, so, really, if possible, in future,
    in the future, you to, would you, could you, can you, will you, but, however, though,
    be careful, concertino, at least, absolutely, explicitly, also, now, for, everything, listen,
    note, mind, would you mind, i would prefer, i prefer, it if, if you, with this, love,
    appreciate, only, well, ensure, go ahead, promise, the rule is, rule";
const OTHERS: &str = "
    he, she, they, i, we, it, my, his, her, their, our, the, this, that, people, who, why, what,
    when, did, does, how, someone, somebody, everyone, nobody, students, where, a, an, was, were,
    is, are, tell, write, translate";

/// What is to be approved, possibly empty; `None` if it is another request.
pub(super) fn about(units: &[Unit]) -> Option<&[Unit]> {
    let units = trim_end(units, "please, thanks, thank you, ok, right");
    without(units)
        .or_else(|| not_until(units))
        .or_else(|| before_first(units))
        .or_else(|| ask_before(units))
        .or_else(|| approve_it_before(units))
        .or_else(|| ask_then(units))
        .or_else(|| permission_to(units))
        .or_else(|| but_ask_first(units))
}

/// The number of units at the start that mean "ask me".
fn ask(units: &[Unit]) -> Option<usize> {
    let own = || {
        let verb = starts_any(units, OWN_VERBS).unwrap_or(0);
        let mine = starts_any(&units[verb..], "my")?;
        Some(verb + mine + starts_any(&units[verb + mine..], OWN)?)
    };
    own().max(starts_any(units, ASK))
}

/// The first index of "ask me", and its number of units.
fn find_ask(units: &[Unit]) -> Option<(usize, usize)> {
    (0..units.len()).find_map(|at| Some((at, ask(&units[at..])?)))
}

/// "ask me before you X"
fn ask_before(units: &[Unit]) -> Option<&[Unit]> {
    let (at, length) = find_ask(units)?;
    let bare = has_any(&units[at..at + length], "^ ask $, ^ asking $, ^ checking $");
    let rest = trim_start(
        &units[at + length..],
        "
        first, explicitly, always, for approval, for permission, for confirmation, for my approval,
        for my permission, for my ok, every time, each time, about it, again, it, everything, anything,
        ok",
    );
    let taken = starts_any(rest, BEFORE)?;
    let thing = trim_start(&rest[taken..], "you, go and, ever, actually, start, go ahead and");
    let yours = has_any(&rest[..taken], "you");
    let doing = thing.first().is_some_and(|unit| {
        unit.norm.ends_with("ing") || ["any", "anything", "each", "every"].contains(&unit.norm.as_str())
    });
    let lead = covered(&units[..at], &[LEAD]);
    let named_me = !bare || yours;
    (lead && named_me && (yours || doing || thing.is_empty())).then_some(thing)
}

/// "let me approve the mail before you send it"
fn approve_it_before(units: &[Unit]) -> Option<&[Unit]> {
    let (at, length) = find_ask(units)?;
    let mine =
        starts_any(&units[at..], "let me, i want to, i need to, i would like to, i must, have me").is_some();
    let rest = &units[at + length..];
    let (before, _) = find_any(rest, "before you, before it is, before they are, before anything")?;
    (mine && before <= 5 && covered(&units[..at], &[LEAD])).then_some(rest)
}

/// "first ask me, then X"
fn ask_then(units: &[Unit]) -> Option<&[Unit]> {
    let (at, length) = find_ask(units)?;
    let rest = trim_start(&units[at + length..], "first, for approval, for permission");
    let taken = starts_any(rest, "then, and then, and only then, only then")?;
    let direct = !has_any(&units[at..at + length], "^ ask $, ^ asking $, ^ checking $");
    (direct && rest.len() > taken && covered(&units[..at], &[LEAD])).then(|| &rest[taken..])
}

/// "before you X, ask me"
fn before_first(units: &[Unit]) -> Option<&[Unit]> {
    let units = trim_start(units, "please, hey, hi, hello, always, and, ok, so, from now on");
    let taken = starts_any(units, BEFORE)?;
    let rest = &units[taken..];
    let (at, length) = find_ask(rest)?;
    let yours =
        has_any(&units[..taken], "you") || rest.first().is_some_and(|unit| unit.norm.ends_with("ing"));
    let thing = trim_end(trim_start(&rest[..at], "you"), LEAD);
    let tail = covered(
        &rest[at + length..],
        &[
            LEAD,
            FIRST,
            "
        for, approval, permission, confirmation, my, ok, me, about it, it, if it is ok,
        whether it is ok, with me",
        ],
    );
    let short = has_any(&rest[at..at + length], "^ asking $, ^ checking $");
    (yours && tail && !short && !thing.is_empty()).then_some(thing)
}

/// "never X without asking me"
fn without(units: &[Unit]) -> Option<&[Unit]> {
    let (at, length) = find_any(units, "without, without first, unless with")?;
    let after = &units[at + length..];
    let taken = ask(after)?;
    let not = find_any(units, NOT);
    match not {
        Some((place, length)) if place < at => {
            let thing = trim_end(&units[place + length..at], "is to be, should be");
            (covered(&units[..place], &[LEAD])).then_some(thing)
        }
        Some((place, length)) if at == 0 && place >= taken => Some(&units[place + length..]),
        _ => None,
    }
}

/// "do not X until I approve", "only X after I approve"
fn not_until(units: &[Unit]) -> Option<&[Unit]> {
    let (at, length) = (0..units.len()).find_map(|at| {
        let connect = starts_any(
            &units[at..],
            "
        until, unless, till, before, only after, only when, only if, only once, after, once, when, if, only with",
        )?;
        let gap = units[at + connect..].len()
            - trim_start(
                &units[at + connect..],
                "after, you, have, it is, it has been, you have, first",
            )
            .len();
        let taken = ask(&units[at + connect..]).or_else(|| ask(&units[at + connect + gap..]))?;
        Some((at, connect + taken))
    })?;
    let strong = has_any(&units[at..at + length], "until, unless, till, before, only");
    let before = trim_start(&units[..at], "please, you, can, may, should, must, hey, and, ok, so");
    if let Some(taken) = starts_any(before, NOT) {
        // "wait until I approve before you X": the action is at the end.
        let behind = &units[at + length..];
        let thing = if before.len() > taken {
            &before[taken..]
        } else {
            &behind[starts_any(behind, BEFORE).unwrap_or(0)..]
        };
        return strong.then_some(thing);
    }
    let thing = trim_end(trim_start(before, "only"), "only");
    let others = starts_any(thing, OTHERS).is_some();
    (has_any(units, "only") && !others).then_some(thing)
}

/// "ask my permission to X", "ask me if you may X"
fn permission_to(units: &[Unit]) -> Option<&[Unit]> {
    let (at, length) = find_ask(units)?;
    if !covered(&units[..at], &[LEAD]) {
        return None;
    }
    let formal = has_any(
        &units[at..at + length],
        "permission, approval, consent, ok, confirmation, authorization, go ahead, sign off",
    );
    let rest = &units[at + length..];
    let polite = trim_start(
        rest,
        "
        for permission, for approval, for my permission, for my approval, for my ok, permission, first",
    );
    let formal =
        formal || polite.len() < rest.len() && !has_any(&rest[..rest.len() - polite.len()], "^ first $");
    let asked = starts_any(
        polite,
        "
        if you may, if you can, if you should, whether you may, whether you can, whether you should,
        whether to, if it is ok to, whether it is ok to, if i am ok with, if you could,
        if i want you to, whenever you, every time you",
    );
    let taken = asked.or_else(|| if formal { starts_any(polite, "to, for") } else { None })?;
    (polite.len() > taken).then(|| &polite[taken..])
}

/// "X, but ask me first"
fn but_ask_first(units: &[Unit]) -> Option<&[Unit]> {
    let (at, length) = find_ask(units)?;
    let words = &units[at..];
    let rest = trim_start(
        &words[length..],
        "if it is ok, for approval, for permission, for my approval, about it, it",
    );
    let said_first = !rest.is_empty() && covered(rest, &[FIRST, "please, ok, every time, always"]);
    let first_before = ends_any(&units[..at], "first").is_some() && rest.is_empty();
    let contained = rest.is_empty() && has_any(&words[..length], "first");
    let lead = trim_start(
        trim_start(&units[..at], politeness::ENGLISH_LEAD),
        "if you want to, when you want to, if you need to, if you, before you, always",
    );
    let thing = trim_end(lead, LEAD);
    let others = starts_any(thing, OTHERS).is_some() || has_any(thing, "he, she, they");
    let orders = !has_any(&words[..length], "asked me");
    ((said_first || first_before || contained) && !others && orders).then_some(thing)
}
