//! Random trees against a simple reference: the same messages, in the same order, with the same results.
//!
//! A tree is a plan. The cast plays it, the server runs it, and [`Plan::expect`] says in a few lines what must come out.
//! `AGENT_TREES` sets how many; the everyday run takes a few.

use std::collections::BTreeMap;

use engine::agents::AgentDefinition;
use serde_json::json;
use testkit::{
    Gate, Reply, TestApp, calls, fails, join_all,
    models::ModelError,
    protocol::{AgentKind, ToolPart, ToolState, UiMessage},
    says, waits,
};

use super::cast::{Cast, define_with, here, sub};

/// A small generator: the same seed gives the same trees.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Speaks,
    /// Its model breaks off.
    Errs,
    /// Asks a person, who says yes.
    Asks,
    /// Has one step only.
    Limited,
    /// Is stopped by a person.
    Stopped,
}

#[derive(Debug)]
struct Plan {
    task: String,
    fate: Fate,
    background: bool,
    below: Vec<Plan>,
}

impl Plan {
    fn grow(dice: &mut Dice, task: String, depth: usize) -> Self {
        let fate = match (depth, dice.roll(10)) {
            (0, _) | (_, 0..=3) => Fate::Speaks,
            (_, 4..=5) => Fate::Errs,
            (_, 6..=7) => Fate::Asks,
            (_, 8) => Fate::Limited,
            _ => Fate::Stopped,
        };
        let most = if depth == 0 { 4 } else { 3 };
        let count =
            if depth == 3 || fate == Fate::Stopped { 0 } else { dice.roll(most) + u64::from(depth == 0) };
        let mut below: Vec<Self> =
            (0..count).map(|place| Self::grow(dice, format!("{task}.{place}"), depth + 1)).collect();
        if fate == Fate::Errs {
            // It takes those it left in the background with it, at a moment nobody knows.
            below.iter_mut().for_each(|below| below.background = false);
        }
        Self { task, fate, background: depth > 0 && dice.roll(4) == 0, below }
    }

    fn visit<'a>(&'a self, see: &mut dyn FnMut(&'a Self)) {
        see(self);
        self.below.iter().for_each(|below| below.visit(see));
    }

    fn depth(&self) -> usize {
        self.task.matches('.').count()
    }

    /// The agent that plays this task.
    fn agent(&self) -> String {
        let limited = if self.fate == Fate::Limited { "l" } else { "a" };
        format!("{limited}{}", self.depth())
    }

    fn call(&self, place: usize) -> Reply {
        let tool = if self.background { "spawn-agent" } else { "sub-agent" };
        calls(&format!("c{place}"), tool, json!({ "name": self.agent(), "task": self.task }))
    }

    fn has_background(&self) -> bool {
        self.below.iter().any(|below| below.background)
    }

    fn cast(&self, mut cast: Cast, gates: &mut BTreeMap<String, Gate>) -> Cast {
        let mut first = Reply::default();
        for (place, below) in self.below.iter().enumerate() {
            first = first.then(below.call(place));
        }
        if self.fate == Fate::Asks {
            first = first.then(calls("ask", "conf_approve", json!({ "text": self.task })));
        } else if self.below.is_empty() {
            first = first.then(calls("echo", "conf_echo", json!({ "text": self.task })));
        }
        let last = match self.fate {
            Fate::Errs => fails(ModelError::Cut),
            Fate::Stopped => waits(gates.entry(self.task.clone()).or_default()),
            _ => says(&format!("{} said", self.task)),
        };
        cast = cast.with(&self.task, [first, last, says(" and heard")]);
        self.below.iter().fold(cast, |cast, below| below.cast(cast, gates))
    }

    /// The reference: what this agent's message says in the end.
    fn expect(&self) -> (&'static str, String) {
        match self.fate {
            Fate::Errs => ("failed", String::new()),
            Fate::Stopped => ("cancelled", String::new()),
            _ if self.has_background() => ("finished", format!("{} said and heard", self.task)),
            _ => ("finished", format!("{} said", self.task)),
        }
    }

    fn check(&self, message: &UiMessage) {
        let (status, text) = self.expect();
        let metadata = message.metadata.as_ref().unwrap();
        assert_eq!(
            (metadata["status"].as_str(), message.text()),
            (Some(status), text),
            "{}: {message:#?}",
            self.task
        );
        assert_eq!(metadata["agent"]["depth"], json!(self.depth()));
        if self.fate == Fate::Limited {
            assert_eq!(metadata["limit"], "steps");
        }
        let own = |part: &&ToolPart| {
            metadata.get("raisedCalls").and_then(|raised| raised.get(part.call.as_str())).is_none()
        };
        let calls: Vec<&ToolPart> = message.tool_parts().filter(own).collect();
        let names: Vec<String> = calls.iter().map(|part| part.call.to_string()).collect();
        let mut expected: Vec<String> = (0..self.below.len()).map(|place| format!("c{place}")).collect();
        if self.fate == Fate::Asks {
            expected.push("ask".to_owned());
        } else if self.below.is_empty() {
            expected.push("echo".to_owned());
        }
        assert_eq!(names, expected, "{}", self.task);
        for (below, part) in self.below.iter().zip(&calls) {
            below.check_part(&part.state);
        }
    }

    fn check_part(&self, state: &ToolState) {
        match (state, self.expect().0, self.background) {
            (ToolState::OutputAvailable { output, preliminary: false, .. }, "finished", _)
            | (ToolState::OutputAvailable { output, preliminary: false, .. }, _, true) => {
                self.check(&serde_json::from_value(output.clone()).unwrap());
            }
            (ToolState::OutputError { error_text, .. }, "failed", false) => {
                assert!(error_text.starts_with("unavailable (model_unavailable)"), "{error_text}");
            }
            (ToolState::OutputError { error_text, .. }, "cancelled", false) => {
                assert!(error_text.starts_with("cancelled: "), "{error_text}");
            }
            (state, wanted, _) => panic!("{} should be {wanted}: {state:?}", self.task),
        }
    }
}

fn agents(app: &TestApp) {
    let mut main = AgentDefinition::bare(AgentKind::Main, "general", "main");
    main.tools = vec!["*".to_owned()];
    main.groups = vec!["agent".to_owned()];
    main.allowed_sub_agents = vec!["a1".to_owned(), "l1".to_owned()];
    main.workspace = Some(here());
    let mut subs = Vec::new();
    for depth in 1..=3 {
        let next = [format!("a{}", depth + 1), format!("l{}", depth + 1)];
        let next: Vec<&str> = if depth < 3 { next.iter().map(String::as_str).collect() } else { Vec::new() };
        let mut agent = sub(&format!("a{depth}"), &next);
        agent.groups = vec!["agent".to_owned()];
        subs.push(AgentDefinition { name: format!("l{depth}"), max_steps: 1, ..agent.clone() });
        subs.push(agent);
    }
    define_with(app, main, subs);
}

async fn play(plan: &Plan) -> UiMessage {
    let mut gates = BTreeMap::new();
    let app = plan.cast(Cast::new(), &mut gates).start().await;
    agents(&app);
    let mut turn = app.send(&plan.task).await;
    let stops = gates.iter().map(|(task, gate)| {
        let app = &app;
        async move {
            gate.reached().await;
            let frames = app.frames("chat").await;
            let frame = frames.iter().find(|frame| frame.task == *task).unwrap();
            assert_eq!(app.chat(frame.chat.as_str()).stop().await.status, 200);
        }
    });
    join_all(stops).await;
    turn.end().await;
    loop {
        while let Some(mut next) = app.chat("chat").resume().await {
            next.end().await;
        }
        let message = app.main.history().await.pop().unwrap();
        let asked = message.tool_parts().filter_map(|part| match &part.state {
            ToolState::ApprovalRequested { approval, .. } => Some(approval.to_string()),
            _ => None,
        });
        let asked: Vec<String> = asked.collect();
        if asked.is_empty() {
            return message;
        }
        for approval in asked {
            let path = format!("/api/approvals/{approval}");
            let answer = app.caller.post_json(&path, &json!({ "approved": true })).await;
            assert_eq!(answer.status, 200, "{answer:?}");
        }
    }
}

#[tokio::test]
async fn random_trees_come_out_as_a_simple_reference_says() {
    let count: u64 = std::env::var("AGENT_TREES").ok().and_then(|count| count.parse().ok()).unwrap_or(16);
    let mut mix: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 1..=count {
        let plan = Plan::grow(&mut Dice(seed.wrapping_mul(7919)), "go".to_owned(), 0);
        let mut kinds: BTreeMap<String, bool> = BTreeMap::new();
        plan.visit(&mut |plan| {
            kinds.insert(format!("{:?}", plan.fate), true);
            if plan.background {
                kinds.insert("Background".to_owned(), true);
            }
        });
        kinds.into_keys().for_each(|kind| *mix.entry(kind).or_default() += 1);
        let played = tokio::time::timeout(std::time::Duration::from_secs(60), play(&plan)).await;
        let Ok(message) = played else { panic!("tree {seed} never ended: {plan:#?}") };
        plan.check(&message);
    }
    println!("{count} trees, of which: {mix:?}");
    if count >= 100 {
        assert!(
            ["Asks", "Errs", "Stopped", "Limited", "Background"].iter().all(|kind| mix[*kind] * 10 >= count),
            "{mix:?}"
        );
    }
}
