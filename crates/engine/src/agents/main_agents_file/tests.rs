//! Every rule of the format, the file of the conformance suite, and files that nobody would write.

mod hostile_tests;
mod selection_tests;

use protocol::{AgentKind, AgentSource};

use super::*;
use crate::agents::{Prompt, WorkspaceTools};

/// The file of the conformance suite for session events.
const CONFORMANCE: &str = include_str!("conformance.toml");

fn registry() -> AgentRegistry {
    let tools = tools::Registry::builtin(&[]).unwrap();
    AgentRegistry::new(tools.names().filter(|name| *name != "request-user-input"), WorkspaceTools::default())
}

fn read(text: &str) -> MainAgents {
    parse(text, &registry()).unwrap()
}

/// The only agent of a file, and the texts of the warnings.
fn only(text: &str) -> (AgentDefinition, Vec<String>) {
    let mut read = read(text);
    assert_eq!(read.agents.len(), 1, "{:?}", read.notices);
    assert!(read.notices.iter().all(|notice| notice.severity == Severity::Warning), "{:?}", read.notices);
    (read.agents.remove(0), read.notices.into_iter().map(|notice| notice.text).collect())
}

/// An agent with everything that avoids warnings, and these lines.
fn complete(fields: &str, info: &str) -> String {
    let role = if fields.contains("mainAgentRole") { "" } else { "mainAgentRole = \"r\"\n" };
    let name = if info.contains("name =") { "" } else { "name = \"A\"\n" };
    format!("[agents.a]\n{role}{fields}\n[agents.a.basicInfo]\n{name}{info}\n")
}

/// The warnings about an agent with these lines.
fn warnings(fields: &str, info: &str) -> Vec<String> {
    only(&complete(fields, info)).1
}

/// Why an agent with these lines is left out; another one in the same file is not.
fn dropped(fields: &str, info: &str) -> Notice {
    let text = format!(
        "{}\n[agents.other]\nmainAgentRole = \"o\"\nbasicInfo.name = \"O\"\n",
        complete(fields, info)
    );
    let mut read = read(&text);
    assert_eq!(names(&read), ["other"], "{:?}", read.notices);
    assert_eq!(read.notices.len(), 1, "{:?}", read.notices);
    assert_eq!(read.notices[0].severity, Severity::Dropped);
    read.notices.remove(0)
}

fn names(read: &MainAgents) -> Vec<&str> {
    read.agents.iter().map(|agent| agent.name.as_str()).collect()
}

#[test]
fn an_agent_with_everything_has_no_warning() {
    let (agent, warnings) = only(&complete(
        "mainAgentRole = \"You are {{ me }} {% x %}.\\n\"\ntools = [\"read-file\", \"write-file\"]\n\
         availableSubAgents = [\"shell\", \"dynamic\"]\neditableFileSuffixes = [\".md\", \".D.TS\"]",
        "id = \"a\"\nname = \" Ä b \"\ndescription = \"Does\\nthings\"\ntype = \"debugger\"\nbuiltin = true\n\
         createdAt = \"2026-01-01T00:00:00.5Z\"\nupdatedAt = 2026-01-02T00:00:00+01:00",
    ));
    assert_eq!(warnings, [""; 0]);
    assert_eq!((agent.kind, agent.source, agent.enabled), (AgentKind::Main, AgentSource::File, true));
    assert_eq!((agent.name.as_str(), agent.display_name.as_str()), ("a", "Ä b"));
    assert_eq!(agent.description, "Does\nthings");
    assert_eq!(agent.prompt, Prompt::literal("You are {{ me }} {% x %}.\n"), "never a template");
    assert_eq!(agent.tools, ["read-file", "write-file"]);
    assert_eq!(agent.allowed_sub_agents, ["shell", "dynamic"]);
    assert_eq!(agent.editable_suffixes, [".md", ".D.TS"]);
    assert_eq!(agent.created_at.unwrap().0, 1_767_225_600_500);
    assert_eq!(agent.updated_at.unwrap().0, 1_767_225_600_000 + 23 * 3_600_000);
    assert!(agent.groups.is_empty() && agent.aliases.is_empty() && agent.tool_groups.is_empty());
}

#[test]
fn a_key_that_cannot_be_selected_drops_the_agent() {
    let long = "x".repeat(65);
    for key in ["\"Bad Agent\"", "Upper", "\"\"", "\"ä\"", "\"a.b\"", "\"a\\nb\"", &long] {
        let read =
            read(&format!("[agents.{key}]\n[agents.good]\nmainAgentRole = \"r\"\nbasicInfo.name = \"G\"\n"));
        assert_eq!(names(&read), ["good"], "{key}");
        let [notice] = &read.notices[..] else { panic!("{:?}", read.notices) };
        assert_eq!((notice.severity, notice.position), (Severity::Dropped, Position { line: 1, column: 9 }));
        assert!(!notice.text.contains('\n') && notice.text.contains("1 to 64"), "{}", notice.text);
    }
    let longest = "x-_9".repeat(16);
    assert_eq!(names(&read(&format!("[agents.{longest}]\n"))), [longest.as_str()]);
}

#[test]
fn an_id_that_differs_from_the_key_drops_the_agent() {
    let notice = dropped("", "id = \"b\"");
    assert_eq!(notice.position, Position { line: 6, column: 6 });
    assert!(notice.text.contains("basicInfo.id is \"b\""), "{}", notice.text);
    assert!(dropped("", "id = \" a\"").text.contains("differs"), "nothing is trimmed");
    assert!(warnings("", "id = \"a\"").is_empty());
}

#[test]
fn a_name_that_cannot_be_shown_is_replaced_by_the_id() {
    let (agent, told) = only("[agents.a]\nmainAgentRole = \"r\"\n");
    assert_eq!(agent.display_name, "a");
    assert!(told[0].contains("has no basicInfo.name"), "{told:?}");
    for bad in [String::new(), "  ".to_owned(), "x".repeat(101), "a\\nb".to_owned()] {
        let (agent, told) = only(&complete("", &format!("name = \"{bad}\"")));
        assert_eq!((agent.display_name.as_str(), told.len()), ("a", 1), "{bad}");
    }
    let longest = "界".repeat(100);
    assert_eq!(only(&complete("", &format!("name = \"{longest}\""))).0.display_name, longest);
}

#[test]
fn a_description_is_optional_and_not_longer_than_two_thousand_characters() {
    assert_eq!(only(&complete("", "")).0.description, "");
    let longest = "界".repeat(2000);
    let (agent, told) = only(&complete("", &format!("description = \"{longest}\"")));
    assert_eq!((agent.description == longest, told.len()), (true, 0));
    let (agent, told) = only(&complete("", &format!("description = \"{longest}x\"")));
    assert_eq!((agent.description == longest, told.len()), (true, 1));
}

#[test]
fn the_type_is_informative_only() {
    for kind in ["general", "requirement_analyzer", "debugger"] {
        assert!(warnings("", &format!("type = \"{kind}\"")).is_empty());
    }
    assert!(warnings("", "type = \"wizard\"")[0].contains("treated as general"));
}

#[test]
fn a_role_is_optional_and_not_longer_than_256_kib() {
    let general = registry().builtin_role();
    assert!(general.text().len() > 300);
    for blank in ["mainAgentRole = \"\"", "mainAgentRole = \" \\n\\t\""] {
        let (agent, told) = only(&complete(blank, ""));
        assert_eq!((&agent.prompt, told.len()), (&general, 1), "{blank}");
    }
    let (agent, _) = only("[agents.a]\nbasicInfo.name = \"A\"");
    assert_eq!(agent.prompt, general);
    let longest = "x".repeat(256 << 10);
    assert_eq!(only(&complete(&format!("mainAgentRole = \"{longest}\""), "")).0.prompt.text(), longest);
    assert!(dropped(&format!("mainAgentRole = \"{longest}x\""), "").text.contains("262145 bytes"));
}

#[test]
fn tools_are_an_allow_list_of_names_and_aliases() {
    assert!(only(&complete("", "")).0.tools.is_empty(), "no list means no tools");
    assert!(only(&complete("tools = []", "")).0.tools.is_empty());
    let fields =
        "tools = [\"filesystem-read\", \"read-file\", \"terminal-execute\", \"todo-add\", \"todo-update\"]";
    let (agent, told) = only(&complete(fields, ""));
    assert_eq!(agent.tools, ["read-file", "shell-command", "update-plan"]);
    assert!(told.is_empty(), "{told:?}");
    let unknown = "tools = [\"*\", \"read-*\", \"Read-File\", \"no-such-tool\", \"askuser-ask_question\", \"sub-agent\"]";
    let (agent, told) = only(&complete(unknown, ""));
    assert!(agent.tools.is_empty() && told.len() == 6, "{told:?}");
    assert!(told[4].contains("here: request-user-input"), "{told:?}");
    assert!(told[5].contains("availableSubAgents"), "{told:?}");
}

#[test]
fn sub_agents_that_do_not_exist_are_a_warning() {
    assert!(only(&complete("", "")).0.allowed_sub_agents.is_empty());
    let (agent, told) =
        only(&complete("availableSubAgents = [\"shell\", \"no-such\", \"shell\", \"*\"]", ""));
    assert_eq!(agent.allowed_sub_agents, ["shell", "no-such"]);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("\"no-such\"") && told[1].contains("\"*\""), "{told:?}");
}

#[test]
fn a_suffix_without_a_dot_drops_the_agent_instead_of_lifting_the_limit() {
    for bad in ["md", "*.md", ".", ""] {
        let notice = dropped(&format!("editableFileSuffixes = [\".txt\", \"{bad}\"]"), "");
        assert_eq!(notice.position.line, 3);
        assert!(notice.text.contains("begins with a dot"), "{}", notice.text);
    }
    assert!(only(&complete("editableFileSuffixes = []", "")).0.editable_suffixes.is_empty());
}

#[test]
fn a_time_that_cannot_be_read_counts_as_missing() {
    for bad in ["\"yesterday\"", "\"\"", "\"2026-01-01\"", "07:32:00"] {
        let (agent, told) = only(&complete("", &format!("createdAt = {bad}")));
        assert_eq!((agent.created_at, told.len()), (None, 1), "{bad}");
    }
    for good in ["2026-01-01T00:00:00Z", "2026-01-01 00:00:00", "2026-01-01", "\"2026-01-01T00:00:00.000Z\""]
    {
        let (agent, told) = only(&complete("", &format!("createdAt = {good}")));
        assert_eq!((agent.created_at.unwrap().0, told.len()), (1_767_225_600_000, 0), "{good}");
    }
}

#[test]
fn a_value_of_the_wrong_type_drops_the_agent() {
    for fields in [
        "tools = \"read-file\"",
        "tools = [1]",
        "tools = { read-file = true }",
        "availableSubAgents = true",
        "availableSubAgents = [[]]",
        "editableFileSuffixes = \".md\"",
        "editableFileSuffixes = [3]",
        "mainAgentRole = 3",
    ] {
        let notice = dropped(fields, "");
        assert!(notice.text.contains(" must be "), "{}", notice.text);
        assert!(notice.position.line <= 3 && notice.position.column > 1, "{notice:?}");
    }
    for info in [
        "id = 1",
        "name = []",
        "description = 1.5",
        "type = true",
        "builtin = \"yes\"",
        "createdAt = 3",
        "updatedAt = []",
    ] {
        let notice = dropped("", info);
        assert!(notice.text.contains("basicInfo."), "{}", notice.text);
    }
    for text in ["[agents]\na = 3\n", "[[agents.a]]\n", "[agents.a]\nbasicInfo = 3\n"] {
        let read = read(text);
        assert!(read.agents.is_empty() && read.notices.len() == 1, "{text}: {:?}", read.notices);
    }
}

#[test]
fn an_unknown_key_is_a_warning() {
    let told = warnings("colour = \"red\"", "mood = 1");
    assert_eq!(told.len(), 2);
    assert!(told[0].contains("\"colour\"") && told[1].contains("\"basicInfo.mood\""), "{told:?}");
    let read = read("version = 2\n[other]\n[agents.a]\nmainAgentRole = \"r\"\nbasicInfo.name = \"A\"");
    assert_eq!((names(&read), read.notices.len()), (vec!["a"], 2));
}

#[test]
fn a_file_that_is_not_toml_says_where() {
    let error = |text: &str| parse(text, &registry()).unwrap_err();
    assert_eq!(error("[agents.a]\nname = \n").position, Position { line: 2, column: 8 });
    assert_eq!(error("[agents.a]\n[agents.a]\n").position.line, 2, "a table twice");
    assert_eq!(error("\n  agents = 3").position, Position { line: 2, column: 3 });
    assert!(error("[agents.ä]\n").position.line == 1);
    assert!(error(&"[".repeat(100_000)).message.len() < 500);
    for text in ["", "\n\n", "# nothing here\n", "\u{feff}"] {
        let read = read(text);
        assert!(read.is_empty && read.agents.is_empty() && read.notices.is_empty(), "{text:?}");
    }
    assert!(!read("[agents]\n").is_empty);
}

#[test]
fn a_file_has_at_most_two_hundred_agents_and_one_mebibyte() {
    let file = |count: usize| (0..count).map(|at| format!("[agents.a{at}]\n")).collect::<String>();
    assert_eq!(read(&file(200)).agents.len(), 200);
    let error = parse(&file(201), &registry()).unwrap_err();
    assert_eq!(error.position, Position { line: 201, column: 9 });
    let comment = |bytes: usize| format!("#{}", " ".repeat(bytes - 1));
    assert!(parse(&comment(MAX_FILE_BYTES), &registry()).is_ok());
    assert!(parse(&comment(MAX_FILE_BYTES + 1), &registry()).is_err());
}

#[test]
fn the_examples_of_the_documentation_are_valid() {
    let pages =
        [include_str!("../../../../../docs/agents.md"), include_str!("../../../../../docs/agents.zh-CN.md")];
    for page in pages {
        let (_, example) = page.split_once("```toml\n# main-agents.toml\n").unwrap();
        let (example, _) = example.split_once("```").unwrap();
        let read = read(example);
        assert_eq!(names(&read), ["debugger", "code_reviewer", "writer"]);
        assert_eq!(read.notices, []);
    }
}
