//! The IANA name of the system's time zone, if it is known.

use std::path::Path;

/// Returns the zone that `TZ` names, else the one that `/etc/localtime` links to.
pub(crate) fn of_system() -> Option<String> {
    let variable = std::env::var("TZ").ok().filter(|value| !value.is_empty());
    match variable {
        Some(value) => parse_name(&value),
        None => linked_name(&std::fs::read_link("/etc/localtime").ok()?),
    }
}

/// Parses `Area/City` or `UTC`, with an optional colon or path before it. Everything else is a rule, not a name.
fn parse_name(value: &str) -> Option<String> {
    let value = value.strip_prefix(':').unwrap_or(value);
    if let Some((_, name)) = value.split_once("/zoneinfo/") {
        return parse_name(name);
    }
    let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+'));
    let is_name = value == "UTC" || (value.contains('/') && !value.starts_with('/'));
    (plain && is_name && value.len() <= 64).then(|| value.to_owned())
}

fn linked_name(target: &Path) -> Option<String> {
    let (_, name) = target.to_str()?.split_once("zoneinfo/")?;
    parse_name(name.strip_prefix("posix/").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinguished_from_rules() {
        assert_eq!(parse_name("Asia/Shanghai").as_deref(), Some("Asia/Shanghai"));
        assert_eq!(
            parse_name(":America/Argentina/Buenos_Aires").as_deref(),
            Some("America/Argentina/Buenos_Aires")
        );
        assert_eq!(parse_name("UTC").as_deref(), Some("UTC"));
        assert_eq!(parse_name(":/usr/share/zoneinfo/Europe/Vienna").as_deref(), Some("Europe/Vienna"));
        assert_eq!(parse_name("CET-1CEST,M3.5.0,M10.5.0/3"), None);
        assert_eq!(parse_name("/etc/localtime"), None);
    }

    #[test]
    fn the_link_names_the_zone() {
        assert_eq!(linked_name(Path::new("/usr/share/zoneinfo/Asia/Tokyo")).as_deref(), Some("Asia/Tokyo"));
        assert_eq!(linked_name(Path::new("../usr/share/zoneinfo/posix/Etc/UTC")).as_deref(), Some("Etc/UTC"));
        assert_eq!(linked_name(Path::new("/etc/zone")), None);
    }
}
