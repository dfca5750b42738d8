"""Words that say nothing by themselves, by language.

What belongs here: the tables. Two questions that differ in articles, pronouns and auxiliaries alone ask
the same; a text with words that only one of two languages has is hardly in the other.
"""

_EMPTY = {
    "en": "the a an this that these those it its he she they them his her their there here which"
    " what when and or but so then as of in on at by for with from to is are was were be been"
    " being am do does did has have had can could will would shall should may might must any i"
    " you we me us my your our just please say think tell describe explain",
    "de": "der die das den dem des ein eine einen einem einer eines und oder aber ist sind war"
    " waren wird werden hat haben kann können mit von vom zu zum zur auf in im an am bei für"
    " es er sie ihr man wir ich du welche welcher welches welchen welchem was dass wenn so"
    " sich hier dort da diese dieser dieses diesen diesem bitte",
    "fr": "le la les l un une des du de d et ou mais est sont était que qu dont dans sur par pour"
    " avec en au aux ce cet cette ces il elle ils elles on nous vous je tu se s y son sa ses"
    " leur leurs me quel quelle quels quelles être avoir a ont peut",
    "es": "el la los las lo un una unos unas y e o u pero es son está están era fue que qué cuál"
    " cuáles por para con de del al a en su sus se le les este esta estos estas ese esa hay me"
    " mi ser estar puede",
    "it": "il lo la i gli le l un uno una e ed o ma è sono era che cosa quale quali di del dello"
    " della dei degli delle da dal dalla in nel nella nei nelle con per a all dall dell nell"
    " sull al alla ai si suo sua mi me questo questa questi queste",
    "pt": "o a os as um uma uns umas e ou mas é são era que qual quais por para com de do da dos"
    " das em no na nos nas ao à se seu sua este esta esse essa me há pelo pela",
    "nl": "de het een en of maar is zijn was waren wordt heeft hebben kan met van in op aan bij"
    " voor te om dat die dit deze wat welke er zich zij hij ze je ik wij",
    "sv": "en ett den det de och eller men är har kan med av på i för om som vad vilken vilket"
    " vilka här där denna detta dessa sig han hon att",
    "pl": "i oraz lub albo ale jest są był była było to ten ta te w we z ze na dla o co jaki jaka"
    " jakie że się który która które czy",
    "tr": "ve veya ama bir bu şu o ile için gibi de da mi mı ne hangi olan var",
    "ru": "и или а но в во на с со за для при по к о об у что какой какая какие какое который"
    " которая которые это этот эта эти он она они его её их же ли бы был была было есть",
    "uk": "і й та або але у в на з за для при по к про що який яка які яке це цей ця ці він вона"
    " вони його її їх чи був була було є",
    "zh": "的 了 吗 呢 吧 啊 着 过 是 在 和 与 及 或 而 且 就 这 那 些 个 请"
    " 你 您 我 们 它 他 她 为 其",
    "ja": "の に は を が と で も や か な ね よ す る た て い ま し ら れ だ こ そ あ う",
}
"""Articles, pronouns, auxiliaries, the commonest prepositions, and what is polite."""
_TELLING = {
    "en": "who whom whose where why how nor if than into onto over under about between within"
    " without through across near not no some all both each every either neither one ones"
    " other also too very only exactly",
    "de": "nicht aus nach über unter vor durch wer wie wo wann warum als auch nur noch beiden",
    "fr": "ne pas qui quoi où sous sans comment pourquoi quand combien très plus",
    "es": "no quién cómo dónde cuándo sin sobre más muy también",
    "it": "non chi come dove quando perché su sul sulla tra fra più molto anche",
    "pt": "não quem como onde quando sem mais muito também",
    "nl": "niet uit naar over onder door wie waar wanneer waarom hoe ook",
    "sv": "inte var till från under över vem hur varför också mycket",
    "pl": "nie do od po za przez kto jak gdzie kiedy dlaczego też bardzo",
    "tr": "kim nasıl nerede neden değil yok çok",
    "ru": "не из от до под над кто как где когда почему",
    "uk": "не із від до під над хто як де коли чому",
    "zh": "也 都 还 很 哪 有 什 么 里 中 上 下",
    "ja": "へ せ ん ど",
}
"""Words that ask, deny, place or count: with another one of them a question is another."""
EMPTY_WORDS = {language: frozenset(words.split()) for language, words in _EMPTY.items()}
FUNCTION_WORDS = {
    language: words.union(_TELLING[language].split()) for language, words in EMPTY_WORDS.items()
}


def telling(one: str, other: str) -> tuple[frozenset[str], frozenset[str]]:
    """The function words of each of two languages that the other does not have."""
    own, others = (FUNCTION_WORDS.get(each, frozenset()) for each in (one, other))
    return own - others, others - own
