//! Compares the speed of `grep-files`, rules included, with the program `rg`. It is ignored by default, because it measures
//! time: `cargo test --release -p tools -- --ignored --nocapture speed`.

use std::{fs, process::Command, sync::Arc, time::Instant};

use policy::RuleSet;
use protocol::ApprovalMode;
use serde_json::json;

use super::*;
use crate::{erase, testing, typed::Family};

const FOLDERS: usize = 500;
const FILES: usize = 120;
const ROUNDS: usize = 7;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures time, and needs `rg`"]
async fn the_speed_is_that_of_rg() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..FOLDERS * FILES {
        let path = folder.path().join(format!("d{}/f{number}.rs", number / FILES));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let needle = if number % 1000 == 0 { "needle_in_the_hay" } else { "hay" };
        let text: String = (0..40).map(|line| format!("let value_{line} = {needle}({number});\n")).collect();
        fs::write(path, text).unwrap();
    }
    let rules = RuleSet::new(ApprovalMode::default(), []);
    let mut files = testing::files_in(folder.path());
    files.may_read = Arc::new(move |path| rules.may_read(path));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let ctx = ToolCtx { files: files.clone(), ..testing::ctx(&Default::default()) };
        let input = json!({ "pattern": "needle_\\w+_hay", "output": "files" });
        let found = testing::call_in(ctx, erase(GrepFiles, Family::Host), input).await.unwrap();
        ours.push(begun.elapsed());
        assert_eq!(found.as_str().unwrap().lines().count(), FOLDERS * FILES / 1000);
        let begun = Instant::now();
        let rg =
            Command::new("rg").args(["-l", "needle_\\w+_hay"]).current_dir(folder.path()).output().unwrap();
        theirs.push(begun.elapsed());
        assert_eq!(String::from_utf8(rg.stdout).unwrap().lines().count(), FOLDERS * FILES / 1000);
    }
    ours.sort();
    theirs.sort();
    let ratio = ours[ROUNDS / 2].as_secs_f64() / theirs[ROUNDS / 2].as_secs_f64();
    println!(
        "grep-files over {} files: best {:?}, median {:?}; rg: best {:?}, median {:?}; {ratio:.2} times",
        FOLDERS * FILES,
        ours[0],
        ours[ROUNDS / 2],
        theirs[0],
        theirs[ROUNDS / 2]
    );
    assert!(ratio <= 1.5, "{ratio:.2} times rg");
}
