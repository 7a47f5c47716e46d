//! Whole answers about files: the demo model over tools that work on a few files in memory.

use std::{collections::BTreeMap, sync::Arc};

use protocol::{ToolCall, ToolCallId, ToolSpec};
use serde_json::{Value, json};

use super::{
    context::DemoContext,
    intent,
    reply::{DemoCall, Reply},
};
use crate::model::{AssistantContent, ModelMessage, ModelRequest, UserContent};

/// Tools with the shapes of the server's, under other names.
fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, description: &str, properties: Value, required: Value| ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: json!({ "type": "object", "properties": properties, "required": required }),
    };
    let text = json!({ "type": "string" });
    let number = json!({ "type": "integer" });
    let edits = json!({ "type": "array", "items": { "type": "object", "required": ["oldText", "newText"],
        "properties": { "oldText": text, "newText": text, "replaceAll": { "type": "boolean" } } } });
    vec![
        tool(
            "t1",
            "Read a text file of the workspace. Returns its lines as `L<number>: <text>`.",
            json!({ "actionName": text, "path": text, "offset": number, "limit": number }),
            json!(["actionName", "path"]),
        ),
        tool(
            "t2",
            "List a folder of the workspace as a tree. Folders end with `/`. Use `glob-files` to find files by name.",
            json!({ "path": text, "depth": number }),
            json!(["path"]),
        ),
        tool(
            "t3",
            "Search the contents of the workspace's files with a regular expression. Files that `.gitignore` names are not searched.",
            json!({ "pattern": text, "path": text, "include": text }),
            json!(["pattern"]),
        ),
        tool(
            "t4",
            "Find files of the workspace by name. Returns their paths; use `grep-files` to search in contents.",
            json!({ "pattern": { "type": "string", "description": "A glob." }, "path": text }),
            json!(["pattern"]),
        ),
        tool(
            "t5",
            "Create a text file, or replace the whole content of one.",
            json!({ "path": text, "content": text }),
            json!(["path", "content"]),
        ),
        tool(
            "t6",
            "Replace exact text in a file.",
            json!({ "path": text, "edits": edits }),
            json!(["path", "edits"]),
        ),
    ]
}

#[derive(Default)]
struct Folder {
    files: BTreeMap<String, String>,
    /// The answer to whatever changes a file.
    denied: Option<&'static str>,
    calls: Vec<String>,
    titles: Vec<String>,
}

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Self { files, ..Self::default() }
    }

    fn call(&mut self, tool: &str, input: &Value) -> Result<String, String> {
        self.calls.push(tool.to_owned());
        self.titles.extend(input["actionName"].as_str().map(str::to_owned));
        let path = input["path"].as_str().unwrap_or_default();
        let missing = || format!("not_found: there is no file {path}");
        match tool {
            "t1" => {
                let text = self.files.get(path).ok_or_else(missing)?;
                Ok(text.lines().enumerate().map(|(at, line)| format!("L{}: {line}\n", at + 1)).collect())
            }
            "t2" if path == "." => Ok(self.files.keys().map(|path| format!("{path}\n")).collect()),
            "t2" => Err(missing()),
            "t3" => {
                let wanted = input["pattern"].as_str().unwrap().replace('\\', "");
                let found = self.files.iter().filter(|(_, text)| text.contains(&wanted));
                Ok(found.map(|(path, _)| format!("{path}\n")).collect())
            }
            "t4" => {
                let ending = input["pattern"].as_str().unwrap().trim_start_matches("**/*");
                Ok(self
                    .files
                    .keys()
                    .filter(|path| path.ends_with(ending))
                    .map(|path| format!("{path}\n"))
                    .collect())
            }
            _ if self.denied.is_some() => Err(self.denied.unwrap().to_owned()),
            "t5" if self.files.contains_key(path) => {
                Err("conflict: the file exists and was not read".to_owned())
            }
            "t5" => {
                self.files.insert(path.to_owned(), input["content"].as_str().unwrap().to_owned());
                Ok(json!({ "path": path, "bytes": 1 }).to_string())
            }
            "t6" => {
                let text = self.files.get_mut(path).ok_or_else(missing)?;
                for edit in input["edits"].as_array().unwrap() {
                    let (old, new) = (edit["oldText"].as_str().unwrap(), edit["newText"].as_str().unwrap());
                    let count = text.matches(old).count();
                    assert!(
                        count == 1 || (count > 1 && edit["replaceAll"] == json!(true)),
                        "{count} times {old:?}"
                    );
                    *text = text.replace(old, new);
                }
                Ok("changed".to_owned())
            }
            other => panic!("{other}"),
        }
    }
}

/// Answers one message until the model calls nothing more.
fn converse(folder: &mut Folder, said: &str) -> String {
    let mut messages =
        vec![Arc::new(ModelMessage::User { content: vec![UserContent::Text(said.to_owned())] })];
    for _ in 0..10 {
        let request =
            ModelRequest { messages: messages.clone(), tools: tools().into(), ..ModelRequest::default() };
        let calls = match intent::answer(&DemoContext::of(&request)) {
            Reply::Say(text) => return text,
            Reply::Call { tool, input, .. } => vec![DemoCall { tool, input }],
            Reply::Calls { calls, .. } => calls,
        };
        let mut content = Vec::new();
        let mut results = Vec::new();
        for DemoCall { tool, input } in calls {
            let id = ToolCallId::new(format!("c{}", folder.calls.len()));
            let (text, is_error) = match folder.call(&tool, &input) {
                Ok(text) => (text, false),
                Err(text) => (text, true),
            };
            content.push(AssistantContent::ToolCall {
                call: ToolCall { id: id.clone(), name: tool.clone(), input },
                provider: None,
            });
            results.push(Arc::new(ModelMessage::Tool { call: id, tool, text, is_error }));
        }
        messages.push(Arc::new(ModelMessage::Assistant { content }));
        messages.extend(results);
    }
    panic!("it never ended: {said}");
}

#[test]
fn files_are_listed_read_searched_and_found() {
    let mut folder =
        Folder::new(&[("a.txt", "milk\npermission denied\n"), ("b.md", "# Tea\n\nGreen tea.\n")]);
    assert_eq!(
        converse(&mut folder, "list the files"),
        "This is in the work directory:\n\n```\na.txt\nb.md\n```"
    );
    // A text that speaks of denials is no denial.
    assert_eq!(converse(&mut folder, "read a.txt"), "This is `a.txt`:\n\n```\nmilk\npermission denied\n```");
    assert_eq!(
        converse(&mut folder, "which files mention milk?"),
        "\"milk\" occurs here:\n\n```\na.txt\n```"
    );
    assert_eq!(converse(&mut folder, "哪些文件提到了茶"), "工作目录里没有找到“茶”。");
    assert_eq!(converse(&mut folder, "find all markdown files"), "These match `**/*.md`:\n\n```\nb.md\n```");
    let summary = converse(&mut folder, "summarise b.md");
    assert!(
        summary.starts_with(
            "`b.md` has 3 lines and 4 words.\nIts headings:\n- Tea\n\nIt begins: \"Green tea.\"\n"
        ),
        "{summary}"
    );
    assert_eq!(folder.calls, ["t2", "t1", "t3", "t3", "t4", "t1"]);
    assert_eq!(folder.titles, ["read a.txt", "read b.md"], "a title is plain text, without back-ticks");
}

#[test]
fn what_is_missing_is_said() {
    let mut folder = Folder::new(&[]);
    let text = converse(&mut folder, "read nothing.txt");
    assert_eq!(
        text,
        "I could not read `nothing.txt`: there is no such file or folder. The tool said: there is no file nothing.txt"
    );
    let text = converse(&mut folder, "把 nothing.txt 里的 a 改成 b");
    assert!(text.starts_with("我没能读取 `nothing.txt`：没有这个文件或文件夹。"), "{text}");
    assert_eq!(folder.calls, ["t1", "t1"], "nothing is changed that was not read");
}

#[test]
fn a_file_is_read_before_it_is_changed() {
    let mut folder = Folder::new(&[("a.txt", "tea\nmore tea\n")]);
    let text = converse(&mut folder, "replace tea with coffee in a.txt");
    assert_eq!(text, "Done: I replaced \"tea\" with \"coffee\" in `a.txt`.");
    assert_eq!(folder.files["a.txt"], "coffee\nmore coffee\n");
    let text = converse(&mut folder, "add a line \"cake\" to a.txt");
    assert_eq!(text, "Done: I added the line \"cake\" at the end of `a.txt`.");
    converse(&mut folder, "在 a.txt 的开头加上“菜单”");
    assert_eq!(folder.files["a.txt"], "菜单\ncoffee\nmore coffee\ncake\n");
    let text = converse(&mut folder, "replace wine with beer in a.txt");
    assert_eq!(text, "\"wine\" does not occur in `a.txt`, so I changed nothing.");
    assert_eq!(folder.calls, ["t1", "t6", "t1", "t6", "t1", "t6", "t1"]);
}

#[test]
fn a_denial_is_reported_as_one() {
    let mut folder = Folder::new(&[("a.txt", "tea\n")]);
    folder.denied = Some("The person did not allow this call. Their reason: keep it");
    let text = converse(&mut folder, "replace tea with coffee in a.txt");
    assert_eq!(
        text,
        "You did not allow it, so I did not change `a.txt`. Nothing was changed. Your reason: keep it"
    );
    let text = converse(&mut folder, "新建 b.txt，内容是你好");
    assert_eq!(text, "你没有允许，所以我没有写入 `b.txt`。什么都没有改动。你的理由是：keep it");
    assert_eq!(folder.files["a.txt"], "tea\n");
}

#[test]
fn a_new_file_is_written_and_an_existing_one_is_left_alone() {
    let mut folder = Folder::new(&[("a.txt", "tea\n")]);
    assert_eq!(converse(&mut folder, "create b.txt with hello"), "Done: I wrote `b.txt`.");
    assert_eq!(folder.files["b.txt"], "hello\n");
    let text = converse(&mut folder, "create a.txt with hello");
    assert!(
        text.starts_with("I could not write `a.txt`: the file is not in the state that the change expects."),
        "{text}"
    );
    assert_eq!(folder.files["a.txt"], "tea\n");
}

#[test]
fn an_agent_that_cannot_delegate_reads_the_folder_itself() {
    let mut folder = Folder::new(&[("a.md", "# One\n\nFirst.\n"), ("b.txt", "second\n"), ("c.png", "x")]);
    let text = converse(&mut folder, "summarise this folder");
    assert!(text.starts_with("There are 3 entries in the work directory:"), "{text}");
    assert!(
        text.contains("I read 2 of its files.")
            && text.contains("- One")
            && text.contains("It begins: \"second\""),
        "{text}"
    );
    assert_eq!(folder.calls, ["t2", "t1", "t1"]);
}
