//! What the demo model understands as "ask me a question".

use super::all_mean;

#[test]
fn ask_me_a_question_is_understood_in_english() {
    all_mean(
        "ask_question",
        &[
            "ask me a question",
            "Ask me a question.",
            "Please ask me a question",
            "ask me something",
            "Could you ask me something?",
            "Ask me anything",
            "can you ask me a question please",
            "ask me a simple question",
            "Ask me some questions",
            "ask me a few questions",
            "just ask me a question",
            "let me choose",
            "Let me pick one",
            "give me a choice",
            "give me some options to choose from",
            "quiz me",
            "ask for my input",
            "Ask me for some input, please",
            "ask me to choose a color",
            "Would you ask me one question?",
            "I want you to ask me a question",
            "ask me another question",
            "give me a question",
        ],
    );
}

#[test]
fn ask_me_a_question_is_understood_in_chinese() {
    all_mean(
        "ask_question",
        &[
            "问我一个问题",
            "请问我一个问题",
            "问我个问题吧",
            "你可以问我一个问题吗",
            "向我提问",
            "请向我提一个问题",
            "给我提个问题",
            "随便问我一个问题",
            "问我点什么",
            "问我几个问题",
            "让我选择",
            "让我选一个颜色",
            "给我几个选项",
            "给我一个选择",
            "考考我",
            "征求我的意见",
            "再问我一个问题",
            "现在问我一个问题",
            "麻烦你问我一个问题",
            "让我做个选择吧",
            "问我问题",
        ],
    );
}
