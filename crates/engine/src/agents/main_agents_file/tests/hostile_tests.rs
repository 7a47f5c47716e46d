//! Random bytes, mutated files and very large lists: nothing panics, nothing takes long, nothing grows without limit.

use test_support::Rng;

use super::*;

/// What must hold for any text.
fn holds(text: &str, registry: &AgentRegistry) {
    let Ok(read) = parse(text, registry) else { return };
    assert!(read.agents.len() <= MAX_AGENTS && read.notices.len() <= MAX_AGENTS + 101);
    for agent in &read.agents {
        assert!(crate::agents::registry::is_selectable(&agent.name), "{:?}", agent.name);
        assert!(!agent.display_name.trim().is_empty());
        assert!(agent.tools.iter().all(|tool| registry.exists(tool)));
        assert!(!agent.prompt.text().trim().is_empty());
        assert!(matches!(agent.prompt, Prompt::Literal(_)));
    }
    for notice in &read.notices {
        assert!(notice.position.line >= 1 && notice.position.column >= 1);
        assert!(!notice.text.contains('\n'), "{}", notice.text);
    }
}

#[test]
fn random_bytes_do_no_harm() {
    let (registry, mut rng) = (registry(), Rng::new(17));
    for _ in 0..2000 {
        let bytes: Vec<u8> = (0..rng.below(200_usize)).map(|_| rng.below(256_u64) as u8).collect();
        holds(&String::from_utf8_lossy(&bytes), &registry);
    }
}

#[test]
fn mutated_files_do_no_harm() {
    const PIECES: [&str; 16] = [
        "[agents.x]",
        "\n",
        "\"",
        "\"\"\"",
        "[",
        "]",
        "{",
        "}",
        "=",
        ".",
        "#",
        "tools = [",
        "basicInfo",
        "\\u0000",
        "9999-12-31T23:59:60Z",
        "ä",
    ];
    let (registry, mut rng) = (registry(), Rng::new(18));
    let mut read_some = 0;
    for _ in 0..3000 {
        let mut text: Vec<char> = CONFORMANCE.chars().collect();
        for _ in 0..rng.between(1_usize, 4) {
            let at = rng.below(text.len());
            match rng.below(4_u64) {
                0 => drop(text.remove(at)),
                1 => text.truncate(at.max(1)),
                2 => drop(text.splice(at..at, rng.pick(&PIECES).chars())),
                _ => text[at] = *rng.pick(&['\0', '"', '[', '=', '\r', '\u{2028}', 'z']),
            }
        }
        let text: String = text.into_iter().collect();
        read_some += usize::from(parse(&text, &registry).is_ok());
        holds(&text, &registry);
    }
    assert!(read_some > 100, "{read_some}: the mutations test nothing but the parser of TOML");
}

#[test]
fn a_file_of_the_greatest_size_is_read_quickly_whatever_is_in_it() {
    let registry = registry();
    let list = |entry: &str| {
        let count = (MAX_FILE_BYTES - 100) / (entry.len() + 1);
        format!("[agents.a]\nTOOLS\n[\n{}]\n", format!("{entry},").repeat(count))
    };
    let files = [
        list("\"x\"").replace("TOOLS\n", "tools = "),
        list("\"y\"").replace("TOOLS\n", "availableSubAgents = "),
        list("\".md\"").replace("TOOLS\n", "editableFileSuffixes = "),
        (0..40_000).map(|at| format!("k{at} = 1\n")).collect(),
        format!("[agents.a]\n{}", (0..40_000).map(|at| format!("k{at} = 1\n")).collect::<String>()),
        format!("a = {}1{}", "[".repeat(500_000), "]".repeat(500_000)),
        format!("{}x = 1", "a.".repeat(500_000)),
    ];
    for file in files {
        let (_, time) = test_support::cpu_time(|| holds(&file, &registry));
        assert!(time < std::time::Duration::from_secs(5), "{time:?} for {}…", &file[..40]);
    }
    let read = read(&format!("[agents.a]\ntools = [{}]\n", "\"x\",".repeat(5000)));
    assert_eq!(read.notices.len(), 101);
    assert!(read.notices[100].text.contains("4902 more"), "{}", read.notices[100].text);
}
