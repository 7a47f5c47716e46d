//! The demo model delegates: a plain request makes a tree of two levels with parallel agents.

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
