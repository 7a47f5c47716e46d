//! The patterns of Chinese requests about files.

use super::{
    pattern::Piece::{Any, Dir, File, Fill, Folder, Kind, Number, Quote, Text},
    request::{Rule, make},
};

const SHOW: &str = "列出, 列一下, 列, 显示, 看看, 看一下, 查看, 展示, 给我看, 浏览, 打开, 瞧瞧, 看, 列举, 列出来, 展示一下, 显示一下, 查看一下, 列个, 说说, 告诉我";
const INSIDE: &str = "里, 里面, 下, 下面, 中, 内, 里边, 当中, 的, 里头, 内部, 之中";
const ALL: &str = "所有, 全部, 的, 都, 一共, 所有的, 全部的, 每个";
const FILES: &str = "文件, 文件列表, 内容, 东西, 文件和文件夹, 目录, 文件夹, 清单, 文件清单, 文件和目录, 文件名, 目录内容, 文档";
const READ: &str = "读, 读取, 读一下, 读读, 打开, 看看, 看一下, 查看, 显示, 展示, 给我看, 念, 念一下, 阅读, 瞧瞧, 看, 输出, 打印, 查看一下, 打开一下, 显示一下, 读给我听, 念给我听, 给我看看, 读出, 展示一下, 读取一下";
const CONTENT: &str = "内容, 全文, 文本, 的, 里, 里面, 中, 全部, 所有, 文件, 一下, 完整, 原文";
const SEARCH: &str = "搜索, 查找, 找, 搜, 找一下, 搜一下, 查一下, 搜索一下, 查找一下, 找出, 搜寻, 寻找, 检索, 找找, 查, 搜搜, 找到, 查询";
const THE_FILES: &str = "文件, 所有文件, 全部文件, 代码, 源代码, 源码, 这些文件, 我的文件, 文档, 所有的文件, 笔记, 所有文档, 项目文件, 项目代码";
const MENTION: &str = "包含, 提到, 有, 含有, 用到, 出现, 出现了, 提到了, 包含了, 使用了, 用了, 写了, 里有, 里包含, 里提到, 里提到了, 里面有, 中有, 中包含, 中提到, 中提到了, 里出现了, 里写了, 含, 引用了, 里用到, 里用了, 里面提到了, 里面写了";
const SUMMARISE: &str = "总结, 概括, 归纳, 摘要, 概述, 小结, 简述, 总结一下, 概括一下, 归纳一下, 概述一下, 简单总结, 简要总结, 简单概括, 介绍一下, 总结总结, 简要概括, 梳理, 梳理一下, 简述一下, 提炼, 小结一下, 简单总结一下, 简单介绍, 简单介绍一下";
const BY_AGENT: &str = "让子代理, 用子代理, 请子代理, 叫子代理, 委派子代理, 让子智能体, 用子智能体, 委派给子代理, 让一个子代理, 派子代理, 派一个子代理, 来, 去, 交给子代理, 让代理, 委派, 帮我, 请, 找个子代理";
const DIRECTLY: &str = "你自己, 亲自, 自己, 不要委派, 直接, 不用子代理, 你, 来, 请";
const ITS: &str = "的, 里, 里面, 中, 下, 所有, 全部, 文件, 内容, 代码, 文档, 都, 是, 主要, 下面";
const TO: &str = "改成, 替换成, 换成, 替换为, 改为, 换为, 改作, 都改成, 全部改成, 全改成, 都换成, 全部换成, 全部替换成, 全部替换为, 都替换成, 都替换为, 修改为, 修改成, 变成, 更改为, 统一改成, 统统改成, 都改为, 全部改为, 全换成, 更新为";
const END: &str = "的末尾, 末尾, 的结尾, 结尾, 的最后, 最后, 后面, 的后面, 里, 里面, 中, 的最后面, 最后面, 尾部, 的尾部, 的底部, 底部, 最后一行, 的最后一行后, 的最后一行之后, 最下面, 的最下面, 的末尾处, 文件末尾, 的文件末尾, 上";
const START: &str = "的开头, 开头, 的最前面, 最前面, 的前面, 前面, 的第一行, 第一行, 的顶部, 顶部, 的最上面, 最上面, 头部, 的头部, 的开始, 开始处, 文件开头, 的起始处";
const ADD: &str = "
    加, 添加, 追加, 加上, 写上, 插入, 加入, 补上, 补充, 添上, 加一行, 添加一行, 追加一行, 插入一行, 写一行, 加上一行, 写上一行, 加一句, 添加一句, 追加一句, 加上一句, 补一行, 再加一行, 加入一行, 加一行字, 添加文字, 添加内容, 追加内容, 加一条, 添加一条, 加个, 加一个, 新增一行, 新增, 记一条, 记下, 写入, 写下, 补充一行, 补充一句, 写上一句, 写一句, 增加一行, 增加, 添一行, 追加文字, 插入一句";
const COLON: &str = "内容是, 内容为, 内容, 是, 为, 一行, 文字, 写着";
const CREATE: &str = "创建, 新建, 建, 生成, 写, 建立, 创建一下, 做, 建个, 建一个, 新增, 创建个, 弄, 来, 写个, 写一个, 生成一个, 做一个, 开";
const A: &str = "一个, 个, 一份, 份, 新的, 新, 空的, 空白的, 空白, 空, 名为, 叫, 叫做, 名叫, 文本, 文件, 的, 文档, 命名为, 文件名为, 名字叫, 文件名叫";
const SAYING: &str = "
    内容是, 内容为, 写上, 里面写, 里面写上, 写入, 包含, 内容写, 里面写着, 写着, 内容写上, 并写入, 并写上, 里写, 里写上, 写, 里面放, 内容如下, 里面的内容是, 其中写, 其内容为, 里面是, 放入, 并在里面写, 并在里面写上, 并写, 里面要写, 内容就写, 里面写入, 然后写入, 然后写上, 并加入, 内容设为";
const INTO: &str = "
    写入, 写进, 写到, 保存到, 存到, 保存为, 存为, 存进, 存入, 保存成, 存成, 保存在, 记到, 写入到, 写在, 放进, 放到, 保存进, 写到文件, 写入文件, 保存到文件, 写进文件, 存到文件, 写入新文件, 保存到新文件, 写到新文件, 另存为, 输出到, 存在, 记录到, 写进新文件";
const REMOVE: &str = "删掉, 删除, 去掉, 移除, 删, 去除, 清除, 除去, 删去, 抹掉, 拿掉, 剔除";
const THE_TEXT: &str = "这个词, 这句话, 这一行, 这行, 这段, 一词, 这几个字, 这些字, 的内容, 这个字, 字样, 这句, 全部, 所有, 都, 文字, 这段话";

pub(super) const RULES: &[Rule] = &[
    // Changes.
    Rule {
        pattern: &[
            Any("把, 将"),
            File,
            Fill(INSIDE),
            Fill("所有, 全部, 的, 每个, 所有的, 文字, 单词"),
            Text,
            Fill("全部, 都, 全, 这个词, 一律, 统统"),
            Any(TO),
            Text,
        ],
        make: make::replace,
    },
    Rule {
        pattern: &[
            Fill("在, 编辑, 修改, 打开"),
            File,
            Fill(INSIDE),
            Fill("请, 帮我, 并, 然后"),
            Any("把, 将"),
            Fill("所有, 全部, 的, 所有的"),
            Text,
            Fill("全部, 都, 全"),
            Any(TO),
            Text,
        ],
        make: make::replace,
    },
    Rule {
        pattern: &[
            Any("替换, 修改, 更改"),
            File,
            Fill(INSIDE),
            Fill("所有, 全部, 的"),
            Text,
            Any("为, 成, 改成, 换成"),
            Text,
        ],
        make: make::replace,
    },
    Rule {
        pattern: &[
            Any("用"),
            Text,
            Any("替换, 代替, 取代, 替换掉, 替代"),
            File,
            Any("里的, 中的, 里面的, 的, 里, 中"),
            Fill("所有, 全部, 的"),
            Text,
        ],
        make: make::replace_reversed,
    },
    Rule {
        pattern: &[Any("把, 将"), Text, Any("在"), File, Fill(INSIDE), Any(TO), Text],
        make: make::replace,
    },
    Rule {
        pattern: &[
            Any("把, 将"),
            File,
            Fill(INSIDE),
            Fill("所有, 全部, 的, 所有的, 文字"),
            Text,
            Fill(THE_TEXT),
            Any(REMOVE),
        ],
        make: make::remove,
    },
    Rule {
        pattern: &[
            Any("从, 在"),
            File,
            Fill(INSIDE),
            Any(REMOVE),
            Fill("所有, 全部, 的, 所有的"),
            Text,
            Fill(THE_TEXT),
        ],
        make: make::remove,
    },
    Rule {
        pattern: &[Any(REMOVE), File, Any("里的, 中的, 里面的, 里, 中"), Fill("所有, 全部, 的"), Text],
        make: make::remove,
    },
    Rule {
        pattern: &[
            Any("在, 给, 往, 向, 到, 于"),
            File,
            Any(START),
            Fill("处, 再, 请, 帮我, 位置"),
            Any(ADD),
            Fill(COLON),
            Text,
        ],
        make: make::prepend,
    },
    Rule {
        pattern: &[
            Any("把, 将"),
            Text,
            Any("加到, 插入到, 添加到, 写到, 放到, 插到, 写在, 放在, 加在"),
            File,
            Any(START),
        ],
        make: make::prepend,
    },
    Rule {
        pattern: &[
            Any(CREATE),
            Fill(A),
            File,
            Fill("并, 然后, 在, 其, 它, 里, 里面"),
            Any(SAYING),
            Fill("："),
            Text,
        ],
        make: make::create,
    },
    Rule { pattern: &[Any(CREATE), Fill(A), File, Fill("里, 里面, 中"), Quote], make: make::create },
    Rule {
        pattern: &[
            Any("把, 将"),
            Text,
            Any(
                "加到, 追加到, 添加到, 加在, 附加到, 补充到, 加进, 添加进, 加入, 追加进, 加入到, 写到, 写在, 放到",
            ),
            File,
            Any(
                "的末尾, 末尾, 的结尾, 结尾, 的最后, 最后, 后面, 的后面, 的最后面, 尾部, 的底部, 最后一行, 最下面, 的最下面, 底部, 文件末尾",
            ),
        ],
        make: make::append,
    },
    Rule {
        pattern: &[
            Any("把, 将"),
            Text,
            Any("加到, 追加到, 添加到, 加在, 附加到, 补充到, 加进, 添加进, 加入, 追加进, 加入到"),
            File,
            Fill("里, 里面, 中, 去, 里去"),
        ],
        make: make::append,
    },
    Rule {
        pattern: &[Any("把, 将"), Text, Any(INTO), Fill(A), File, Fill("里, 里面, 中, 去, 里去")],
        make: make::create,
    },
    Rule {
        pattern: &[
            Any("保存, 写入, 写"),
            Quote,
            Any("到, 进, 为, 成, 入"),
            Fill(A),
            File,
            Fill("里, 里面, 中"),
        ],
        make: make::create,
    },
    Rule {
        pattern: &[Any("创建, 新建, 建立, 建, 新建一个, 创建一个, 生成, 建个, 弄"), Fill(A), File],
        make: make::create,
    },
    Rule {
        pattern: &[
            Any("在, 给, 往, 向, 到, 于, 编辑"),
            File,
            Fill(END),
            Fill("处, 再, 请, 帮我, 位置, 并"),
            Any(ADD),
            Fill(COLON),
            Text,
        ],
        make: make::append,
    },
    Rule {
        pattern: &[File, Fill(END), Fill("再, 请, 帮我"), Any(ADD), Fill(COLON), Text],
        make: make::append,
    },
    // Summaries.
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
