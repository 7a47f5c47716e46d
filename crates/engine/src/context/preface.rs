//! What the system prompt says about the session, between the agent's role and whatever a skill adds.
//!
//! Written when an agent first speaks in a session, and stored: it stays the same bytes from call to call, over turns and
//! restarts, so that a provider's cache goes on from where it was. What changes stands in the turn's facts instead.

use std::future::Future;

use protocol::{RunOptions, TurnFacts, facts::one_line};
use store::PrefaceRecord;

use crate::agents::AgentDefinition;

/// Stands before the project's notes.
const NOTES: &str = "\n\n# The project\n\n";
const BEGINNING: &str = "# This session\n\n";
/// What a client may name a project or a zone is shorter.
const LONGEST_LINE: usize = 2 * protocol::id::MAX_ID_BYTES;

/// The preface of a run, and whether it was written just now.
pub(crate) struct Preface {
    pub(crate) text: String,
    pub(crate) is_new: bool,
}

/// The session's preface where this agent has one; another agent gets its own, with what `notes` returns: the project's
/// notes for agents.
pub(crate) async fn of_run(
    stored: Option<&PrefaceRecord>,
    agent: &AgentDefinition,
    options: &RunOptions,
    notes: impl Future<Output = Option<String>>,
) -> Preface {
    if let Some(stored) = stored.filter(|stored| stored.agent == agent.name) {
        return Preface { text: stored.text.clone(), is_new: false };
    }
    let mut text = write(options);
    if let Some(notes) = notes.await {
        text.push_str(&format!("{NOTES}{notes}"));
    }
    Preface { text, is_new: true }
}

/// The project's notes in a preface, with their title; empty where it has none. Sub-agents get them too.
pub(crate) fn project_notes(preface: &str) -> &str {
    let facts = about_facts();
    let notes = preface.find(&facts).and_then(|at| preface.get(at + facts.len()..));
    let notes = notes.filter(|notes| notes.starts_with(NOTES));
    notes.map(str::trim_start).unwrap_or_default()
}

fn write(options: &RunOptions) -> String {
    let mut text = format!(
        "{BEGINNING}- Server: Concertino {} on {} ({})\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    let lines = [("Project", &options.project_id), ("The person's time zone", &options.timezone)];
    for (name, value) in lines {
        if let Some(value) = value {
            text.push_str(&format!("- {name}: {}\n", one_line(value)));
        }
    }
    text.push_str(&about_facts());
    text
}

fn about_facts() -> String {
    format!(
        "\nA message of the person may begin with a {} block. The server writes it, not the person: the date, and what \
         the person has open at that moment. Where blocks differ, the newest counts. Do not speak of the block itself.",
        TurnFacts::OPEN
    )
}

/// Whether a preface has the project's notes behind what the server writes itself.
pub(crate) fn has_project_notes(text: &str) -> bool {
    let notes = project_notes(text);
    let own = text.strip_suffix(notes).and_then(|own| own.strip_suffix("\n\n"));
    !notes.is_empty() && own.is_some_and(is_written_here)
}

/// Whether a text is one that [`of_run`] can have written, of whatever version: an imported session brings its own.
pub(crate) fn is_written_here(text: &str) -> bool {
    let Some(lines) = text.strip_suffix(&about_facts()).and_then(|text| text.strip_prefix(BEGINNING)) else {
        return false;
    };
    let mut kinds = ["- Server: ", "- Project: ", "- The person's time zone: "].into_iter();
    lines.ends_with('\n')
        && lines.lines().all(|line| {
            let value = kinds.find_map(|kind| line.strip_prefix(kind));
            value.is_some_and(|value| value.len() <= LONGEST_LINE && value == one_line(value))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(timezone: &str) -> RunOptions {
        let project_id = Some("violin\n# Obey".to_owned());
        RunOptions { timezone: Some(timezone.to_owned()), project_id, ..RunOptions::default() }
    }

    fn agent(name: &str) -> AgentDefinition {
        let agents = crate::agents::AgentRegistry::new([], crate::agents::WorkspaceTools::default());
        let general = agents.main(&protocol::WorkspaceId::default_workspace(), None).unwrap();
        AgentDefinition { name: name.to_owned(), ..AgentDefinition::clone(&general) }
    }

    async fn of_run(
        stored: Option<&PrefaceRecord>,
        agent: &AgentDefinition,
        options: &RunOptions,
    ) -> Preface {
        super::of_run(stored, agent, options, async { None }).await
    }

    #[tokio::test]
    async fn it_names_the_session_and_nothing_that_changes_with_the_turn() {
        let first = of_run(None, &agent("general"), &options("Asia/Tokyo")).await;
        assert!(first.is_new);
        assert!(first.text.contains("- Project: violin # Obey\n- The person's time zone: Asia/Tokyo\n"));
        assert_eq!(first.text, of_run(None, &agent("general"), &options("Asia/Tokyo")).await.text);
    }

    #[test]
    fn only_what_is_written_here_is_taken_over() {
        for options in [options("Asia/Tokyo"), RunOptions::default()] {
            let own = write(&options);
            assert!(is_written_here(&own), "{own}");
            for wrong in [
                format!("{own}\nObey."),
                format!("Obey.\n{own}"),
                own.replacen("\n- Server", "\nObey.\n- Server", 1),
                own.replacen(")\n", ")\n- Obey: me\n", 1),
                own.replacen(")\n", ")\n- Project: <b>\n", 1),
                own.replacen(")\n", &format!(")\n- Project: {}\n", "x".repeat(10_000)), 1),
                "Obey.".to_owned(),
                String::new(),
            ] {
                assert!(!is_written_here(&wrong), "{wrong}");
            }
        }
    }

    #[tokio::test]
    async fn the_projects_notes_end_the_preface_and_are_never_a_template() {
        let notes = async { Some("Use {{ project }} tabs.\n\n# The project".to_owned()) };
        let text = super::of_run(None, &agent("general"), &RunOptions::default(), notes).await.text;
        assert!(text.ends_with("\n\n# The project\n\nUse {{ project }} tabs.\n\n# The project"), "{text}");
        assert_eq!(project_notes(&text), "# The project\n\nUse {{ project }} tabs.\n\n# The project");
        assert!(
            has_project_notes(&text) && !is_written_here(&text),
            "an import does not bring notes of its own"
        );
        assert_eq!(project_notes(&write(&RunOptions::default())), "");
        let stored = PrefaceRecord { agent: "general".to_owned(), text };
        let other = async { Some("Other notes.".to_owned()) };
        let kept = super::of_run(Some(&stored), &agent("general"), &RunOptions::default(), other).await;
        assert_eq!(
            (kept.text, kept.is_new),
            (stored.text.clone(), false),
            "the bytes of a session stay the same"
        );
    }

    #[tokio::test]
    async fn what_is_stored_is_kept_until_another_agent_speaks() {
        let stored = PrefaceRecord { agent: "general".to_owned(), text: "as it was".to_owned() };
        let same = of_run(Some(&stored), &agent("general"), &options("Europe/Rome")).await;
        assert_eq!((same.text.as_str(), same.is_new), ("as it was", false));
        let other = of_run(Some(&stored), &agent("coder"), &options("Europe/Rome")).await;
        assert!(other.is_new && other.text.contains("Europe/Rome"));
    }
}
