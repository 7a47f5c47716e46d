//! Steps for common subjects, and general steps for all others. The first step is to note the goal, which is done as soon
//! as the plan is made.

use super::super::{
    terms::has_any,
    utterance::{Language, Utterance},
};

/// Four or five concrete steps for a subject.
pub(super) fn steps(subject: &str, language: Language) -> Vec<String> {
    let utterance = Utterance::new(subject);
    let topic = TOPICS.iter().find(|topic| has_any(utterance.all(), topic.words));
    let (english, chinese) = topic.map_or((GENERAL.0, GENERAL.1), |topic| (topic.english, topic.chinese));
    let goal = language.pick(format!("Note the goal: {subject}"), format!("明确目标：{subject}"));
    let rest = language.pick(english, chinese).iter().map(|step| (*step).to_owned());
    std::iter::once(goal).chain(rest).collect()
}

struct Topic {
    words: &'static str,
    english: &'static [&'static str],
    chinese: &'static [&'static str],
}

const GENERAL: (&[&str], &[&str]) = (
    &[
        "List what is needed and what is missing",
        "Do the part everything else depends on",
        "Do the rest in order of importance",
        "Check the result against the goal",
    ],
    &[
        "列出需要的东西和还缺的东西",
        "先完成其他部分都依赖的那一步",
        "按重要程度完成其余部分",
        "对照目标检查结果",
    ],
);

const TOPICS: &[Topic] = &[
    Topic {
        words: "
            wedding, party, birthday, event, celebration, dinner party, reunion, conference, 婚礼, 聚会,
            派对, 生日, 活动, 年会, 聚餐, 会议",
        english: &[
            "Fix the date, the place and the budget",
            "Write the guest list and send the invitations",
            "Arrange food, drinks and music",
            "Go through the day hour by hour and hand out tasks",
        ],
        chinese: &[
            "确定日期、地点和预算",
            "列出宾客名单并发出邀请",
            "安排餐饮和音乐",
            "按小时过一遍当天流程并分工",
        ],
    },
    Topic {
        words: "
            trip, travel, journey, vacation, holiday, holidays, tour, visit, honeymoon, road trip,
            travelling, 旅行, 旅游, 出游, 行程, 度假, 自驾, 旅程, 出差, 假期, 蜜月, 之旅, 游",
        english: &[
            "Choose the dates and set a budget",
            "Book transport and a place to stay",
            "Pick the sights and sort them by day",
            "Pack and check tickets and documents",
        ],
        chinese: &["选定日期和预算", "预订交通和住宿", "挑选景点并按天排好", "收拾行李，检查票和证件"],
    },
    Topic {
        words: "
            exam, exams, study, studies, learn, learning, course, test, semester, language, revision,
            homework, 考试, 学习, 复习, 学, 课程, 备考, 期末, 考研, 功课",
        english: &[
            "List the topics and mark the weak ones",
            "Share the topics out over the days that are left",
            "Study one block a day and write a short summary",
            "Try a past paper and repeat what went wrong",
        ],
        chinese: &[
            "列出知识点并标出薄弱的",
            "把内容分配到剩下的日子里",
            "每天学一块并写一段小结",
            "做一套练习题，重温做错的部分",
        ],
    },
    Topic {
        words: "
            move, moving, house, apartment, flat, renovation, kitchen, garden, 搬家, 装修, 新家, 房子,
            公寓, 花园",
        english: &[
            "Set the date and the budget",
            "List what to keep, to buy and to give away",
            "Get offers for the heavy work and book one",
            "Prepare room by room, the least used first",
        ],
        chinese: &[
            "定下日期和预算",
            "列出要留、要买和要送走的东西",
            "为重活询价并预订",
            "一间一间地准备，最少用的先来",
        ],
    },
    Topic {
        words: "
            project, launch, release, website, app, software, startup, business, product, migration,
            campaign, refactoring, 项目, 发布, 上线, 网站, 软件, 创业, 产品, 开发, 重构, 应用",
        english: &[
            "Write down who it is for and when it is good enough",
            "Cut the work into pieces of a day or two",
            "Build the smallest version that can be tried",
            "Show it to somebody, fix the worst, and publish",
        ],
        chinese: &[
            "写下为谁而做、做到什么程度算好",
            "把工作拆成一两天一块",
            "先做出可以试用的最小版本",
            "给人试用，改掉最大的问题再发布",
        ],
    },
    Topic {
        words: "
            essay, report, presentation, paper, thesis, article, book, talk, speech, blog, 论文, 报告,
            演讲, 文章, 写作, 书, 演示文稿, 博客",
        english: &[
            "Say the main point in one sentence",
            "Collect the material and the sources",
            "Write the outline, then a rough draft",
            "Revise, shorten, and let somebody read it",
        ],
        chinese: &["用一句话说清主要观点", "收集材料和来源", "列提纲并写出草稿", "修改、精简，再请人看一遍"],
    },
    Topic {
        words: "
            meal, meals, dinner, lunch, cooking, menu, diet, breakfast, recipes, 晚餐, 午餐, 做饭, 菜单,
            饮食, 食谱, 早餐, 三餐, 晚饭",
        english: &[
            "Count the people and ask what they cannot eat",
            "Choose the dishes",
            "Write the shopping list and shop",
            "Cook in the order of the longest dish first",
        ],
        chinese: &["数清人数，问清忌口", "选定菜品", "写购物清单并采购", "先做耗时最长的菜"],
    },
    Topic {
        words: "
            marathon, workout, fitness, training, exercise, weight, gym, health, running, 马拉松, 健身,
            锻炼, 减肥, 运动, 训练, 跑步, 健康",
        english: &[
            "Measure where you stand today",
            "Choose three fixed days a week",
            "Begin easy and add a little every week",
            "Look at the progress after four weeks and adjust",
        ],
        chinese: &["测一测现在的状态", "每周固定三天", "从轻松开始，每周加一点", "四周后看看进展并调整"],
    },
    Topic {
        words: "budget, money, savings, finances, debt, taxes, 预算, 理财, 存钱, 财务, 还债, 报税",
        english: &[
            "List what comes in and what goes out",
            "Mark what can be spared",
            "Set a sum to put aside each month",
            "Check the numbers at the end of the month",
        ],
        chinese: &["列出收入和支出", "标出可以省下的", "定好每月存下的数目", "月底核对一次"],
    },
    Topic {
        words: "
            day, week, weekend, month, morning, evening, afternoon, tomorrow, today, year, 一天, 一周,
            周末, 这周, 下周, 本周, 明天, 今天, 上午, 下午, 晚上, 一个月, 下个月, 一年, 日程",
        english: &[
            "Write down what has a fixed time",
            "Choose the three things that matter most",
            "Give each of them a quiet block of time",
            "Leave room for rest and for surprises",
        ],
        chinese: &[
            "写下有固定时间的事",
            "选出最重要的三件事",
            "给每件事留一段安静的时间",
            "留出休息和应付意外的余地",
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_name_the_subject_and_fit_the_topic() {
        let trip = steps("trip to Kyoto", Language::English);
        assert_eq!(trip[0], "Note the goal: trip to Kyoto");
        assert!((3..=5).contains(&trip.len()) && trip[2].contains("transport"));
        assert!(steps("婚礼", Language::Chinese)[2].contains("宾客"));
        assert!(
            TOPICS.iter().all(|topic| topic.english.len() == topic.chinese.len() && topic.english.len() <= 4)
        );
    }
}
