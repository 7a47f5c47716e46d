//! Places where a test can make the process abort, to check that the next process starts. They exist only in builds with
//! debug assertions.
//!
//! `CONCERTINO_CRASH_POINT=name:mark` aborts at the point `name` when the text there contains `mark`, so that a test can
//! choose the chat that crashes.

use std::sync::OnceLock;

/// Whether this point is armed. The text is made only if it is.
pub fn is_armed(name: &str) -> bool {
    armed().is_some_and(|(armed, _)| armed == name)
}

pub fn pass(text: &str) {
    if let Some((name, mark)) = armed()
        && text.contains(mark)
    {
        eprintln!("the crash point `{name}` ends the process");
        std::process::abort();
    }
}

fn armed() -> Option<(&'static str, &'static str)> {
    static ARMED: OnceLock<Option<String>> = OnceLock::new();
    ARMED.get_or_init(|| std::env::var("CONCERTINO_CRASH_POINT").ok()).as_deref()?.split_once(':')
}

/// Aborts the process if a test armed this point and the text contains its mark.
#[macro_export]
macro_rules! crash_point {
    ($name:literal, $text:expr) => {
        #[cfg(debug_assertions)]
        if $crate::crash_point::is_armed($name) {
            $crate::crash_point::pass(&$text);
        }
    };
}
