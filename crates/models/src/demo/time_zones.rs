//! Places in requests for the time, and their IANA time zones.

use std::ops::Range;

use super::{
    terms::starts_any,
    utterance::{Unit, Utterance},
};

/// A time zone in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedZone {
    /// The words that name the place.
    pub(super) name: String,
    pub(super) zone: String,
    /// The units of the name.
    pub(super) units: Range<usize>,
}

/// The first place among `units`.
pub(super) fn find(utterance: &Utterance, units: &[Unit]) -> Option<NamedZone> {
    (0..units.len()).find_map(|start| {
        let rest = &units[start..];
        let (length, zone) = named(rest).or_else(|| Some((1, iana_name(utterance, rest)?)))?;
        let name = utterance.quote(&rest[..length]).to_owned();
        Some(NamedZone { name, zone, units: start..start + length })
    })
}

/// The longest name wins: New York before York.
fn named(units: &[Unit]) -> Option<(usize, String)> {
    let found = PLACES.iter().filter_map(|(zone, names)| Some((starts_any(units, names)?, *zone)));
    found.max_by_key(|(length, _)| *length).map(|(length, zone)| (length, zone.to_owned()))
}

/// An IANA name such as `Asia/Tokyo`, with its capitals corrected.
fn iana_name(utterance: &Utterance, units: &[Unit]) -> Option<String> {
    let word = utterance.quote(units.first().map(std::slice::from_ref)?);
    let (area, city) = word.split_once('/')?;
    let areas = [
        "Africa",
        "America",
        "Antarctica",
        "Asia",
        "Atlantic",
        "Australia",
        "Europe",
        "Indian",
        "Pacific",
        "Etc",
    ];
    let area = areas.iter().find(|known| known.eq_ignore_ascii_case(area))?;
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).collect::<String>())
            .unwrap_or_default()
    };
    let city: Vec<String> =
        city.split('/').map(|part| part.split('_').map(capital).collect::<Vec<_>>().join("_")).collect();
    Some(format!("{area}/{}", city.join("/")))
}

const PLACES: &[(&str, &str)] = &[
    ("UTC", "utc, gmt, greenwich, zulu, 世界时, 协调世界时, 格林威治, 格林尼治"),
    (
        "Asia/Shanghai",
        "
        beijing, peking, shanghai, shenzhen, guangzhou, chengdu, hangzhou, wuhan, nanjing, chongqing,
        xian, tianjin, suzhou, china, 北京, 上海, 深圳, 广州, 成都, 杭州, 武汉, 南京, 重庆, 西安, 天津,
        苏州, 中国, 国内",
    ),
    ("Asia/Urumqi", "urumqi, 乌鲁木齐"),
    ("Asia/Hong_Kong", "hong kong, hongkong, 香港"),
    ("Asia/Macau", "macau, macao, 澳门"),
    ("Asia/Taipei", "taipei, taiwan, 台北, 台湾"),
    ("Asia/Tokyo", "tokyo, osaka, kyoto, japan, 东京, 大阪, 京都, 日本"),
    ("Asia/Seoul", "seoul, busan, korea, south korea, 首尔, 釜山, 韩国"),
    ("Asia/Pyongyang", "pyongyang, 平壤"),
    ("Asia/Singapore", "singapore, 新加坡"),
    ("Asia/Kuala_Lumpur", "kuala lumpur, malaysia, 吉隆坡, 马来西亚"),
    ("Asia/Bangkok", "bangkok, thailand, 曼谷, 泰国"),
    ("Asia/Ho_Chi_Minh", "hanoi, saigon, ho chi minh, ho chi minh city, vietnam, 河内, 胡志明市, 越南"),
    ("Asia/Jakarta", "jakarta, indonesia, 雅加达, 印尼, 印度尼西亚"),
    ("Asia/Manila", "manila, philippines, the philippines, 马尼拉, 菲律宾"),
    (
        "Asia/Kolkata",
        "
        delhi, new delhi, mumbai, bombay, bangalore, bengaluru, kolkata, calcutta, chennai, hyderabad,
        india, 新德里, 德里, 孟买, 班加罗尔, 加尔各答, 印度",
    ),
    ("Asia/Kathmandu", "kathmandu, nepal, 加德满都, 尼泊尔"),
    ("Asia/Dhaka", "dhaka, bangladesh, 达卡, 孟加拉国"),
    ("Asia/Colombo", "colombo, sri lanka, 科伦坡, 斯里兰卡"),
    ("Asia/Karachi", "karachi, lahore, islamabad, pakistan, 卡拉奇, 伊斯兰堡, 巴基斯坦"),
    ("Asia/Tashkent", "tashkent, 塔什干"),
    ("Asia/Almaty", "almaty, astana, kazakhstan, 阿拉木图, 阿斯塔纳, 哈萨克斯坦"),
    ("Asia/Dubai", "dubai, abu dhabi, 迪拜, 阿布扎比, 阿联酋"),
    ("Asia/Riyadh", "riyadh, saudi arabia, 利雅得, 沙特, 沙特阿拉伯"),
    ("Asia/Qatar", "doha, qatar, 多哈, 卡塔尔"),
    ("Asia/Tehran", "tehran, iran, 德黑兰, 伊朗"),
    ("Asia/Baghdad", "baghdad, iraq, 巴格达, 伊拉克"),
    ("Asia/Jerusalem", "jerusalem, tel aviv, israel, 耶路撒冷, 特拉维夫, 以色列"),
    ("Europe/Istanbul", "istanbul, ankara, turkey, 伊斯坦布尔, 安卡拉, 土耳其"),
    ("Europe/Moscow", "moscow, st petersburg, saint petersburg, russia, 莫斯科, 圣彼得堡, 俄罗斯"),
    (
        "Europe/London",
        "
        london, manchester, edinburgh, england, scotland, britain, uk, the uk, united kingdom, 伦敦,
        曼彻斯特, 爱丁堡, 英国",
    ),
    ("Europe/Dublin", "dublin, ireland, 都柏林, 爱尔兰"),
    ("Europe/Paris", "paris, lyon, marseille, france, 巴黎, 里昂, 马赛, 法国"),
    (
        "Europe/Berlin",
        "berlin, munich, hamburg, frankfurt, cologne, germany, 柏林, 慕尼黑, 汉堡, 法兰克福, 德国",
    ),
    ("Europe/Madrid", "madrid, barcelona, spain, 马德里, 巴塞罗那, 西班牙"),
    ("Europe/Lisbon", "lisbon, porto, portugal, 里斯本, 葡萄牙"),
    ("Europe/Rome", "rome, milan, venice, italy, 罗马, 米兰, 威尼斯, 意大利"),
    ("Europe/Amsterdam", "amsterdam, rotterdam, netherlands, the netherlands, holland, 阿姆斯特丹, 荷兰"),
    ("Europe/Brussels", "brussels, belgium, 布鲁塞尔, 比利时"),
    ("Europe/Zurich", "zurich, geneva, switzerland, 苏黎世, 日内瓦, 瑞士"),
    ("Europe/Vienna", "vienna, austria, 维也纳, 奥地利"),
    ("Europe/Prague", "prague, czech republic, 布拉格, 捷克"),
    ("Europe/Warsaw", "warsaw, poland, 华沙, 波兰"),
    ("Europe/Budapest", "budapest, hungary, 布达佩斯, 匈牙利"),
    ("Europe/Athens", "athens, greece, 雅典, 希腊"),
    ("Europe/Stockholm", "stockholm, sweden, 斯德哥尔摩, 瑞典"),
    ("Europe/Oslo", "oslo, norway, 奥斯陆, 挪威"),
    ("Europe/Copenhagen", "copenhagen, denmark, 哥本哈根, 丹麦"),
    ("Europe/Helsinki", "helsinki, finland, 赫尔辛基, 芬兰"),
    ("Europe/Kyiv", "kyiv, kiev, ukraine, 基辅, 乌克兰"),
    ("Europe/Bucharest", "bucharest, romania, 布加勒斯特, 罗马尼亚"),
    ("Atlantic/Reykjavik", "reykjavik, iceland, 雷克雅未克, 冰岛"),
    ("Africa/Cairo", "cairo, egypt, 开罗, 埃及"),
    ("Africa/Johannesburg", "johannesburg, cape town, south africa, 约翰内斯堡, 开普敦, 南非"),
    ("Africa/Lagos", "lagos, nigeria, 拉各斯, 尼日利亚"),
    ("Africa/Nairobi", "nairobi, kenya, 内罗毕, 肯尼亚"),
    ("Africa/Casablanca", "casablanca, morocco, 卡萨布兰卡, 摩洛哥"),
    (
        "America/New_York",
        "
        new york, new york city, nyc, boston, washington, washington dc, philadelphia, miami, atlanta,
        detroit, est, eastern time, 纽约, 波士顿, 华盛顿, 费城, 迈阿密, 亚特兰大, 美东",
    ),
    ("America/Chicago", "chicago, houston, dallas, austin, central time, 芝加哥, 休斯顿, 达拉斯"),
    ("America/Denver", "denver, mountain time, 丹佛"),
    ("America/Phoenix", "phoenix, arizona, 凤凰城"),
    (
        "America/Los_Angeles",
        "
        los angeles, la, san francisco, sf, san diego, seattle, portland, las vegas, california,
        silicon valley, pst, pacific time, 洛杉矶, 旧金山, 圣地亚哥, 西雅图, 拉斯维加斯, 加州, 硅谷,
        美西",
    ),
    ("America/Anchorage", "anchorage, alaska, 安克雷奇, 阿拉斯加"),
    ("Pacific/Honolulu", "honolulu, hawaii, 火奴鲁鲁, 檀香山, 夏威夷"),
    ("America/Toronto", "toronto, montreal, ottawa, 多伦多, 蒙特利尔, 渥太华"),
    ("America/Vancouver", "vancouver, 温哥华"),
    ("America/Mexico_City", "mexico city, mexico, 墨西哥城, 墨西哥"),
    ("America/Bogota", "bogota, colombia, 波哥大, 哥伦比亚"),
    ("America/Lima", "lima, peru, 利马, 秘鲁"),
    ("America/Santiago", "santiago, chile, 智利"),
    ("America/Argentina/Buenos_Aires", "buenos aires, argentina, 布宜诺斯艾利斯, 阿根廷"),
    (
        "America/Sao_Paulo",
        "sao paulo, são paulo, rio, rio de janeiro, brazil, 圣保罗, 里约, 里约热内卢, 巴西",
    ),
    ("Australia/Sydney", "sydney, canberra, 悉尼, 堪培拉"),
    ("Australia/Melbourne", "melbourne, 墨尔本"),
    ("Australia/Brisbane", "brisbane, 布里斯班"),
    ("Australia/Adelaide", "adelaide, 阿德莱德"),
    ("Australia/Perth", "perth, 珀斯"),
    ("Pacific/Auckland", "auckland, wellington, new zealand, 奥克兰, 惠灵顿, 新西兰"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(text: &str) -> Option<String> {
        let utterance = Utterance::new(text);
        find(&utterance, utterance.all()).map(|place| place.zone)
    }

    #[test]
    fn places_are_found_in_both_languages_and_as_zone_names() {
        assert_eq!(zone("time in New York now").as_deref(), Some("America/New_York"));
        assert_eq!(zone("现在東京几点").as_deref(), Some("Asia/Tokyo"));
        assert_eq!(zone("now in europe/berlin").as_deref(), Some("Europe/Berlin"));
        assert_eq!(zone("America/new_york").as_deref(), Some("America/New_York"));
        assert_eq!(zone("either/or"), None);
        assert_eq!(zone("what time is it"), None);
    }
}
