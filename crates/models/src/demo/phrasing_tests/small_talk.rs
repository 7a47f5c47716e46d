//! What the demo model understands as greetings and thanks.

use super::all_mean;

#[test]
fn greetings_are_understood_in_both_languages() {
    all_mean(
        "greeting",
        &[
            "hi",
            "Hello!",
            "hey there",
            "Good morning",
            "hello again",
            "Hi, how are you?",
            "good evening!",
            "howdy",
            "Hey",
            "greetings",
            "what's up?",
            "nice to meet you",
            "hello there my friend",
            "is anyone there?",
            "How are you doing today?",
            "yo",
            "hiya",
            "good day",
            "bye",
            "See you later!",
            "good night",
        ],
    );
    all_mean(
        "greeting",
        &[
            "你好",
            "您好！",
            "你好呀",
            "嗨",
            "哈喽",
            "早上好",
            "晚上好！",
            "大家好",
            "在吗？",
            "你好啊，朋友",
            "下午好",
            "早",
            "早安",
            "好久不见",
            "你最近好吗",
            "很高兴认识你",
            "喂",
            "有人吗",
            "再见",
            "拜拜",
            "晚安",
            "hello 你好",
        ],
    );
}

#[test]
fn thanks_are_understood_in_both_languages() {
    all_mean(
        "thanks",
        &[
            "thanks",
            "Thank you!",
            "thanks a lot",
            "Thank you very much",
            "thx",
            "many thanks",
            "cheers",
            "Great, thanks!",
            "thank you so much for your help",
            "much appreciated",
            "I appreciate it",
            "well done",
            "nice work, thank you",
            "ty",
            "Perfect, thank you",
            "thanks for the answer",
            "good job",
            "ok thanks",
            "that was helpful",
            "thanks again",
            "Awesome, thanks a million",
        ],
    );
    all_mean(
        "thanks",
        &[
            "谢谢",
            "谢谢你！",
            "多谢",
            "非常感谢",
            "太感谢了",
            "谢谢你的帮助",
            "好的，谢谢",
            "谢啦",
            "感谢",
            "辛苦了",
            "谢谢您的回答",
            "十分感谢",
            "谢了",
            "干得好",
            "做得不错",
            "太棒了，谢谢",
            "你真好，谢谢",
            "謝謝",
            "真是帮了大忙",
            "知道了，谢谢",
            "感谢你的耐心解答",
        ],
    );
}
