//! Words of languages other than English that describe no subject in a query with a date: "was habe
//! ich gestern gemacht" requests all sessions of that day.
//!
//! In a query without a date, these words are ranked like all words.

use std::{collections::HashMap, ops::Range, sync::LazyLock};

use crate::text::{self, is_unspaced, language::Language, language::LanguageSet};

/// Returns the languages in which a folded word describes no subject.
pub(crate) fn languages_with(word: &str) -> LanguageSet {
    WORDS.get(word).copied().unwrap_or_default()
}

/// Returns the ranges of `text`, in Chinese or Japanese, that consist of `dates` and of expressions
/// that describe no subject. Adjacent ranges are joined. A text of more than [`LONGEST`] bytes has
/// no ranges.
pub(crate) fn unspaced_ranges(text: &str, dates: &[Range<usize>]) -> Vec<Range<usize>> {
    if text.is_ascii() || text.len() > LONGEST || !text.contains(is_unspaced) {
        return Vec::new();
    }
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let date = dates.iter().find(|date| date.start == at).map(ExactSizeIterator::len);
        let length = date.unwrap_or_else(|| expression_length(&text[at..], first));
        if length > 0 {
            match ranges.last_mut() {
                Some(last) if last.end == at => last.end += length,
                _ => ranges.push(at..at + length),
            }
        }
        at += length.max(first.len_utf8());
    }
    ranges
}

/// Maximum length, in bytes, of a text that is compared with [`UNSPACED`].
const LONGEST: usize = 600;

/// Returns the length of the longest expression at the start of `text`, or 0.
fn expression_length(text: &str, first: char) -> usize {
    let of_first = EXPRESSIONS.get(&first).into_iter().flatten();
    let found = of_first.filter(|expression| text.starts_with(**expression));
    found.map(|expression| expression.len()).max().unwrap_or_default()
}

static EXPRESSIONS: LazyLock<HashMap<char, Vec<&str>>> = LazyLock::new(|| {
    let mut by_first: HashMap<char, Vec<&str>> = HashMap::new();
    for expression in UNSPACED.split_ascii_whitespace() {
        let first = expression.chars().next().expect("a word is not empty");
        by_first.entry(first).or_default().push(expression);
    }
    by_first
});

static WORDS: LazyLock<HashMap<String, LanguageSet>> = LazyLock::new(|| {
    let mut words: HashMap<String, LanguageSet> = HashMap::new();
    for (language, of_every_day) in EVERY_DAY {
        let all = language.function_words().split_ascii_whitespace();
        for word in all.chain(of_every_day.split_ascii_whitespace()) {
            let languages = words.entry(text::folded(word)).or_default();
            *languages = languages.with(language);
        }
    }
    words
});

/// Words in addition to [`Language::function_words`]: further function words, forms of "do",
/// "work", "happen", "change", "decide" and "learn", and words for sessions.
const EVERY_DAY: [(Language, &str); 7] = [
    (
        Language::GERMAN,
        "alles am bin da daran dein deine denn eigentlich etwas genau habe hast hat hatte hatten im ins man
        mein meine meinen mir mich sein so unser unsere unseren uns war waren wann warum was welche
        welchen welcher welches wer wieso wo woran worden wurde wurden zuletzt
        änderung änderungen angefangen arbeit arbeiten arbeitete begonnen behoben beschlossen
        besprochen entschieden entscheidung entscheidungen erledigt erreicht fertig fortschritt
        fortschritte gearbeitet geändert gebaut gefixt gegangen gelernt gelöst gemacht geschafft
        geschehen getan kaputt lief mache machen machte machten passiert passierte schief
        schiefgegangen sitzung sitzungen tat taten zeig zeige zusammenfassung",
    ),
    (
        Language::FRENCH,
        "ai aije as avais avait avez avions avons avonsnous c ça cela comment d estce était étaient
        fus j l ma mes mon m n notre nos on pourquoi qu quand quel quelle quelles quels quelque quoi
        s t ta tes ton tout toutes tous vos votre y
        ajouté appris arrivé cassé change changé changement changements chose choses construit
        corrigé décidé décision décisions discuté faire fais faisait faisais faisons fait faite
        faites faits fini modifié modifications passé progrès réparé résolu résumé session sessions
        terminé travail travaillais travaillait travaillé travaux",
    ),
    (
        Language::SPANISH,
        "algo a cosas cual cuál cuáles cuándo cómo dónde e era eran estaba estábamos estuve estuvimos
        fue fueron ha han he hemos me mi mis nosotros nuestra nuestro nuestros o os quién te todo
        todas todos tu u yo
        acabamos acabé añadí añadimos aprendí aprendimos arreglado arreglamos arreglé cambiado
        cambiamos cambié cambio cambios cambió corregí corregido corregimos decidí decidido
        decidimos decisión decisiones fallado falló hablamos hacer hacía hacíamos hago haciendo
        hecho hice hicieron hicimos hizo pasado pasó resumen roto rompió sesión sesiones terminé
        terminamos trabajado trabajamos trabajando trabajar trabajé trabajo",
    ),
    (
        Language::ITALIAN,
        "a abbiamo c ci cosa cose cos d dove era erano fu hai hanno ho i in io l mi mia miei mio noi
        nostra nostro o qual quale quali qualcosa quanto se si siamo stata stati stato stavamo stavo
        su ti tu tutte tutti tutto
        aggiunto cambiamenti cambiamento cambiato corretto deciso decisione decisioni discusso
        faccio facendo facevamo facevo fallito fare fatta fatte fatti fatto feci finito imparato
        lavorando lavorato lavoravo lavori lavoro modifiche modificato riassunto riparato risolto
        rotto sessione sessioni successo terminato",
    ),
    (
        Language::PORTUGUESE,
        "a algo aconteceu coisas e ela ele era eram estava estávamos estive eu foi foram fui gente
        há havia isso meu meus minha nós nosso nossa onde qual quais quem tenho temos tinha tudo
        adicionei adicionamos alteração alterações alterado alterei alteramos aprendemos aprendi
        corrigi corrigido corrigimos decidi decidido decidimos decisão decisões discutimos falhou
        fazendo fazer fazia fazíamos feita feito fez fiz fizemos fizeram mudamos mudança mudanças
        mudei mudou quebrou resolvemos resolvi resumo sessão sessões terminamos terminei trabalhado
        trabalhamos trabalhando trabalhar trabalhei trabalho",
    ),
    (
        Language::DUTCH,
        "alles ben er had hadden heb hebben hebt heeft hoe iets is je jij jullie jou me mij mijn ons
        onze u waarom wanneer waren was welk welke werd werden wie
        beslissing beslissingen besloten besproken bezig deden deed doen gebeurd gebeurde gebouwd
        gedaan gefixt gegaan geleerd gemaakt gerepareerd gewerkt gewijzigd kapot klaar opgelost
        samenvatting sessie sessies stuk toegevoegd veranderd veranderingen voortgang werk werkte
        werkten wijzigingen",
    ),
    (
        Language::RUSSIAN,
        "а без бы был была были было в вам вас весь во вот всё все вы где да для до его ее если за и
        из или к как какая какие каким какой каком кто ли мне моей мои мой моя мы на над нам нами
        нас наш не него нет ни но о об он она они от по под почему при про с со так там то тоже у чего
        чем что чтобы эти это я
        делал делала делали делать добавил добавили закончил закончили изменения изменил изменила
        изменили изменилось исправил исправила исправили итог итоги написал написали обсудили
        обсуждали произошло работа работал работала работали работе работу решение решения решил
        решила решили сделал сделала сделали сделано сеанс сеансы сессии сессия случилось сломал
        сломали сломалось узнал узнали",
    ),
];

/// Expressions in Chinese and Japanese that a question about a day may consist of.
const UNSPACED: &str = "
    我 我们 我們 你 咱们 在 了 的 得 地 吗 嗎 呢 呀 吧 啊 都 也 又 和 是 有 过 過 着 著 把 给 對 对 被 就 还 還
    做 做了 做过 做過 干 干了 幹 什么 什麼 啥 哪些 哪个 哪個 怎么 怎麼 为什么 為什麼 些 一些 一下 事 事情 东西 東西
    工作 工作了 进行 進行 完成 发生 發生 修改 改 改了 更改 改变 改變 修 修复 修復 决定 決定 学 学到 學到 讨论 討論
    会话 會話 对话 對話 总结 總結 进展 進展 列出
    何 なに なん を が は に で と も の へ か ね よ な や ら 私 僕 俺 私たち 我々 どんな どの どう こと もの 何か 全部
    し した して します しました しています していた していました する された されました やった やって やりました
    やっていた だ です でした ました ある あった ありました 起きた 起きました 起こった 作業 仕事 変更 変えた 変わった
    修正 直した 直しました 決めた 決めました 学んだ 壊れた 失敗 完了 終わった まとめ 要約 セッション 内容 話した 話しました
";
