//! Chinese requests to find files by name and to search their text.

use super::{
    super::{
        pattern::Piece::{Any, Dir, File, Fill, Folder, Kind, Quote, Text},
        request::{Rule, make},
    },
    ALL, INSIDE,
};

const SEARCH: &str = "搜索, 查找, 找, 搜, 找一下, 搜一下, 查一下, 搜索一下, 查找一下, 找出, 搜寻, 寻找, 检索, 找找, 查, 搜搜, 找到, 查询";
const THE_FILES: &str = "文件, 所有文件, 全部文件, 代码, 源代码, 源码, 这些文件, 我的文件, 文档, 所有的文件, 笔记, 所有文档, 项目文件, 项目代码";
const MENTION: &str = "包含, 提到, 有, 含有, 用到, 出现, 出现了, 提到了, 包含了, 使用了, 用了, 写了, 里有, 里包含, 里提到, 里提到了, 里面有, 中有, 中包含, 中提到, 中提到了, 里出现了, 里写了, 含, 引用了, 里用到, 里用了, 里面提到了, 里面写了";

pub(super) const RULES: &[Rule] = &[
    // A quoted text.
    Rule {
        pattern: &[
            Any(SEARCH),
            Fill("一下, 所有, 文字, 单词, 字符串, 关键词, 关键字"),
            Quote,
            Fill("这个词, 一词, 在哪, 在哪里, 出现在哪里, 的位置, 出现的地方, 这个单词"),
        ],
        make: make::search_quote,
    },
    // Kinds and names of files.
    Rule {
        pattern: &[
            Any(
                "找, 找到, 找出, 查找, 列出, 搜索, 显示, 有哪些, 有没有, 找一下, 查一下, 看看有哪些, 列一下, 搜, 有多少, 列出来, 寻找, 看看, 都有哪些, 查看",
            ),
            Fill(
                "所有, 全部, 的, 全部的, 所有的, 匹配, 名字匹配, 文件名匹配, 以, 后缀为, 扩展名为, 扩展名是, 后缀是, 类型为, 一下, 名为",
            ),
            Kind,
            Fill("结尾, 的, 格式, 类型, 文件, 文档, 有哪些, 在哪里, 在哪, 后缀, 脚本, 代码, 源文件, 结尾的"),
        ],
        make: make::find,
    },
    Rule {
        pattern: &[
            Fill("在"),
            Folder,
            Fill(INSIDE),
            Fill("有哪些, 有没有, 找, 找到, 找出, 查找, 列出, 搜索, 都有哪些"),
            Fill(ALL),
            Kind,
            Fill("的, 格式, 文件, 文档, 有哪些, 类型"),
        ],
        make: make::find,
    },
    Rule {
        pattern: &[
            Fill("所有, 全部, 的"),
            Kind,
            Fill("文件, 文档, 的, 格式"),
            Any("有哪些, 在哪里, 在哪, 都有哪些, 在哪儿, 有几个"),
        ],
        make: make::find,
    },
    Rule {
        pattern: &[
            Fill("文件"),
            File,
            Fill("到底, 放, 存, 被, 保存"),
            Any(
                "在哪里, 在哪, 在哪儿, 在什么地方, 在哪个文件夹, 在哪个目录, 在哪个文件夹里, 在哪个目录里, 在哪个目录下, 放在哪里, 放在哪, 存在哪里, 放哪了, 放哪儿了, 哪去了, 在哪个目录下面",
            ),
        ],
        make: make::find,
    },
    Rule {
        pattern: &[
            Any(
                "找, 找到, 找出, 查找, 找一下, 有没有, 搜索, 寻找, 查一下, 看看有没有, 定位, 找找, 是否有, 搜一下",
            ),
            Fill("一个, 名为, 名字叫, 名叫, 叫, 叫做, 所有, 文件名为, 文件, 文件名是, 名字是"),
            File,
            Fill("的, 文件, 这个文件, 在哪里, 在哪, 在哪儿, 放在哪"),
        ],
        make: make::find,
    },
    // Searching text.
    Rule {
        pattern: &[
            Any(
                "哪些文件, 哪个文件, 有哪些文件, 什么文件, 哪些文档, 有没有文件, 哪些代码, 看看哪些文件, 找出哪些文件, 哪几个文件, 查一下哪些文件, 找找哪些文件, 哪份文件, 查查哪些文件, 看看哪个文件, 查一下哪个文件",
            ),
            Fill("里, 里面, 中, 都, 的, 内容"),
            Any(MENTION),
            Fill("了"),
            Text,
            Fill("这个词, 一词, 的, 这几个字, 字样, 这个单词"),
        ],
        make: make::search,
    },
    Rule {
        pattern: &[
            Text,
            Fill("这个词, 一词, 这几个字, 都, 这个单词"),
            Any(
                "在哪些文件里, 在哪些文件中, 出现在哪些文件里, 出现在哪些文件中, 在哪个文件里, 在哪些文件里出现, 在哪些文件里出现过, 在哪些文件中出现, 在哪个文件里出现, 出现在哪个文件里, 在哪些文件里有, 出现在哪些文件, 在哪个文件中",
            ),
        ],
        make: make::search,
    },
    Rule {
        pattern: &[
            Any(SEARCH),
            Fill("所有, 全部, 一下, 内容, 里, 里面"),
            Any("包含, 提到, 含有, 出现, 有, 用到, 写了, 包括"),
            Fill("了"),
            Text,
            Any("的文件, 的所有文件, 的文档, 的代码, 这个词的文件, 一词的文件, 的全部文件"),
        ],
        make: make::search,
    },
    Rule {
        pattern: &[
            Any("在, 从, 到"),
            Any(THE_FILES),
            Fill(INSIDE),
            Any(SEARCH),
            Fill("所有, 全部, 一下"),
            Text,
        ],
        make: make::search,
    },
    Rule {
        pattern: &[
            Any("在, 从, 到"),
            Dir,
            Fill(INSIDE),
            Fill("所有, 文件, 的, 里"),
            Any(SEARCH),
            Fill("所有, 全部, 一下"),
            Text,
        ],
        make: make::search,
    },
    Rule {
        pattern: &[Any("在, 从, 到"), File, Fill(INSIDE), Any(SEARCH), Fill("所有, 全部, 一下"), Text],
        make: make::search,
    },
    Rule {
        pattern: &[Any(SEARCH), File, Any("里的, 中的, 里面的, 里有没有, 中有没有"), Text],
        make: make::search,
    },
    Rule {
        pattern: &[
            File,
            Any("里有没有, 中有没有, 里面有没有, 里是否有, 有没有提到, 里是否提到, 有没有包含, 里有没有提到"),
            Text,
        ],
        make: make::search,
    },
    Rule {
        pattern: &[Any(SEARCH), Any(THE_FILES), Any("里的, 中的, 里面的, 里, 中"), Text],
        make: make::search,
    },
    Rule {
        pattern: &[
            Quote,
            Fill("这个词, 一词"),
            Any("在哪里, 在哪, 出现在哪里, 在哪儿, 在哪里出现, 在哪里用到, 写在哪里"),
        ],
        make: make::search,
    },
    Rule {
        pattern: &[
            Any("搜索, 查找, 搜, 搜一下, 搜索一下, 查找一下, 检索"),
            Fill("一下, 文字, 单词, 字符串, 关键词, 关键字"),
            Text,
            Fill("这个词, 一词, 这个单词"),
        ],
        make: make::search_words,
    },
];
