//! What the demo model understands as questions about connecting a model and about itself.

use super::all_mean;

#[test]
fn connecting_a_model_is_understood_in_english() {
    all_mean(
        "connect",
        &[
            "how do I connect a real model?",
            "How can I use a real model",
            "connect a real model",
            "How do I set up OpenAI?",
            "where do I put my API key",
            "how to use Ollama with this",
            "can I use a local model?",
            "I want to use my own model",
            "How do I switch to a real LLM?",
            "how do i configure the model",
            "use GPT instead of the demo",
            "Please tell me how to connect LM Studio",
            "how can I add an OpenAI key?",
            "What do I need to connect a language model?",
            "is there a way to use llama.cpp?",
            "how do I plug in my own LLM",
            "set up a model",
            "Where do I enter the API key?",
            "How do I change the model?",
            "how do we hook up vLLM",
            "I would like to use ChatGPT here",
        ],
    );
}

#[test]
fn connecting_a_model_is_understood_in_chinese() {
    all_mean(
        "connect",
        &[
            "怎么连接真正的模型？",
            "如何接入真实的模型",
            "怎样使用大模型",
            "怎么配置 OpenAI",
            "API key 填在哪里？",
            "在哪里设置密钥",
            "怎么用本地模型",
            "如何连接 Ollama？",
            "我想用自己的模型",
            "怎么换成真正的模型",
            "请问怎么切换模型？",
            "能用 GPT 吗",
            "如何设置 OPENAI_API_KEY",
            "怎么才能用上真正的大语言模型",
            "怎么添加模型",
            "教我接入 vLLM",
            "我要连接 LM Studio，怎么设置？",
            "可以接 llama.cpp 吗？",
            "怎么更换模型",
            "連接真實模型的方法是什麼",
            "怎么对接 OpenAI 兼容的接口",
        ],
    );
}

#[test]
fn who_are_you_is_understood_in_english() {
    all_mean(
        "identity",
        &[
            "who are you",
            "Who are you?",
            "what are you",
            "What's your name?",
            "are you a robot?",
            "Are you a real person?",
            "are you ChatGPT",
            "Which model are you?",
            "what model is this",
            "Introduce yourself, please",
            "tell me about yourself",
            "Who made you?",
            "Am I talking to a human?",
            "are you an AI?",
            "what should I call you",
            "Is this a real AI?",
            "hello, who are you?",
            "What language model are you using?",
            "could you tell me who you are",
            "who am I talking to",
            "are you real",
        ],
    );
}

#[test]
fn who_are_you_is_understood_in_chinese() {
    all_mean(
        "identity",
        &[
            "你是谁",
            "你是谁？",
            "您是哪位",
            "你叫什么名字",
            "你叫什么？",
            "请介绍一下你自己",
            "自我介绍一下",
            "你是机器人吗",
            "你是真人吗？",
            "你是人工智能吗",
            "你是什么模型",
            "你是哪个模型？",
            "你好，你是谁呀",
            "你是谁开发的",
            "我该怎么称呼你",
            "你是 AI 吗",
            "你是ChatGPT吗？",
            "你到底是谁",
            "我在跟谁说话？",
            "你用的是什么模型",
            "你是人还是机器",
            "请做个自我介绍",
        ],
    );
}
