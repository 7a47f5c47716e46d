//! What an imported session says about itself, checked as if it came over the API.

use protocol::{id::MAX_ID_BYTES, transcript::SessionFile};

use crate::{context::preface, session_title};

/// Makes the title plain. The error names the field.
pub(super) fn session(session: &mut SessionFile) -> Result<(), String> {
    // Else it is the first words, and not taken over.
    if session.is_user_rename
        && let Some(given) = session.title.take()
    {
        session.title = session_title::validate(&given).map_err(|wrong| format!("title: {wrong}"))?;
    }
    if let Some(agent) = &session.preface_agent
        && (agent.len() > MAX_ID_BYTES || agent.chars().any(char::is_control))
    {
        return Err("prefaceAgent: is not the name of an agent".to_owned());
    }
    // What a project says to agents is read from its files again, and not taken from an export.
    if session.session_preface.as_deref().is_some_and(preface::has_project_notes) {
        session.session_preface = None;
        session.preface_agent = None;
    }
    // It becomes part of a system prompt.
    if session.session_preface.as_deref().is_some_and(|text| !preface::is_written_here(text)) {
        return Err(
            "sessionPreface: is not as this server writes it; leave it out, and the next run writes it anew"
                .to_owned(),
        );
    }
    Ok(())
}
