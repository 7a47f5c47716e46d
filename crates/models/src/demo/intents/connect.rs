//! "How do I connect a real model": explains the settings. Other answers end with the same text.

use super::super::{
    intent::Intent,
    reply::Reply,
    terms::ClosedRule,
    utterance::{Language, Utterance},
};

pub(in super::super) const INTENT: Intent = Intent {
    name: "connect",
    understand,
    answer: |context, _| Reply::Say(instructions(context.language)),
    offer: |_, language| Some(offer(language)),
};

const ENGLISH: ClosedRule = ClosedRule {
    needs: &[
        "
        connect, connecting, set up, configure, configuring, use, using, add, adding, plug in, plug,
        hook up, hook, switch, switching, enable, install, get, change, attach, link, choose, select,
        pick, replace, put, enter, set, provide, supply, talk to, need, where does, bring, activate,
        upgrade, swap, work with, paste, run, go, want",
        "
        model, models, llm, llms, api key, openai key, openai, ollama, lm studio, llama.cpp, llama,
        vllm, gpt, chatgpt, real ai, actual ai, openai_api_key, openai_base_url, own key,
        language model, real one",
    ],
    knows: "
        how, do, does, can, could, should, i, we, you, to, a, an, the, my, own, real, actual, proper,
        true, local, language, model, models, ai, key, keys, api, llm, up, in, into, with, of, for,
        instead, instead of, the demo, demo model, this demo, this, here, is there a way,
        is there any way, a way, way, what is the, steps, what do i need, instructions, help me, help,
        explain, it, server, provider, compatible, openai compatible, large, from, different, another,
        better, on, where, which, what, want, would like, need, like, possible, is it, bigger, smarter,
        concertino, be, have, must, setting, settings, variable, variables, environment, your, as, one,
        over, live, out, there, something",
    never: "
        what model are you, which model are you, do you use, are you using, am i using, you run on,
        are you, do you run",
};

const CHINESE: ClosedRule = ClosedRule {
    needs: &[
        "
        连接, 接入, 接上, 连上, 接, 配置, 设置, 使用, 用上, 用, 换, 换成, 切换, 更换, 添加, 填, 填写,
        放, 加, 启用, 安装, 部署, 对接, 改用, 换个, 输入, 调用, 选择, 连, 开启, 装",
        "
        模型, 大模型, 真实模型, 密钥, api key, apikey, key, openai, ollama, lm studio, llama.cpp, vllm,
        gpt, chatgpt, llm, 真正的 ai, 真 ai, 秘钥, openai_api_key, openai_base_url, 真正的人工智能",
    ],
    knows: "
        怎么, 怎么样, 才能, 一个, 个, 真正的, 真正, 真实的, 真实, 真的, 真, 正式的, 正式, 我的,
        我自己的, 自己的, 自己, 本地, 本地的, 本机, 语言, 大语言模型, 大模型, 模型, 的, 到, 成, 上,
        在哪, 在哪里, 哪里, 哪儿, 里, 这里, 方法, 步骤, 教程, 教我, 教, 要, 需要, 应该, 该, 有什么,
        办法, 有没有, 是什么, 什么, 别的, 其他, 另外, 更好的, 更强的, 服务, 服务器, 兼容, 接口, api, ai,
        演示模型, 不用, 把, 让, 来, 去, 能, 会, 想, 我们, 如果, 真人工智能, 通过, 介绍, 进, 和, 还是,
        为, 对, 其它, 不想, 演示, 新, 新的, 为真实, 到真实, concertino, 环境变量, 替换, 有, 下",
    never: "你用的, 你是用, 你用什么, 你使用的, 你用哪, 你在用, 现在用的, 用的是",
};

fn understand(utterance: &Utterance) -> Option<String> {
    utterance.parts().into_iter().any(|part| ENGLISH.accepts(part) || CHINESE.accepts(part)).then(String::new)
}

pub(super) fn instructions(language: Language) -> String {
    language
        .pick(
            "To connect a real model, set these environment variables and start the server again:\n\
             - `OPENAI_API_KEY`: your key, to use OpenAI's models;\n\
             - or `OPENAI_BASE_URL`: the address of any OpenAI-compatible server, such as Ollama, LM Studio, llama.cpp or vLLM \
             (for Ollama: `http://localhost:11434/v1`);\n\
             - `OPENAI_MODEL`: the name of the model.",
            "要连接真正的模型，请设置下面的环境变量，然后重新启动服务：\n\
             - `OPENAI_API_KEY`：你的密钥，用于 OpenAI 的模型；\n\
             - 或者 `OPENAI_BASE_URL`：任何兼容 OpenAI 接口的服务器地址，例如 Ollama、LM Studio、llama.cpp 或 vLLM\
             （Ollama 是 `http://localhost:11434/v1`）；\n\
             - `OPENAI_MODEL`：模型的名字。",
        )
        .to_owned()
}

fn offer(language: Language) -> String {
    language.pick(
        "explain how to connect a real model: \"how do I connect a real model?\"".to_owned(),
        "说明怎样连接真正的模型：“怎么连接真正的模型？”".to_owned(),
    )
}
