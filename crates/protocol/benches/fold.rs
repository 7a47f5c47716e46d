//! What one delta costs on its way: projected, written as a frame, folded. Figures per thousand deltas.

use divan::{Bencher, black_box, counter::ItemsCount};
use protocol::{
    MessageFold, MessageId, SegmentKind, SessionEvent, project::chat::chunk_of, wire::chat::write_sse_event,
};

const DELTAS: usize = 1000;

fn main() {
    divan::main();
}

fn deltas() -> Vec<SessionEvent> {
    let message = MessageId::new("msg_01a1e16e17b070feaf029733caca8863");
    let (segment, kind) = (0, SegmentKind::Text);
    let opened = SessionEvent::SegmentOpened { message: message.clone(), segment, kind };
    let delta = |number: usize| SessionEvent::SegmentDelta {
        message: message.clone(),
        segment,
        kind,
        delta: format!("word {number} "),
    };
    std::iter::once(opened).chain((0..DELTAS).map(delta)).collect()
}

#[divan::bench]
fn serialise(bencher: Bencher<'_, '_>) {
    let events = deltas();
    bencher.counter(ItemsCount::new(DELTAS)).bench_local(|| {
        let mut out = Vec::with_capacity(DELTAS * 96);
        for (seq, event) in events.iter().enumerate() {
            if let Some(chunk) = chunk_of(event) {
                write_sse_event(&mut out, seq as u64, &chunk).ok();
            }
        }
        black_box(out)
    });
}

#[divan::bench]
fn fold(bencher: Bencher<'_, '_>) {
    let events = deltas();
    bencher.counter(ItemsCount::new(DELTAS)).bench_local(|| {
        let mut fold = MessageFold::new(MessageId::new("msg_01a1e16e17b070feaf029733caca8863"));
        for event in &events {
            fold.event(event).ok();
        }
        black_box(fold)
    });
}
