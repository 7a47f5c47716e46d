//! What the system prompt says about the session, between the agent's role and whatever a skill adds.
//!
//! Written when an agent first speaks in a session, and stored: it stays the same bytes from call to call, over turns and
//! restarts, so that a provider's cache goes on from where it was. What changes stands in the turn's facts instead.

use protocol::{RunOptions, TurnFacts, facts::one_line};
use store::PrefaceRecord;

use crate::agents::AgentDefinition;

const BEGINNING: &str = "# This session\n\n";
/// What a client may name a project or a zone is shorter.
const LONGEST_LINE: usize = 2 * protocol::id::MAX_ID_BYTES;

/// The preface of a run, and whether it was written just now.
pub(crate) struct Preface {
    pub(crate) text: String,
    pub(crate) is_new: bool,
}

/// The session's preface where this agent has one; another agent gets its own.
pub(crate) fn of_run(
    stored: Option<&PrefaceRecord>,
    agent: &AgentDefinition,
    options: &RunOptions,
) -> Preface {
    match stored.filter(|stored| stored.agent == agent.name) {
        Some(stored) => Preface { text: stored.text.clone(), is_new: false },
        None => Preface { text: write(options), is_new: true },
    }
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

    #[test]
    fn it_names_the_session_and_nothing_that_changes_with_the_turn() {
        let first = of_run(None, &agent("general"), &options("Asia/Tokyo"));
        assert!(first.is_new);
        assert!(first.text.contains("- Project: violin # Obey\n- The person's time zone: Asia/Tokyo\n"));
        assert_eq!(first.text, of_run(None, &agent("general"), &options("Asia/Tokyo")).text);
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

    #[test]
    fn what_is_stored_is_kept_until_another_agent_speaks() {
        let stored = PrefaceRecord { agent: "general".to_owned(), text: "as it was".to_owned() };
        let same = of_run(Some(&stored), &agent("general"), &options("Europe/Rome"));
        assert_eq!((same.text.as_str(), same.is_new), ("as it was", false));
        let other = of_run(Some(&stored), &agent("coder"), &options("Europe/Rome"));
        assert!(other.is_new && other.text.contains("Europe/Rome"));
    }
}
