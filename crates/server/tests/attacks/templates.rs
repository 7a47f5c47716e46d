//! Prompt templates that once overflowed the stack, the memory or the time of the server.
//!
//! On the server as it was, most of these ended the test process (stack overflow, abort at 4 GB) or took seconds.

use engine::agents::AgentDefinition;
use serde_json::{Value, json};
use testkit::{
    Scripted, TestApp, calls,
    models::{ModelMessage, ModelRequest, UserContent},
    protocol::{AgentKind, AgentSource, ErrorCode, WorkspaceId},
    says,
};

/// Templates that must be refused, with the code of the first problem.
fn refused() -> Vec<(&'static str, String, &'static str)> {
    let print = |inside: String| format!("{{{{ {inside} }}}}");
    let nested =
        |open: &str, close: &str, depth: usize| format!("{}x{}", open.repeat(depth), close.repeat(depth));
    let hundred = ["'a'"; 100].join(", ");
    let loops = format!("{{% for a in [{hundred}] %}}");
    vec![
        ("minus signs", print("-".repeat(5197) + "1"), "template_limit"),
        ("concatenation", print("1".to_owned() + &"~1".repeat(6601)), "template_limit"),
        ("attributes", print("name".to_owned() + &".a".repeat(8707)), "template_limit"),
        ("a minus sign", print("-name".to_owned()), "bad_template"),
        ("one concatenation", print("1 ~ 1".to_owned()), "bad_template"),
        ("an attribute", print("name.a".to_owned()), "bad_template"),
        ("filters", print("name".to_owned() + &"|trim".repeat(8638)), "template_limit"),
        ("parentheses", print("(".repeat(20_000) + "1" + &")".repeat(20_000)), "template_limit"),
        ("lists", print("[".repeat(100) + "1" + &"]".repeat(100)), "template_limit"),
        ("not", print("not ".repeat(150) + "name"), "template_limit"),
        ("subscripts", print("tools".to_owned() + &"[0".repeat(100) + &"]".repeat(100)), "template_limit"),
        (
            "arguments",
            print("name".to_owned() + &"|default(name".repeat(60) + &")".repeat(60)),
            "template_limit",
        ),
        ("conditions", print("1 if 1 else ".repeat(60) + "2"), "template_limit"),
        ("nested if", nested("{% if name %}", "{% endif %}", 2000), "template_limit"),
        ("nested for", nested("{% for a in tools %}", "{% endfor %}", 1500), "template_limit"),
        ("multiplication of text", print("name * 4000000000".to_owned()), "bad_template"),
        (
            "a branch that the sample does not reach",
            "{% if not name %}{{ 'a' * 4000000000 }}{% endif %}".to_owned(),
            "bad_template",
        ),
        ("an unknown filter there", "{% if not name %}{{ name|fly }}{% endif %}".to_owned(), "bad_template"),
        (
            "an unknown variable there",
            "{% if not name %}{{ nobody }}{% endif %}".to_owned(),
            "unknown_variable",
        ),
        (
            "a wrong argument there",
            "{% if not name %}{{ name|trim(1, 2) }}{% endif %}".to_owned(),
            "bad_template",
        ),
        (
            "a wrong kind there",
            "{% for a in tools %}{% else %}{{ 3|length }}{% endfor %}".to_owned(),
            "bad_template",
        ),
        ("long loops", format!("{}x{}", loops.repeat(4), "{% endfor %}".repeat(4)), "template_limit"),
        (
            "much text in loops",
            format!("{loops}{loops}{}{{% endfor %}}{{% endfor %}}", "text ".repeat(1000)),
            "template_limit",
        ),
        (
            "text that doubles",
            "{% set x = 'aaaaaaaa' %}".to_owned() + &"{% set x = [x, x]|join(x) %}".repeat(60) + "{{ x }}",
            "template_limit",
        ),
        (
            "a list that contains itself",
            "{% set x = [1] %}".to_owned() + &"{% set x = [x, x] %}".repeat(60) + "{{ x }}",
            "bad_template",
        ),
        ("only openings of values", "{{".repeat(32_000), "template_limit"),
        ("only openings of tags", "{%".repeat(32_000), "template_limit"),
        ("only openings of comments", "{#".repeat(32_000), "bad_template"),
        ("only openings of raw text", "{% raw %}".repeat(7_000), "bad_template"),
        ("a long name", print("a".repeat(60_000)), "template_limit"),
        ("a macro", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}".to_owned(), "bad_template"),
        ("an include", "{% include 'x' %}".to_owned(), "bad_template"),
        ("an import", "{% import 'x' as y %}".to_owned(), "bad_template"),
        ("a call", print("name()".to_owned()), "bad_template"),
        ("do", "{% do name %}".to_owned(), "bad_template"),
        ("a slice", print("name[0:1]".to_owned()), "bad_template"),
    ]
}

#[tokio::test]
async fn a_template_beyond_the_language_or_its_limits_is_refused_with_the_line_and_what_to_do() {
    let app = TestApp::scripted([]).await;
    for (what, template, code) in refused() {
        let body = json!({ "name": "attacker", "systemPrompt": format!("first line\n{template}") });
        let checked = app.caller.post_json("/api/agents?check=true", &body).await;
        assert_eq!(checked.status, 200, "{what}");
        let problem = checked.json()["problems"][0].clone();
        assert_eq!(
            (&problem["path"], &problem["code"]),
            (&json!("systemPrompt"), &json!(code)),
            "{what}: {problem}"
        );
        assert!(problem["line"].as_u64().is_some_and(|line| (1..=2).contains(&line)), "{what}: {problem}");
        assert!(problem["message"].as_str().unwrap().len() < 400, "{what}: {problem}");
        assert!(!problem["fix"].as_str().unwrap().is_empty(), "{what}: {problem}");
        app.caller.post_json("/api/agents", &body).await.assert_problem(ErrorCode::InvalidAgent);
    }
    assert_eq!(app.get("/api/agents").await.status, 200);
}

#[tokio::test]
async fn a_limit_is_named_with_its_number() {
    let app = TestApp::scripted([]).await;
    let template = "{% if name %}".repeat(20) + &"{% endif %}".repeat(20);
    let body = json!({ "name": "deep", "systemPrompt": template });
    let checked = app.caller.post_json("/api/agents?check=true", &body).await.json();
    assert_eq!(
        checked["problems"],
        json!([{
            "path": "systemPrompt", "code": "template_limit", "line": 1,
            "message": "systemPrompt exceeds a limit of templates in line 1: if and for are nested more than 16 deep.",
            "fix": "Nest if and for at most 16 deep.",
        }])
    );
}

fn stored(prompt: &str) -> AgentDefinition {
    let mut fields = AgentDefinition::bare(AgentKind::Main, "general", "").fields();
    fields.system_prompt = prompt.to_owned();
    fields.tool_keys = vec!["time-now".to_owned(), "update-plan".to_owned()];
    let workspace = Some(WorkspaceId::default_workspace());
    AgentDefinition { workspace, ..AgentDefinition::from_fields(fields, AgentSource::Database) }
}

/// A definition that an earlier version accepted is refused when it is used, and nothing else suffers.
#[tokio::test]
async fn a_stored_template_beyond_the_limits_fails_its_own_message_only() {
    let app = TestApp::builder().script(Scripted::choosing(|_| says("Hello."))).start().await;
    for template in [
        "{{ ".to_owned() + &"-".repeat(6000) + "1 }}",
        "{{ name * 400000000 }}".to_owned(),
        "{% for a in tools %}".repeat(13) + "x" + &"{% endfor %}".repeat(13),
    ] {
        app.engine.agents().set_workspace(&WorkspaceId::default_workspace(), vec![stored(&template)]);
        let refused = app.chat("a").post(&app.chat("a").body_of("hi", json!({}))).await;
        refused.assert_sentence(ErrorCode::InvalidMessage);
        assert!(refused.body.contains("The prompt of \"general\" cannot be written"), "{}", refused.body);
    }
    app.engine.agents().set_workspace(&WorkspaceId::default_workspace(), Vec::new());
    assert_eq!(app.chat("b").send("hi").await.message().await.text(), "Hello.");
}

fn is_task(request: &ModelRequest, task: &str) -> bool {
    request.messages.iter().any(|message| match &**message {
        ModelMessage::User { content } => {
            content.iter().any(|one| matches!(one, UserContent::Text(text) if text == task))
        }
        _ => false,
    })
}

#[tokio::test]
async fn what_a_model_writes_as_a_prompt_is_never_a_template() {
    for (tool, prompt) in [
        ("sub-agent", "{{ ".to_owned() + &"-".repeat(6000) + "1 }}"),
        ("sub-agent", "You are {{ name }}{% if tools %}, with tools{% endif %}{# secret #}.".to_owned()),
        ("sub-agent", "{% for a in tools %}{{ nobody * 4000000000 }}".to_owned()),
        ("sub-agent", "{{".repeat(20_000)),
    ] {
        let input: Value = json!({ "name": "dynamic", "task": "the task", "options": { "prompt": prompt } });
        let script = Scripted::choosing(move |request| {
            let answered =
                request.messages.iter().any(|message| matches!(&**message, ModelMessage::Tool { .. }));
            match (is_task(request, "the task"), answered) {
                (true, _) => says("I did it."),
                (false, false) => calls("c", tool, input.clone()),
                (false, true) => says("Done."),
            }
        });
        let app = TestApp::builder().script(script).start().await;
        assert_eq!(app.send("go").await.message().await.text(), "Done.");
        let requests = app.model.requests();
        let child = requests.iter().find(|request| is_task(request, "the task")).unwrap();
        assert_eq!(&*child.system, &prompt);
    }
}
