//! Sentences that are not understood, and the subjects of those that are.

use super::{about, none_means_anything};

#[test]
fn other_english_sentences_are_not_understood() {
    none_means_anything(&[
        "What time does the shop close?",
        "Do you have time tomorrow?",
        "Write a poem about time",
        "How long does the flight to Tokyo take?",
        "I had a great time in Paris",
        "What is time?",
        "What time should I wake up?",
        "The plan was approved yesterday",
        "I have a plan",
        "Plan B is better",
        "We made a plan for the trip last year",
        "Explain the five-year plan of 1928",
        "My phone plan is too expensive",
        "Show me the plan",
        "Don't plan anything",
        "I plan to leave at five",
        "He asked me a question",
        "He should ask me before he comes",
        "They asked me before they left",
        "Before you go, what is 2 + 2?",
        "Who approved the budget?",
        "Don't leave without me",
        "What can I do about my headache?",
        "Who is the president of France?",
        "Write a hello world program in C",
        "Thanks to him we lost the game, why?",
        "Hello, write me a poem about the sea",
        "Translate good morning into Japanese",
        "Which tools do I need to fix a bike?",
        "What does 你好 mean?",
        "Train a model on my data",
        "Sort these numbers: 3, 1, 2",
        "What is the capital of Peru?",
        "Give me some time",
        "Summarise this article for me",
        "asdf qwer zxcv",
        "",
        "???",
        "Is the weather nice in Berlin today?",
        "Can you do my homework?",
        "what day works for you",
        "what time did you get up",
        "time flies",
        "set a timer for five minutes",
        "what is the best time to visit Japan",
        "Remind me tomorrow",
        "the meeting is at what time",
        "what's the date of Easter",
        "Tell me about the Marshall Plan",
        "who planned this",
        "my plans changed",
        "I like your plan",
        "plane tickets to Rome",
        "cancel the plan",
        "is there a plan",
        "Ask him before you go",
        "you never ask me",
        "why did you not ask me first",
        "I asked you a question before",
        "my mother asks me before she cooks",
        "permission denied error in bash",
        "how do I ask for a raise",
        "help me write a letter",
        "can you help me with my taxes",
        "what tools did the Romans use",
        "who are they",
        "what are your thoughts on Kant",
        "Use a model of the atom to explain light",
        "hey, fix this bug",
        "thanks, now write a test",
        "how are airplanes built",
        "good morning in French",
        "add 2 and 3",
        "connect the dots",
    ]);
}

#[test]
fn other_chinese_sentences_are_not_understood() {
    none_means_anything(&[
        "超市几点关门",
        "你有时间吗",
        "给我一点时间",
        "写一首关于时间的诗",
        "飞到东京要多长时间",
        "会议几点开始？",
        "时间就是金钱",
        "这个计划很好",
        "计划赶不上变化",
        "我们的计划被取消了",
        "我计划去北京",
        "计划生育是什么",
        "他做了一个计划",
        "公司安排我出差",
        "他问我一个问题",
        "他走之前问我要了电话",
        "老师问我为什么迟到",
        "吃饭前要洗手",
        "我同意你的看法",
        "谁批准了这个预算？",
        "今天天气怎么样",
        "做蛋糕需要什么工具",
        "法国总统是谁",
        "谢谢用英语怎么说",
        "你好，帮我写一首诗",
        "你好世界用 C 怎么写",
        "训练一个识别猫的模型",
        "把这段话翻译成英文",
        "三加五等于几",
        "帮我总结这篇文章",
        "我该做什么才能睡好",
        "秘鲁的首都是哪里",
        "写一个排序算法",
        "我喜欢吃苹果",
        "昨天我去了上海",
        "你几点睡觉",
        "火车几点到",
        "现在去来得及吗",
        "花多长时间",
        "时间过得真快",
        "明天几点开会",
        "你有什么计划",
        "计划经济是什么",
        "取消计划",
        "他的安排很满",
        "帮我做饭",
        "帮我写代码",
        "做一个网页",
        "列出步骤一的内容是什么",
        "他问我几岁",
        "别人问我的时候我很紧张",
        "出门前记得关灯",
        "睡觉前喝牛奶好吗",
        "经理批准了",
        "请问厕所在哪里",
        "模型是什么意思",
        "飞机模型怎么做",
        "用 Python 写一个模型",
        "谁是李白",
        "这是什么花",
        "你吃了什么",
        "你怎么看这件事",
        "你觉得怎么样",
        "感谢信怎么写",
        "再见用日语怎么说",
    ]);
}

#[test]
fn the_subject_is_kept_in_the_persons_words() {
    about("Plan my trip to Kyoto, Osaka and Nara, please!", "trip to Kyoto, Osaka and Nara");
    about("I have an exam next week, make me a plan", "exam next week");
    about("Make me a study plan for the physics exam", "physics exam");
    about("I move next month and need a plan", "I move next month");
    about("plan my week. I have two exams, by the way.", "week");
    about("帮我计划一次京都旅行", "京都旅行");
    about("做个计划，我要准备面试", "面试");
    about("first ask me, then delete the folder", "delete the folder");
    about("我需要一份健身计划", "健身");
    about("我下周要考试，帮我做个计划", "下周要考试");
    about("what time is it in Tokyo?", "Tokyo");
    about("现在乌兰巴托几点", "乌兰巴托");
    about("ask me before you delete the old logs", "delete the old logs");
    about("Don't delete the logs without asking me", "delete the logs");
    about("Delete the old logs, but ask me first", "Delete the old logs");
    about("Before you send the mail, ask me", "send the mail");
    about("删除文件之前先问我", "删除文件");
    about("先问我再删除文件", "删除文件");
    about("未经我允许不得修改数据库", "修改数据库");
    about("Ask me before you delete the logs. They are large.", "delete the logs");
    about("ask me first", "");
}
