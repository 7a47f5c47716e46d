//! Places where a test can have the process abort, to see that the next one comes up. Only in builds with debug
//! assertions; in a release build nothing is left of them.
//!
//! `CONCERTINO_CRASH_POINT=name:mark` aborts at the point `name` when the text there holds `mark`, so that one chat is
//! guilty and the others are not.

use std::sync::OnceLock;

/// Whether this point is armed; the text is made only then.
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

/// Aborts the process if a test wants it here and the text holds its mark.
#[macro_export]
macro_rules! crash_point {
    ($name:literal, $text:expr) => {
        #[cfg(debug_assertions)]
        if $crate::crash_point::is_armed($name) {
            $crate::crash_point::pass(&$text);
        }
    };
}
