//! Chinese requests to change or create a file.

use super::{
    super::{
        pattern::Piece::{Any, File, Fill, Quote, Text},
        request::{Rule, make},
    },
    INSIDE,
};

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
];
