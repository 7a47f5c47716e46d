//! What the demo model understands as a request for sub-agents.

use super::{all_mean, name_of};

#[test]
fn requests_for_sub_agents_are_understood() {
    all_mean(
        "delegate",
        &[
            "Let sub-agents find out the time in three cities.",
            "let subagents do it",
            "show me sub-agents",
            "show how sub agents work",
            "use sub-agents",
            "use several agents for this",
            "can you delegate?",
            "delegate this to sub-agents",
            "please delegate something",
            "demonstrate delegation",
            "show me delegation at work",
            "start two agents",
            "let two agents work at the same time",
            "run agents in parallel",
            "have multiple agents look at the clock",
            "I want to see sub-agents at work",
            "give the work to a team of agents",
            "ask other agents to help",
            "split it between several agents",
            "let agents work together",
            "hand it to helper agents",
        ],
    );
    all_mean(
        "delegate",
        &[
            "让子代理查出三个城市的时间",
            "演示一下子代理",
            "用子代理来做",
            "让子智能体来做",
            "委派给子代理",
            "请委派任务",
            "展示委派",
            "用多个代理",
            "让多个智能体同时工作",
            "让几个代理一起查",
            "分派给代理去做",
            "组一个代理团队",
            "子代理怎么工作，演示一下",
            "我想看子代理工作",
            "能委派吗",
            "能不能用子代理",
            "请用多个智能体完成",
            "把任务委派出去",
            "叫子代理查时间",
            "启动子代理",
        ],
    );
    for text in ["What is a sub-agent?", "什么是子代理？", "what does delegation mean?"] {
        assert_ne!(name_of(text).map(|(name, _)| name), Some("delegate"), "{text}");
    }
}
