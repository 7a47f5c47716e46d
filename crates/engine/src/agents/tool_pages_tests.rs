//! The pages `docs/tools.md` and `docs/tools/*.md` are generated from the tools themselves: from their doc comments and
//! schemas, their group, risk and default rule. The Chinese texts are in `tool_pages.zh-CN.toml`.
//!
//! `UPDATE_DOCS=1 cargo test -p engine tool_pages` writes the pages again.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use policy::{Need, RuleSet};
use protocol::{ApprovalMode, ToolRisk, ToolSpec, Verdict};
use serde::Deserialize;
use serde_json::Value;
use tools::AnyTool;

use super::groups;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    English,
    Chinese,
}

impl Language {
    fn pick<T>(self, english: T, chinese: T) -> T {
        if self == Self::English { english } else { chinese }
    }
}

/// The Chinese texts of one tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chinese {
    description: String,
    #[serde(default)]
    fields: BTreeMap<String, String>,
}

fn chinese() -> BTreeMap<String, Chinese> {
    toml::from_str(include_str!("tool_pages.zh-CN.toml")).unwrap()
}

/// One field of a tool's input; those of the entries of a list are `list[].field`.
struct Field {
    name: String,
    kind: String,
    required: bool,
    description: String,
}

fn fields(schema: &Value, before: &str, out: &mut Vec<Field>) {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let name_here = format!("{before}{name}");
        out.push(Field {
            kind: kind(field),
            required: required.contains(&name.as_str()) && name != "actionName",
            description: field["description"].as_str().unwrap_or_default().replace('\n', " "),
            name: name_here.clone(),
        });
        fields(&field["items"], &format!("{name_here}[]."), out);
        fields(field, &format!("{name_here}."), out);
    }
}

fn kind(field: &Value) -> String {
    if let Some(values) = field["enum"].as_array() {
        let values: Vec<String> =
            values.iter().filter_map(Value::as_str).map(|one| format!("`{one}`")).collect();
        return values.join(", ");
    }
    match field["type"].as_str() {
        Some("array") => format!("{}[]", kind(&field["items"])),
        Some(kind) => kind.to_owned(),
        None => "object".to_owned(),
    }
}

fn rule_of(tool: &dyn AnyTool, language: Language) -> &'static str {
    let rules = RuleSet::new(ApprovalMode::default(), []);
    let paths = vec!["example.txt".to_owned()];
    if tool.risk() == ToolRisk::Executes {
        return language.pick("runs what only reads, asks about the rest", "只读的直接执行，其余询问");
    }
    let need = match tool.risk() {
        ToolRisk::Reads | ToolRisk::Delegates | ToolRisk::FrontEnd => Need::Read { paths },
        ToolRisk::Writes => Need::Write { paths, why: String::new() },
        ToolRisk::Input => Need::Approval { why: String::new(), always: false },
        ToolRisk::Asks | ToolRisk::Executes => Need::Approval { why: String::new(), always: true },
    };
    match rules.judge(&tool.spec().name, &need) {
        Verdict::Run => language.pick("runs without asking", "直接执行，不询问"),
        Verdict::Ask { .. } => language.pick("asks", "询问"),
        Verdict::Refuse { .. } => language.pick("is refused", "拒绝"),
    }
}

fn risk_of(tool: &dyn AnyTool, language: Language) -> &'static str {
    let risk = tool.risk();
    let chinese = match risk {
        ToolRisk::Reads => "只读",
        ToolRisk::Writes => "写入",
        ToolRisk::Asks => "需批准",
        ToolRisk::Input => "请用户填写",
        ToolRisk::Executes => "执行程序",
        ToolRisk::Delegates => "委派",
        ToolRisk::FrontEnd => "前端执行",
    };
    language.pick(risk.name(), chinese)
}

fn description<'t>(spec: &'t ToolSpec, texts: &'t BTreeMap<String, Chinese>, language: Language) -> &'t str {
    language.pick(&spec.description, &texts[&spec.name].description)
}

/// The text of a description as Markdown: the lines of a patch are code.
fn as_markdown(text: &str) -> String {
    let mut out = String::new();
    let mut in_patch = false;
    for line in text.lines() {
        if line == "*** Begin Patch" {
            out.push_str("```text\n");
            in_patch = true;
        }
        out.push_str(line);
        out.push('\n');
        if in_patch && line == "*** End Patch" {
            out.push_str("```\n");
            in_patch = false;
        }
    }
    out.trim_end().to_owned()
}

fn page(tool: &dyn AnyTool, texts: &BTreeMap<String, Chinese>, language: Language) -> String {
    let spec = tool.spec();
    let name = &spec.name;
    let mut text = format!("# `{name}`\n\n");
    text.push_str(&language.pick(
        format!("[中文]({name}.zh-CN.md) · [All tools](../tools.md)\n\n"),
        format!("[English]({name}.md) · [全部工具](../tools.zh-CN.md)\n\n"),
    ));
    let (risk, rule) = (risk_of(tool, language), rule_of(tool, language));
    let group = groups::group_of(name);
    let group = language.pick(
        group.map_or("no group".to_owned(), |group| format!("group `{group}`")),
        group.map_or("不属于任何能力组".to_owned(), |group| format!("能力组 `{group}`")),
    );
    text.push_str(&language.pick(
        format!("Risk: {risk} · {group} · by default an ordinary call {rule}.\n\n"),
        format!("风险：{risk} · {group} · 默认情况下普通调用：{rule}。\n\n"),
    ));
    text.push_str(&as_markdown(description(spec, texts, language)));
    text.push_str("\n\n");
    let mut all = Vec::new();
    fields(&spec.input_schema, "", &mut all);
    if all.is_empty() {
        text.push_str(language.pick("It has no input.\n", "没有输入。\n"));
        return text;
    }
    text.push_str(language.pick(
        "| input | type | required | description |\n|---|---|---|---|\n",
        "| 输入 | 类型 | 必填 | 说明 |\n|---|---|---|---|\n",
    ));
    for field in &all {
        let required = if field.required { language.pick("yes", "是") } else { "" };
        let about = match field.name.as_str() {
            "actionName" => language.pick(
                "A short purpose of this call, shown to the person. Models are asked for it; a call without it runs all the same.",
                "本次调用的简短目的，展示给用户。会要求模型填写；没有它调用也照常执行。",
            ),
            name => language.pick(field.description.as_str(), texts[&spec.name].fields.get(name).map_or("", String::as_str)),
        };
        writeln!(text, "| `{}` | {} | {required} | {} |", field.name, field.kind, about.replace('|', "\\|"))
            .unwrap();
    }
    text
}

fn first_sentence(text: &str, language: Language) -> String {
    let end = language.pick(". ", "。");
    let line = text.lines().next().unwrap_or_default();
    let sentence = line.split(end).next().unwrap_or_default().trim_end_matches(['.', '。', ':', '：']);
    language.pick(format!("{sentence}."), format!("{sentence}。"))
}

fn index(tools: &[&dyn AnyTool], texts: &BTreeMap<String, Chinese>, language: Language) -> String {
    let mut text = language
        .pick(
            "# Tools\n\n[中文](tools.zh-CN.md)\n\nWhat agents can do. `concertino tools` and `GET /api/tools` list the same, with the rules \
             in force. A definition names single tools (`toolKeys`) or groups (`groups`). Which calls ask: \
             [approvals and rules](approvals-and-rules.md).\n",
            "# 工具\n\n[English](tools.md)\n\n智能体能做的事。`concertino tools` 和 `GET /api/tools` 列出同样的内容，并带有当前生效的规则。\
             智能体定义可以写单个工具（`toolKeys`）或能力组（`groups`）。哪些调用会询问：[审批与规则](approvals-and-rules.zh-CN.md)。\n",
        )
        .to_owned();
    let names: Vec<Option<&str>> = groups::GROUPS.iter().map(|(name, _)| Some(*name)).chain([None]).collect();
    for group in names {
        let title = match group {
            Some(group) => format!("`{group}`"),
            None => language.pick("Without a group", "不属于任何能力组").to_owned(),
        };
        writeln!(text, "\n## {title}\n").unwrap();
        text.push_str(language.pick(
            "| tool | risk | an ordinary call | |\n|---|---|---|---|\n",
            "| 工具 | 风险 | 普通调用 | |\n|---|---|---|---|\n",
        ));
        for tool in tools.iter().filter(|tool| groups::group_of(&tool.spec().name) == group) {
            let name = &tool.spec().name;
            let link = language.pick(format!("tools/{name}.md"), format!("tools/{name}.zh-CN.md"));
            let about = first_sentence(description(tool.spec(), texts, language), language);
            let (risk, rule) = (risk_of(*tool, language), rule_of(*tool, language));
            writeln!(text, "| [`{name}`]({link}) | {risk} | {rule} | {about} |").unwrap();
        }
    }
    text.push_str(language.pick(
        "\n## Planned\n\nNot built, not offered, in no group:\n\n",
        "\n## 计划中\n\n尚未实现，不提供给智能体，也不在任何能力组中：\n\n",
    ));
    let mut planned: Vec<&str> =
        groups::PLANNED.iter().flat_map(|(_, tools)| tools.iter().copied()).collect();
    planned.sort_unstable();
    planned.dedup();
    let planned: Vec<String> = planned.iter().map(|tool| format!("`{tool}`")).collect();
    text.push_str(&planned.join(", "));
    text.push('\n');
    text
}

#[test]
fn tool_pages_say_what_the_tools_say() {
    let registry = tools::Registry::builtin(&[]).unwrap();
    let tools: Vec<&dyn AnyTool> = registry.all().map(|tool| &**tool).collect();
    let texts = chinese();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut pages = vec![
        ("tools.md".to_owned(), index(&tools, &texts, Language::English)),
        ("tools.zh-CN.md".to_owned(), index(&tools, &texts, Language::Chinese)),
    ];
    for tool in &tools {
        let name = &tool.spec().name;
        pages.push((format!("tools/{name}.md"), page(*tool, &texts, Language::English)));
        pages.push((format!("tools/{name}.zh-CN.md"), page(*tool, &texts, Language::Chinese)));
    }
    let is_update = std::env::var_os("UPDATE_DOCS").is_some();
    fs::create_dir_all(docs.join("tools")).unwrap();
    for (path, text) in pages {
        if is_update {
            fs::write(docs.join(&path), &text).unwrap();
        }
        let written = fs::read_to_string(docs.join(&path)).unwrap_or_default();
        assert_eq!(
            written, text,
            "docs/{path} is not current: UPDATE_DOCS=1 cargo test -p engine tool_pages"
        );
    }
}

#[test]
fn every_tool_and_field_has_a_chinese_text_and_no_other() {
    let registry = tools::Registry::builtin(&[]).unwrap();
    let texts = chinese();
    let names: Vec<&str> = registry.names().collect();
    for name in texts.keys() {
        assert!(names.contains(&name.as_str()), "there is no tool {name}");
    }
    for tool in registry.all() {
        let spec = tool.spec();
        let text = texts.get(&spec.name).unwrap_or_else(|| panic!("{} has no Chinese text", spec.name));
        assert!(!text.description.trim().is_empty(), "{}", spec.name);
        let mut all = Vec::new();
        fields(&spec.input_schema, "", &mut all);
        let wanted: Vec<&str> =
            all.iter().map(|field| field.name.as_str()).filter(|name| *name != "actionName").collect();
        for name in &wanted {
            assert!(
                text.fields.get(*name).is_some_and(|text| !text.trim().is_empty()),
                "{}: {name}",
                spec.name
            );
        }
        for name in text.fields.keys() {
            assert!(wanted.contains(&name.as_str()), "{} has no field {name}", spec.name);
        }
    }
}
