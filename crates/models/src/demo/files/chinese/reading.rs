//! Chinese requests to read a file or to list a folder.

use super::{
    super::{
        pattern::Piece::{Any, File, Fill, Folder, Number},
        request::{Rule, make},
    },
    ALL, INSIDE,
};

const SHOW: &str = "列出, 列一下, 列, 显示, 看看, 看一下, 查看, 展示, 给我看, 浏览, 打开, 瞧瞧, 看, 列举, 列出来, 展示一下, 显示一下, 查看一下, 列个, 说说, 告诉我";
const FILES: &str = "文件, 文件列表, 内容, 东西, 文件和文件夹, 目录, 文件夹, 清单, 文件清单, 文件和目录, 文件名, 目录内容, 文档";
const READ: &str = "读, 读取, 读一下, 读读, 打开, 看看, 看一下, 查看, 显示, 展示, 给我看, 念, 念一下, 阅读, 瞧瞧, 看, 输出, 打印, 查看一下, 打开一下, 显示一下, 读给我听, 念给我听, 给我看看, 读出, 展示一下, 读取一下";
const CONTENT: &str = "内容, 全文, 文本, 的, 里, 里面, 中, 全部, 所有, 文件, 一下, 完整, 原文";

pub(super) const RULES: &[Rule] = &[
    // Reading.
    Rule {
        pattern: &[
            Any(READ),
            File,
            Fill("文件, 的, 里, 中"),
            Any("前, 最前, 最前面, 的前, 开头"),
            Number,
            Any("行"),
        ],
        make: make::read_beginning,
    },
    Rule {
        pattern: &[
            File,
            Fill("文件, 的"),
            Any("前, 最前面"),
            Number,
            Any("行"),
            Fill("是什么, 写了什么, 内容"),
        ],
        make: make::read_beginning,
    },
    Rule {
        pattern: &[
            Any(READ),
            File,
            Fill("文件, 的, 里, 中"),
            Any("第, 从第, 的第"),
            Number,
            Fill("行"),
            Any("到, 至, 到第, 至第"),
            Number,
            Any("行"),
        ],
        make: make::read,
    },
    Rule {
        pattern: &[Any(READ), File, Fill("文件, 的, 里, 中"), Any("第, 的第"), Number, Any("行")],
        make: make::read,
    },
    Rule {
        pattern: &[
            Any(READ),
            Fill("一下, 下, 文件, 这个, 我的, 那个"),
            File,
            Fill(CONTENT),
            Fill("给我看, 给我, 给我听, 出来, 是什么"),
        ],
        make: make::read,
    },
    Rule {
        pattern: &[
            Any("把, 将"),
            File,
            Fill(CONTENT),
            Any(
                "读出来, 打开, 显示出来, 念给我听, 读给我听, 读一下, 给我看, 给我看看, 打印出来, 展示出来, 显示一下, 念出来, 读一读, 输出, 打开看看, 发给我看, 读给我, 打开给我看, 展示给我, 显示给我看, 列出来, 贴出来",
            ),
        ],
        make: make::read,
    },
    Rule {
        pattern: &[
            Fill("文件"),
            File,
            Fill("这个文件, 文件"),
            Any(
                "里写了什么, 里面写了什么, 里有什么, 里面有什么, 是什么内容, 说了什么, 的内容是什么, 里面是什么, 写了什么, 里有什么内容, 里面有什么内容, 中有什么, 的内容, 里写的是什么, 里说了什么, 里面写的是什么, 里面都有什么, 有什么内容, 里的内容是什么, 写的什么, 写的是什么, 里写着什么, 里面写着什么, 有哪些内容, 里都写了什么",
            ),
        ],
        make: make::read,
    },
    // Listing.
    Rule {
        pattern: &[
            Any(SHOW),
            Fill(ALL),
            Any("文件, 文件列表, 文件和文件夹, 文件清单, 文件和目录, 目录内容, 文件夹内容, 文件名"),
            Fill("有哪些, 吧, 出来"),
        ],
        make: make::list,
    },
    Rule {
        pattern: &[
            Any(SHOW),
            Folder,
            Fill(INSIDE),
            Fill(ALL),
            Fill("有, 有哪些, 有什么, 都有哪些, 都有什么"),
            Any(FILES),
            Fill("出来"),
        ],
        make: make::list,
    },
    Rule {
        pattern: &[
            Any(SHOW),
            Folder,
            Fill(INSIDE),
            Any("有什么, 有哪些东西, 有些什么, 都有什么, 有哪些文件, 都有哪些文件, 有什么文件, 有啥"),
        ],
        make: make::list,
    },
    Rule { pattern: &[Any(SHOW), Folder], make: make::list },
    Rule {
        pattern: &[
            Fill("在, 看看, 告诉我"),
            Folder,
            Fill(INSIDE),
            Any(
                "有什么, 有哪些文件, 有什么文件, 有哪些东西, 有什么东西, 都有什么, 有些什么, 都有哪些文件, 有多少文件, 都有什么文件, 有几个文件, 有哪些内容, 有什么内容, 放了什么, 是什么, 有哪些文件和文件夹, 包含什么, 包含哪些文件, 有啥",
            ),
        ],
        make: make::list,
    },
    Rule {
        pattern: &[
            Fill("看看, 告诉我, 现在, 都, 这里, 你"),
            Any(
                "有哪些文件, 有什么文件, 都有哪些文件, 都有什么文件, 能看到哪些文件, 能看到什么文件, 看到哪些文件, 可以看到哪些文件, 有多少文件",
            ),
        ],
        make: make::list,
    },
    Rule {
        pattern: &[
            Any("把, 将"),
            Folder,
            Fill(INSIDE),
            Fill(ALL),
            Fill(FILES),
            Any("列出来, 列一下, 显示出来, 展示出来, 列给我看, 都列出来, 全部列出来, 列出"),
        ],
        make: make::list,
    },
    Rule {
        pattern: &[
            Any("把, 将"),
            Fill(ALL),
            Any("文件, 文件名, 文件列表"),
            Any("列出来, 都列出来, 列一下, 列给我看, 显示出来"),
        ],
        make: make::list,
    },
];
