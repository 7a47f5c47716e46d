//! The demo model delegates: a plain request makes a tree of two levels with parallel agents.

use std::fs;

use testkit::{
    TestApp,
    models::demo::{Demo, Pace},
};

use super::cast::nested;

#[tokio::test]
async fn a_plain_request_shows_a_tree_of_two_levels_with_agents_side_by_side() {
    for request in ["Let sub-agents find out the time in three cities.", "让子代理查出三个城市的时间"]
    {
        let app = TestApp::builder().model(Demo::new(Pace::AT_ONCE)).start().await;
        let message = app.send(request).await.message().await;
        let calls: Vec<String> = message.tool_parts().map(|part| part.call.to_string()).collect();
        assert_eq!(calls.len(), 2, "{message:#?}");
        let deep = nested(&message, &calls[0]);
        let below: Vec<String> = deep.tool_parts().map(|part| part.call.to_string()).collect();
        assert_eq!(below.len(), 2, "{deep:#?}");
        for call in &below {
            let agent = nested(&deep, call);
            assert_eq!(agent.metadata.as_ref().unwrap()["agent"]["depth"], 2);
            assert!(agent.tool_parts().count() == 1 && !agent.text().is_empty(), "{agent:#?}");
        }
        assert!(message.text().lines().count() >= 3, "{}", message.text());
    }
}

async fn demo() -> TestApp {
    let app = TestApp::builder().model(Demo::new(Pace::AT_ONCE)).start().await;
    fs::create_dir_all(app.workdir()).unwrap();
    fs::write(app.workdir().join("notes.txt"), "tea\nmilk\n").unwrap();
    fs::write(app.workdir().join("guide.md"), "# Guide\n\nRead me first. Then act.\n").unwrap();
    app
}

#[tokio::test]
async fn it_lists_reads_searches_and_summarises_files_without_asking() {
    let app = demo().await;
    for (said, wanted) in [
        ("list the files", "guide.md"),
        ("读一下 notes.txt", "tea\nmilk"),
        ("which files mention milk?", "notes.txt"),
        ("找出所有 markdown 文件", "guide.md"),
        ("summarise guide.md", "It begins: \"Read me first. Then act.\""),
        ("read nothing.txt", "there is no such file"),
        ("read ../secret.txt", "that place is not open to me"),
    ] {
        let text = app.chat(said).send(said).await.text().await;
        assert!(text.contains(wanted), "{said}: {text}");
    }
}

#[tokio::test]
async fn it_changes_a_file_only_after_the_person_allowed_it() {
    let app = demo().await;
    let file = app.workdir().join("notes.txt");
    let mut turn = app.send("replace tea with coffee in notes.txt").await;
    turn.next_approval().await.deny("keep it").await;
    assert!(turn.text().await.contains("You did not allow it"), "{}", turn.text().await);
    assert_eq!(fs::read_to_string(&file).unwrap(), "tea\nmilk\n");
    let mut turn = app.chat("again").send("把 notes.txt 里的 tea 改成 coffee").await;
    turn.next_approval().await.approve().await;
    assert!(turn.text().await.contains("完成了"), "{}", turn.text().await);
    assert_eq!(fs::read_to_string(&file).unwrap(), "coffee\nmilk\n");
    let mut turn = app.chat("line").send("add a line \"bread\" to notes.txt").await;
    turn.next_approval().await.approve().await;
    turn.end().await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "coffee\nmilk\nbread\n");
    let mut turn = app.chat("new").send("create todo.txt with buy milk").await;
    turn.next_approval().await.approve().await;
    turn.end().await;
    assert_eq!(fs::read_to_string(app.workdir().join("todo.txt")).unwrap(), "buy milk\n");
}

#[tokio::test]
async fn it_delegates_the_summary_of_a_folder() {
    for said in ["Summarise this folder", "总结这个文件夹"] {
        let app = demo().await;
        let message = app.send(said).await.message().await;
        let call = message.tool_parts().next().unwrap().call.to_string();
        let agent = nested(&message, &call);
        assert_eq!(agent.metadata.as_ref().unwrap()["agent"]["name"], "document");
        assert!(agent.tool_parts().count() >= 3, "{agent:#?}");
        assert!(
            message.text().contains("Guide") && message.text().contains("notes.txt"),
            "{}",
            message.text()
        );
    }
}
