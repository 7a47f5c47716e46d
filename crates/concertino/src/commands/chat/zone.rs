//! The person's time zone by its IANA name, where the system tells one.

use std::path::Path;

/// `TZ` when it names a zone, else where `/etc/localtime` points.
pub(crate) fn of_system() -> Option<String> {
    let variable = std::env::var("TZ").ok().filter(|value| !value.is_empty());
    match variable {
        Some(value) => named(&value),
        None => linked(&std::fs::read_link("/etc/localtime").ok()?),
    }
}

/// `Area/City` or `UTC`, with the colon some systems put before it; anything else is a rule, not a name.
fn named(value: &str) -> Option<String> {
    let value = value.strip_prefix(':').unwrap_or(value);
    if let Some((_, name)) = value.split_once("/zoneinfo/") {
        return named(name);
    }
    let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+'));
    let looks_like_one = value == "UTC" || (value.contains('/') && !value.starts_with('/'));
    (plain && looks_like_one && value.len() <= 64).then(|| value.to_owned())
}

fn linked(target: &Path) -> Option<String> {
    let (_, name) = target.to_str()?.split_once("zoneinfo/")?;
    named(name.strip_prefix("posix/").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_rules() {
        assert_eq!(named("Asia/Shanghai").as_deref(), Some("Asia/Shanghai"));
        assert_eq!(
            named(":America/Argentina/Buenos_Aires").as_deref(),
            Some("America/Argentina/Buenos_Aires")
        );
        assert_eq!(named("UTC").as_deref(), Some("UTC"));
        assert_eq!(named(":/usr/share/zoneinfo/Europe/Vienna").as_deref(), Some("Europe/Vienna"));
        assert_eq!(named("CET-1CEST,M3.5.0,M10.5.0/3"), None);
        assert_eq!(named("/etc/localtime"), None);
    }

    #[test]
    fn the_link_names_the_zone() {
        assert_eq!(linked(Path::new("/usr/share/zoneinfo/Asia/Tokyo")).as_deref(), Some("Asia/Tokyo"));
        assert_eq!(linked(Path::new("../usr/share/zoneinfo/posix/Etc/UTC")).as_deref(), Some("Etc/UTC"));
        assert_eq!(linked(Path::new("/etc/zone")), None);
    }
}
