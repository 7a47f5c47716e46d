//! Finds the tool for a task by the words of its description and the schema of its input. The name of a tool is not read,
//! so renaming it changes nothing.

use protocol::ToolSpec;

use super::schema::{Object, Property, split_words};

/// The tool that returns the current time.
pub(super) fn clock(tools: &[ToolSpec]) -> Option<&ToolSpec> {
    best(tools, 4, |tool| {
        let words = DescriptionWords::of(tool);
        let zone = Object::of(tool).properties().iter().any(is_zone);
        let mut score = words.weigh(&[
            (2, &["time", "clock", "时间", "时刻", "几点"]),
            (2, &["current", "now", "present", "today", "当前", "现在", "目前"]),
            (1, &["date", "day", "weekday", "日期", "星期"]),
            (
                -3,
                &[
                    "timer", "remind", "reminder", "schedule", "calendar", "file", "log", "wait", "sleep",
                    "提醒", "日程",
                ],
            ),
        ]);
        score += if zone { 3 } else { 0 };
        score - 2 * unknown_required(tool, is_zone)
    })
}

/// The tool that shows a plan: its input is a list of entries with a status.
pub(super) fn planner(tools: &[ToolSpec]) -> Option<(&ToolSpec, PlanShape<'_>)> {
    let tool = best(tools, 2, |tool| {
        if PlanShape::of(tool).is_none() {
            return 0;
        }
        let words = [
            "plan",
            "plans",
            "step",
            "steps",
            "todo",
            "todos",
            "task",
            "tasks",
            "checklist",
            "计划",
            "步骤",
            "待办",
        ];
        let listed = Object::of(tool).properties().iter().any(|property| property.mentions(&words));
        DescriptionWords::of(tool).weigh(&[(2, &words), (1, &["progress", "status", "进度", "状态"])])
            + if listed { 2 } else { 0 }
            - unknown_required(tool, |property| property.schema["type"] == "array")
    })?;
    Some((tool, PlanShape::of(tool)?))
}

/// The tool that delegates a task: its input is one of several names and a task.
pub(super) fn delegator(tools: &[ToolSpec]) -> Option<&ToolSpec> {
    best(tools, 4, |tool| {
        if choices(tool).is_empty() || !Object::of(tool).properties().iter().any(is_task) {
            return 0;
        }
        DescriptionWords::of(tool).weigh(&[
            (2, &["agent", "agents", "sub", "delegate", "代理"]),
            (2, &["hand", "delegate", "wait", "report", "委派"]),
            (-3, &["background", "start", "后台"]),
        ])
    })
}

/// The agents that a delegating tool can call.
pub(super) fn choices(tool: &ToolSpec) -> Vec<&str> {
    let named = Object::of(tool).properties().into_iter().find(|property| !property.choices().is_empty());
    named.map(|property| property.choices()).unwrap_or_default()
}

/// Whether the tool's description says that this agent works in parts.
pub(super) fn works_in_parts(tool: &ToolSpec, name: &str) -> bool {
    let named = Object::of(tool).properties().into_iter().find(|property| !property.choices().is_empty());
    let text = named.and_then(|property| property.schema["description"].as_str()).unwrap_or_default();
    let line = text.lines().find(|line| line.trim_start_matches("- ").starts_with(&format!("{name}:")));
    line.is_some_and(|line| split_words(line).iter().any(|word| word == "parts"))
}

/// The agent of a delegating tool whose description says that it reads files: the one that speaks of documents before
/// others.
pub(super) fn reading_agent(tool: &ToolSpec) -> Option<&str> {
    let named = Object::of(tool).properties().into_iter().find(|property| !property.choices().is_empty())?;
    let text = named.schema["description"].as_str().unwrap_or_default();
    let weigh = |name: &str| {
        let line = text.lines().find(|line| line.trim_start_matches("- ").starts_with(&format!("{name}:")));
        let words = line.map(split_words).unwrap_or_default();
        let has = |any: &[&str]| words.iter().any(|word| any.contains(&word.as_str()));
        i32::from(has(&["reads", "read"])) * 2
            + i32::from(has(&["files", "folder", "folders", "documents"])) * 3
    };
    let best =
        named.choices().into_iter().map(|name| (weigh(name), name)).rev().max_by_key(|(weight, _)| *weight);
    best.filter(|(weight, _)| *weight >= 3).map(|(_, name)| name)
}

fn is_task(property: &Property<'_>) -> bool {
    property.is_text() && property.is_named(&["task", "任务"])
}

/// The tool that asks a person for approval before anything happens.
pub(super) fn approver(tools: &[ToolSpec]) -> Option<&ToolSpec> {
    best(tools, 4, |tool| {
        let score = DescriptionWords::of(tool).weigh(&[
            (4, &["approval", "approve", "approves", "approved", "批准", "审批", "同意"]),
            (3, &["permission", "consent", "confirm", "confirmation", "确认", "许可"]),
            (1, &["ask", "asks", "human", "person", "user", "before", "询问", "用户"]),
            (1, &["needs", "need", "waits", "wait", "always", "需要", "等待"]),
        ]);
        score - 3 * unknown_required(tool, is_note)
    })
}

/// The tool that asks a person a question: its input is a question and a list of options.
pub(super) fn asker(tools: &[ToolSpec]) -> Option<&ToolSpec> {
    best(tools, 3, |tool| {
        let properties = Object::of(tool).properties();
        let asks = properties.iter().any(|property| property.is_text() && property.name == "question");
        let offers = properties
            .iter()
            .any(|property| property.schema["type"] == "array" && property.name == "options");
        if !asks || !offers {
            return 0;
        }
        let words = DescriptionWords::of(tool).weigh(&[
            (2, &["ask", "asks", "question", "提问", "询问"]),
            (2, &["person", "user", "human", "用户"]),
            (1, &["answer", "answers", "choose", "回答"]),
        ]);
        words - 3 * unknown_required(tool, |property| matches!(property.name, "question" | "options"))
    })
}

pub(super) fn is_zone(property: &Property<'_>) -> bool {
    property.is_text()
        && (property.is_named(&["timezone", "zone", "tz"])
            || property.mentions(&["iana", "timezone", "时区"]))
}

/// Whether a property is a sentence for a person.
pub(super) fn is_note(property: &Property<'_>) -> bool {
    const NAMES: &[&str] = &[
        "note",
        "message",
        "text",
        "question",
        "reason",
        "summary",
        "detail",
        "details",
        "description",
        "prompt",
        "what",
    ];
    property.is_text() && !property.is_purpose() && property.is_named(NAMES)
}

/// The fields of a tool's input that hold a plan.
#[derive(Clone, Debug)]
pub(super) struct PlanShape<'s> {
    pub(super) list: &'s str,
    pub(super) text: &'s str,
    pub(super) status: &'s str,
    pub(super) waiting: &'s str,
    pub(super) doing: &'s str,
    pub(super) done: &'s str,
}

impl<'s> PlanShape<'s> {
    fn of(tool: &'s ToolSpec) -> Option<Self> {
        let input = Object::of(tool);
        input.properties().iter().find_map(|list| {
            let items = input.items_of(list)?.properties();
            let text = items.iter().filter(|property| property.is_text()).max_by_key(|property| {
                let named =
                    property.is_named(&["step", "title", "content", "text", "task", "name", "description"]);
                (named, property.required)
            })?;
            let status = items
                .iter()
                .rev()
                .filter(|property| property.choices().len() >= 2)
                .max_by_key(|property| property.is_named(&["status", "state", "progress"]))?;
            let choices = status.choices();
            let like = |stems: &[&str]| {
                choices
                    .iter()
                    .copied()
                    .find(|choice| stems.iter().any(|stem| choice.to_lowercase().contains(stem)))
            };
            let waiting = like(&["pend", "todo", "not", "open", "wait", "queue", "new"])
                .or(choices.first().copied())?;
            let done = like(&["complet", "done", "finish", "closed"]).or(choices.last().copied())?;
            let between = choices.iter().copied().find(|choice| *choice != waiting && *choice != done);
            let doing = like(&["progress", "doing", "active", "current", "running", "start"])
                .or(between)
                .unwrap_or(waiting);
            let (text, status) = (text.name, status.name);
            Some(Self { list: list.name, text, status, waiting, doing, done })
        })
    }
}

/// The number of required properties without a known value: calling such a tool would be guessing.
pub(super) fn unknown_required(tool: &ToolSpec, known: impl Fn(&Property<'_>) -> bool) -> i32 {
    let properties = Object::of(tool).properties();
    let strange =
        properties.iter().filter(|property| property.required && !property.is_purpose() && !known(property));
    i32::try_from(strange.count()).unwrap_or(i32::MAX / 4)
}

/// The tool with the highest score, the first of equal ones; none below `least`.
pub(super) fn best(tools: &[ToolSpec], least: i32, score: impl Fn(&ToolSpec) -> i32) -> Option<&ToolSpec> {
    let scored = tools.iter().rev().map(|tool| (score(tool), tool));
    scored.filter(|(score, _)| *score >= least).max_by_key(|(score, _)| *score).map(|(_, tool)| tool)
}

pub(super) struct DescriptionWords {
    words: Vec<String>,
    text: String,
}

impl DescriptionWords {
    pub(super) fn of(tool: &ToolSpec) -> Self {
        Self { words: split_words(&tool.description), text: tool.description.clone() }
    }

    /// The sum of the weights of the groups that occur. Chinese words are searched in the text, which has no spaces.
    pub(super) fn weigh(&self, groups: &[(i32, &[&str])]) -> i32 {
        let occurs = |word: &str| {
            if word.is_ascii() { self.words.iter().any(|own| own == word) } else { self.text.contains(word) }
        };
        groups
            .iter()
            .filter(|(_, words)| words.iter().any(|word| occurs(word)))
            .map(|(weight, _)| weight)
            .sum()
    }
}
