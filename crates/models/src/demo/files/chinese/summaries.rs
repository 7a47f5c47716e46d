//! Chinese requests to summarise a file or a folder.

use super::super::{
    pattern::Piece::{Any, File, Fill, Folder},
    request::{Rule, make},
};

const SUMMARISE: &str = "总结, 概括, 归纳, 摘要, 概述, 小结, 简述, 总结一下, 概括一下, 归纳一下, 概述一下, 简单总结, 简要总结, 简单概括, 介绍一下, 总结总结, 简要概括, 梳理, 梳理一下, 简述一下, 提炼, 小结一下, 简单总结一下, 简单介绍, 简单介绍一下";
const BY_AGENT: &str = "让子代理, 用子代理, 请子代理, 叫子代理, 委派子代理, 让子智能体, 用子智能体, 委派给子代理, 让一个子代理, 派子代理, 派一个子代理, 来, 去, 交给子代理, 让代理, 委派, 帮我, 请, 找个子代理";
const DIRECTLY: &str = "你自己, 亲自, 自己, 不要委派, 直接, 不用子代理, 你, 来, 请";
const ITS: &str = "的, 里, 里面, 中, 下, 所有, 全部, 文件, 内容, 代码, 文档, 都, 是, 主要, 下面";

pub(super) const RULES: &[Rule] = &[
    Rule {
        pattern: &[Any(DIRECTLY), Fill(DIRECTLY), Any(SUMMARISE), Fill("下"), Folder, Fill(ITS)],
        make: make::summarise_directly,
    },
    Rule {
        pattern: &[Fill(BY_AGENT), Any(SUMMARISE), Fill("下"), Folder, Fill(ITS)],
        make: make::summarise_folder,
    },
    Rule { pattern: &[Fill(BY_AGENT), Any(SUMMARISE), Fill("下"), File, Fill(ITS)], make: make::summarise },
    Rule {
        pattern: &[
            Fill(BY_AGENT),
            Any("把, 将, 给, 对, 为"),
            Folder,
            Fill(ITS),
            Fill("做, 做个, 做一个, 写, 写个, 写一个, 一个, 一份, 进行, 给, 生成, 出, 个"),
            Any(SUMMARISE),
            Fill("出来, 一下"),
        ],
        make: make::summarise_folder,
    },
    Rule {
        pattern: &[
            Fill(BY_AGENT),
            Any("把, 将, 给, 对, 为"),
            File,
            Fill(ITS),
            Fill("做, 做个, 做一个, 写, 写个, 写一个, 一个, 一份, 进行, 给, 生成, 出, 个"),
            Any(SUMMARISE),
            Fill("出来, 一下"),
        ],
        make: make::summarise,
    },
    Rule {
        pattern: &[
            File,
            Fill("主要, 大概, 这个文件, 里面, 里, 到底, 大致"),
            Any(
                "讲了什么, 讲什么, 讲的是什么, 主要内容是什么, 说的是什么, 的大意, 的摘要, 的主要内容, 的大意是什么, 的要点, 的要点是什么, 的主要内容是什么, 的总结, 的概要, 讲的什么, 是关于什么的, 在讲什么, 讲了些什么",
            ),
        ],
        make: make::summarise,
    },
    Rule {
        pattern: &[
            Folder,
            Fill("主要, 大概, 到底, 大致"),
            Any(
                "是做什么的, 是干什么的, 是关于什么的, 讲了什么, 的摘要, 的总结, 的概要, 的主要内容, 的主要内容是什么, 讲的是什么, 的概况",
            ),
        ],
        make: make::summarise_folder,
    },
    Rule {
        pattern: &[
            Fill("写, 写一个, 做, 生成, 给出, 来"),
            Fill("一个, 一份, 个"),
            File,
            Any("的"),
            Any("摘要, 总结, 概要, 大意, 要点, 小结"),
        ],
        make: make::summarise,
    },
];
