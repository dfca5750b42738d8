"""Words that say nothing by themselves, by language: articles, pronouns, prepositions, auxiliaries.

What belongs here: the table. Two questions that differ in such words alone ask the same; a text with
those of a language that no other one has is hardly in another.
"""

_TABLE = {
    "en": "the a an this that these those it its he she they them his her their there here who whom whose which"
    " what where when why how and or but nor so if then than as of in on at by for with from to into onto over"
    " under about between within without through across near is are was were be been being am do does did has"
    " have had can could will would shall should may might must not no any some all both each every either"
    " neither one ones other i you we me us my your our also too very just only please would say think tell"
    " describe explain exactly",
    "de": "der die das den dem des ein eine einen einem einer eines und oder aber nicht ist sind war waren wird"
    " werden hat haben kann können mit von vom zu zum zur auf in im an am bei für aus nach über unter vor durch"
    " es er sie ihr man wir ich du welche welcher welches welchen welchem was wer wie wo wann warum dass als wenn"
    " auch nur noch so sich hier dort da diese dieser dieses diesen diesem bitte beiden",
    "fr": "le la les l un une des du de d et ou mais ne pas est sont était qui que qu quoi dont où dans sur sous"
    " par pour avec sans en au aux ce cet cette ces il elle ils elles on nous vous je tu se s y son sa ses leur"
    " leurs me quel quelle quels quelles comment pourquoi quand combien être avoir a ont peut très plus",
    "es": "el la los las lo un una unos unas y e o u pero no es son está están era fue que qué quién cuál cuáles"
    " cómo dónde cuándo por para con sin de del al a en sobre su sus se le les este esta estos estas ese esa hay me mi"
    " más muy también ser estar puede",
    "it": "il lo la i gli le l un uno una e ed o ma non è sono era che chi cosa quale quali come dove quando"
    " perché di del dello della dei degli delle da dal dalla in nel nella nei nelle con su sul sulla per tra fra a"
    " all dall dell nell sull al alla ai si suo sua mi me questo questa questi queste più molto anche",
    "pt": "o a os as um uma uns umas e ou mas não é são era que quem qual quais como onde quando por para com sem"
    " de do da dos das em no na nos nas ao à se seu sua este esta esse essa me há mais muito também pelo pela",
    "nl": "de het een en of maar niet is zijn was waren wordt heeft hebben kan met van in op aan bij voor uit naar"
    " over onder door te om dat die dit deze wat wie welke waar wanneer waarom hoe er ook zich zij hij ze je ik wij",
    "sv": "en ett den det de och eller men inte är var har kan med av på i till från för om under över som vad vem"
    " vilken vilket vilka hur varför här där denna detta dessa sig han hon att också mycket",
    "pl": "i oraz lub albo ale nie jest są był była było to ten ta te w we z ze na do od po za przez dla o co kto jak"
    " jaki jaka jakie gdzie kiedy dlaczego że się który która które czy też bardzo",
    "tr": "ve veya ama bir bu şu o ile için gibi de da mi mı ne kim nasıl nerede neden hangi olan değil var yok çok",
    "ru": "и или а но не в во на с со из за для от до при под над по к о об у что кто как где когда почему какой"
    " какая какие какое который которая которые это этот эта эти он она они его её их же ли бы был была было есть",
    "uk": "і й та або але не у в на з із за для від до при під над по к про що хто як де коли чому який яка які яке"
    " це цей ця ці він вона вони його її їх чи був була було є",
    "zh": "的 了 吗 呢 吧 啊 着 过 是 在 和 与 及 或 而 且 也 都 就 还 很 这 那 哪 些 个 请 你 您 我 们 它 他 她 有 什 么 里 中 上 下 为 其",
    "ja": "の に は を が と で も へ や か な ね よ す る た て い ま せ ん し ら れ だ こ そ あ ど う",
}
FUNCTION_WORDS = {language: frozenset(words.split()) for language, words in _TABLE.items()}
ANY = frozenset[str]().union(*FUNCTION_WORDS.values())


def telling(one: str, other: str) -> tuple[frozenset[str], frozenset[str]]:
    """The function words of each of two languages that the other does not have."""
    own, others = (FUNCTION_WORDS.get(each, frozenset()) for each in (one, other))
    return own - others, others - own
