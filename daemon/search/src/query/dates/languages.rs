//! The words of dates in languages other than English, as data.
//!
//! In a pattern, `COUNT`, `UNIT`, `DAY`, `MONTH` and `YEAR` match a value, and `|` separates
//! alternatives. A pattern that ends with `?` is also a word of another language: inside a text, it
//! is a date only if the text is in the pattern's language. The apostrophe and the hyphen separate
//! words. A month without a day is not a date, because many months are also other words (`mars`,
//! `mayo`).

use crate::{query::dates::calendar::Unit, text::language::Language};

pub(super) struct DateLanguage {
    pub(super) language: Language,
    /// Units relative to now (yesterday): the unit, how many units back it is, and its patterns.
    pub(super) relative: &'static [(Unit, i64, &'static str)],
    /// The patterns for a time `COUNT` units ago.
    pub(super) ago: &'static str,
    /// The last `COUNT` units, up to now.
    pub(super) latest: &'static str,
    /// A day of a month.
    pub(super) days: &'static str,
    /// The year that may follow a day of a month.
    pub(super) years: &'static str,
    pub(super) units: &'static [(Unit, &'static str)],
    /// The numbers from 1 on. Commas separate the numbers, and spaces the forms of a number.
    pub(super) counts: &'static str,
    /// The months, in the same notation as `counts`.
    pub(super) months: &'static str,
}

pub(super) const LANGUAGES: &[DateLanguage] = &[
    DateLanguage {
        language: Language::GERMAN,
        relative: &[
            (Unit::Day, 0, "heute|heute morgen|heute früh|heute abend|heute nachmittag"),
            (Unit::Day, 1, "gestern|gestern morgen|gestern früh|gestern abend|gestern nachmittag"),
            (Unit::Day, 2, "vorgestern"),
            (Unit::Week, 0, "diese woche|dieser woche"),
            (Unit::Week, 1, "letzte woche|letzter woche|letzten woche|vergangene woche"),
            (Unit::Week, 1, "vergangener woche|vergangenen woche|vorige woche|voriger woche"),
            (Unit::Month, 0, "dieser monat|diesen monat|diesem monat"),
            (Unit::Month, 1, "letzter monat|letzten monat|vergangenen monat|vorigen monat"),
            (Unit::Year, 0, "dieses jahr|diesem jahr"),
            (Unit::Year, 1, "letztes jahr|letzten jahr|vergangenes jahr|voriges jahr"),
        ],
        ago: "vor COUNT UNIT",
        latest: "letzten COUNT UNIT|vergangenen COUNT UNIT",
        days: "am DAY MONTH|vom DAY MONTH|den DAY MONTH|DAY MONTH",
        years: "YEAR",
        units: &[
            (Unit::Minute, "minute minuten"),
            (Unit::Hour, "stunde stunden"),
            (Unit::Day, "tag tage tagen"),
            (Unit::Week, "woche wochen"),
            (Unit::Month, "monat monate monaten"),
            (Unit::Year, "jahr jahre jahren"),
        ],
        counts: "ein eine einem einen einer, zwei, drei, vier, fünf, sechs, sieben, acht, neun, zehn",
        months: "januar jänner, februar, märz maerz, april, mai, juni, juli, august, september, \
            oktober, november, dezember",
    },
    DateLanguage {
        language: Language::FRENCH,
        relative: &[
            (Unit::Day, 0, "aujourd hui|ce matin|cet après midi|ce soir"),
            (Unit::Day, 1, "hier ?|hier matin|hier après midi|hier soir"),
            (Unit::Day, 2, "avant hier"),
            (Unit::Week, 0, "cette semaine"),
            (
                Unit::Week,
                1,
                "la semaine dernière|semaine dernière|la semaine passée|semaine passée",
            ),
            (Unit::Month, 0, "ce mois|ce mois ci"),
            (Unit::Month, 1, "le mois dernier|mois dernier|le mois passé|mois passé"),
            (Unit::Year, 0, "cette année"),
            (Unit::Year, 1, "l année dernière|année dernière|l an dernier"),
        ],
        ago: "il y a COUNT UNIT|y a COUNT UNIT",
        latest: "COUNT derniers UNIT|COUNT dernières UNIT",
        days: "le DAY MONTH|du DAY MONTH|DAY MONTH",
        years: "YEAR",
        units: &[
            (Unit::Minute, "minute minutes"),
            (Unit::Hour, "heure heures"),
            (Unit::Day, "jour jours"),
            (Unit::Week, "semaine semaines"),
            (Unit::Month, "mois"),
            (Unit::Year, "an ans année années"),
        ],
        counts: "un une, deux, trois, quatre, cinq, six, sept, huit, neuf, dix",
        months: "janvier, février, mars, avril, mai, juin, juillet, août, septembre, octobre, \
            novembre, décembre",
    },
    DateLanguage {
        language: Language::SPANISH,
        relative: &[
            (Unit::Day, 0, "hoy|esta mañana|esta tarde"),
            (Unit::Day, 1, "ayer|ayer por la mañana|ayer por la tarde|ayer por la noche|anoche"),
            (Unit::Day, 2, "anteayer|antier|antes de ayer"),
            (Unit::Week, 0, "esta semana"),
            (Unit::Week, 1, "la semana pasada|semana pasada|la última semana|la semana anterior"),
            (Unit::Month, 0, "este mes"),
            (Unit::Month, 1, "el mes pasado|mes pasado|el último mes|el mes anterior"),
            (Unit::Year, 0, "este año"),
            (Unit::Year, 1, "el año pasado|año pasado"),
        ],
        ago: "hace COUNT UNIT|COUNT UNIT atrás",
        latest: "últimos COUNT UNIT|últimas COUNT UNIT",
        days: "el DAY de MONTH|del DAY de MONTH|DAY de MONTH|el DAY MONTH|DAY MONTH",
        years: "YEAR|de YEAR|del YEAR",
        units: &[
            (Unit::Minute, "minuto minutos"),
            (Unit::Hour, "hora horas"),
            (Unit::Day, "día días"),
            (Unit::Week, "semana semanas"),
            (Unit::Month, "mes meses"),
            (Unit::Year, "año años"),
        ],
        counts: "un una uno, dos, tres, cuatro, cinco, seis, siete, ocho, nueve, diez",
        months: "enero, febrero, marzo, abril, mayo, junio, julio, agosto, septiembre setiembre, \
            octubre, noviembre, diciembre",
    },
    DateLanguage {
        language: Language::ITALIAN,
        relative: &[
            (Unit::Day, 0, "oggi|stamattina|stasera"),
            (Unit::Day, 1, "ieri|ieri mattina|ieri pomeriggio|ieri sera"),
            (Unit::Day, 2, "l altro ieri|altro ieri|altroieri|ieri l altro|avantieri"),
            (Unit::Week, 0, "questa settimana"),
            (Unit::Week, 1, "la settimana scorsa|settimana scorsa|la scorsa settimana"),
            (Unit::Week, 1, "scorsa settimana|la settimana passata|settimana passata"),
            (Unit::Month, 0, "questo mese"),
            (Unit::Month, 1, "il mese scorso|mese scorso|lo scorso mese|scorso mese"),
            (Unit::Year, 0, "quest anno"),
            (Unit::Year, 1, "l anno scorso|anno scorso|lo scorso anno"),
        ],
        ago: "COUNT UNIT fa",
        latest: "ultimi COUNT UNIT|ultime COUNT UNIT",
        days: "il DAY MONTH|l DAY MONTH|del DAY MONTH|DAY MONTH",
        years: "YEAR|del YEAR",
        units: &[
            (Unit::Minute, "minuto minuti"),
            (Unit::Hour, "ora ore"),
            (Unit::Day, "giorno giorni"),
            (Unit::Week, "settimana settimane"),
            (Unit::Month, "mese mesi"),
            (Unit::Year, "anno anni"),
        ],
        counts: "un uno una, due, tre, quattro, cinque, sei, sette, otto, nove, dieci",
        months: "gennaio, febbraio, marzo, aprile, maggio, giugno, luglio, agosto, settembre, ottobre, \
            novembre, dicembre",
    },
    DateLanguage {
        language: Language::PORTUGUESE,
        relative: &[
            (Unit::Day, 0, "hoje|hoje de manhã|esta manhã|hoje à tarde"),
            (Unit::Day, 1, "ontem|ontem de manhã|ontem à tarde|ontem à noite"),
            (Unit::Day, 2, "anteontem|antes de ontem"),
            (Unit::Week, 0, "esta semana|essa semana|nesta semana|nessa semana"),
            (Unit::Week, 1, "a semana passada|semana passada|na semana passada|última semana"),
            (Unit::Month, 0, "este mês|esse mês|neste mês|nesse mês"),
            (Unit::Month, 1, "o mês passado|mês passado|no mês passado|último mês"),
            (Unit::Year, 0, "este ano|neste ano"),
            (Unit::Year, 1, "o ano passado|ano passado|no ano passado"),
        ],
        ago: "há COUNT UNIT atrás|há COUNT UNIT|faz COUNT UNIT|COUNT UNIT atrás",
        latest: "últimos COUNT UNIT|últimas COUNT UNIT",
        days: "DAY de MONTH|em DAY de MONTH|dia DAY de MONTH|no dia DAY de MONTH",
        years: "YEAR|de YEAR",
        units: &[
            (Unit::Minute, "minuto minutos"),
            (Unit::Hour, "hora horas"),
            (Unit::Day, "dia dias"),
            (Unit::Week, "semana semanas"),
            (Unit::Month, "mês meses"),
            (Unit::Year, "ano anos"),
        ],
        counts: "um uma, dois duas, três, quatro, cinco, seis, sete, oito, nove, dez",
        months: "janeiro, fevereiro, março, abril, maio, junho, julho, agosto, setembro, outubro, \
            novembro, dezembro",
    },
    DateLanguage {
        language: Language::DUTCH,
        relative: &[
            (Unit::Day, 0, "vandaag|vanochtend|vanmorgen|vanmiddag|vanavond"),
            (Unit::Day, 1, "gisteren|gister|gisterochtend|gistermiddag|gisteravond"),
            (Unit::Day, 2, "eergisteren"),
            (Unit::Week, 0, "deze week"),
            (Unit::Week, 1, "vorige week|afgelopen week"),
            (Unit::Month, 0, "deze maand"),
            (Unit::Month, 1, "vorige maand|afgelopen maand"),
            (Unit::Year, 0, "dit jaar"),
            (Unit::Year, 1, "vorig jaar|afgelopen jaar"),
        ],
        ago: "COUNT UNIT geleden",
        latest: "afgelopen COUNT UNIT|laatste COUNT UNIT",
        days: "op DAY MONTH|van DAY MONTH|DAY MONTH",
        years: "YEAR",
        units: &[
            (Unit::Minute, "minuut minuten"),
            (Unit::Hour, "uur uren"),
            (Unit::Day, "dag dagen"),
            (Unit::Week, "week weken"),
            (Unit::Month, "maand maanden"),
            (Unit::Year, "jaar jaren"),
        ],
        counts: "een, twee, drie, vier, vijf, zes, zeven, acht, negen, tien",
        months: "januari, februari, maart, april, mei, juni, juli, augustus, september, oktober, \
            november, december",
    },
    DateLanguage {
        language: Language::RUSSIAN,
        relative: &[
            (Unit::Day, 0, "сегодня|сегодня утром|сегодня вечером"),
            (Unit::Day, 1, "вчера|вчера утром|вчера вечером"),
            (Unit::Day, 2, "позавчера"),
            (Unit::Week, 0, "эта неделя|эту неделю|на этой неделе|этой неделе"),
            (Unit::Week, 1, "прошлая неделя|прошлую неделю|на прошлой неделе|прошлой неделе"),
            (Unit::Month, 0, "этот месяц|в этом месяце|этом месяце"),
            (Unit::Month, 1, "прошлый месяц|в прошлом месяце|прошлом месяце"),
            (Unit::Year, 0, "в этом году"),
            (Unit::Year, 1, "в прошлом году"),
        ],
        ago: "COUNT UNIT назад|UNIT назад",
        latest: "последние COUNT UNIT|за последние COUNT UNIT",
        days: "DAY MONTH",
        years: "YEAR|YEAR года",
        units: &[
            (Unit::Minute, "минута минуту минуты минут"),
            (Unit::Hour, "час часа часов"),
            (Unit::Day, "день дня дней"),
            (Unit::Week, "неделя неделю недели недель"),
            (Unit::Month, "месяц месяца месяцев"),
            (Unit::Year, "год года лет"),
        ],
        counts: "один одна одну, два две, три, четыре, пять, шесть, семь, восемь, девять, десять",
        months: "января, февраля, марта, апреля, мая, июня, июля, августа, сентября, октября, ноября, \
            декабря",
    },
];

/// Chinese and Japanese expressions, which are found inside a text without spaces. Readings in kana
/// that are also other words are not included: `きのう` also means "function".
pub(super) const UNSPACED: &[(Unit, i64, &str)] = &[
    (Unit::Day, 0, "今天 今日 今早 今晚 今朝"),
    (Unit::Day, 1, "昨天 昨日 昨晚 昨夜 昨晩"),
    (Unit::Day, 2, "前天 一昨日 おととい"),
    (Unit::Week, 0, "这周 这星期 这个星期 本周 這週 這星期 這個星期 本週 今週"),
    (Unit::Week, 1, "上周 上星期 上个星期 上週 上個星期 上礼拜 先週"),
    (Unit::Month, 0, "这个月 本月 這個月 今月"),
    (Unit::Month, 1, "上个月 上個月 先月"),
    (Unit::Year, 0, "今年"),
    (Unit::Year, 1, "去年 昨年"),
];

/// Words that contain an expression of [`UNSPACED`] but are not dates.
pub(super) const NOT_DATES: &[&str] = &["今日头条", "今日頭條", "以前天", "之前天"];

/// The text after the number in a date such as `3天前` (3 days ago).
pub(super) const UNSPACED_AGO: &[(Unit, &str)] = &[
    (Unit::Minute, "分钟前 分鐘前 分前"),
    (Unit::Hour, "小时前 小時前 個小時前 个小时前 時間前"),
    (Unit::Day, "天前 天以前 天之前 日前"),
    (Unit::Week, "周前 週前 个星期前 個星期前 星期前 週間前"),
    (Unit::Month, "个月前 個月前 か月前 ヶ月前 ケ月前 カ月前 ヵ月前 箇月前"),
    (Unit::Year, "年前"),
];
