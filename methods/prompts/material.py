"""Detects generated texts that mention source material which only the writer model saw: a caption,
notes, a Wikipedia page.

Readers only see the image. Texts within the image, such as a painted caption or an article in a
newspaper that somebody reads, are not source material.
"""

import re

from methods.phrases import Phrases, alternatives

_SOURCE = (
    "(?:articles?|texts?|passages?|excerpts?|paragraphs?|snippets?|notes?|descriptions?"
    "|pages?|documents?|materials?|information|context|sources?|entr(?:y|ies)|captions?"
    "|summar(?:y|ies)|write-ups?|biograph(?:y|ies)|metadata)"
)
_TEXT_NOUNS = (
    "(?:articles?|passages?|excerpts?|paragraphs?|snippets?|source (?:text|material)"
    "|write-ups?|encyclopa?edia entry)"
)
_PROVIDED = (
    "(?:provided|given|supplied|accompanying|attached|preceding|above|following"
    "|aforementioned|referenced|cited|background|source|reference|input|supporting"
    "|wikipedia(?:['’]s)?|encyclopa?edia)"
)
_SAYS = (
    "(?:sa(?:y|ys|id)|states?d?|mentions?(?:ed)?|tells?|told|claims?(?:ed)?|describes?d?"
    "|explains?(?:ed)?|reports?(?:ed)?|indicates?d?|suggests?(?:ed)?|notes?d?|refers?"
    "|specif(?:y|ies|ied)|reveals?(?:ed)?|discuss(?:es|ed)?)"
)
_SHOWN = (
    "(?!"
    + alternatives(
        r"""
['’]?\w* (?:(?:that is |which is |is |are )?(?:\w+ly )?(?:painted|printed|written|engraved
    |carved|stamped|handwritten|hand-?lettered|lettered|stencil(?:l)?ed|embroidered|chalked
    |scrawled|drawn|inked|pasted|glued|pinned|etched|sewn|set in|in (?:the )?(?:red|black|white
    |gold|bold|large|small|capital|block|gothic|cursive))\b|(?:on|in|at|below|beneath|under
    |underneath|above|along|across|beside|around|inside|of|next to|between|behind|through|near
    |over|from|to) (?:the|a|an|its|his|her|their|this|that|each
    |one) (?!(?:(?:\w+ ){0,2}?(?:images?|pictures?|photos?|photographs?|articles?|pages?|text
    |passage)\b|(?:first|second|third|left|right|other)(?: ones?\b|\b(?! \w)))\b)\w|(?:on
    |in) (?:<image|both))
['’]?\w*,? (?:reads|spells|is (?:legible|illegible|unreadable))\b
"""
    )
    + ")"
)
"""Excludes matches that are followed by a place in the image: "the caption painted below", "the text on
the sign"."""
_MATERIAL = Phrases(
    r"""
(?<!painted )(?<!printed )(?<!written )(?<!carved )(?<!engraved )
    (?<!lettered )\bcaptions?\b<shown>
\bbackground notes?\b
\b(?:the|this|that|its|your|each|provided|given|short|brief) summar(?:y|ies)\b(?!\s*:| in (?:one|two|a
    |short)\b| of (?:it|this|that|them|these|all|what)\b)
\b(?:according to|based (?:up)?on|as per|per|going by|judging by|drawing on
    |with reference to|in light of|given|considering|using|from|relying on|(?:stated|described
    |mentioned|said|given|written|noted|explained|reported|indicated|found|discussed) (?:in
    |by)) (?:the|this|that|its|your) (?:\w+ ){0,2}?<source>\b(?<!the page)
    (?<!from the text)<shown>
\b(?:according to|as per|based (?:up)?on) the page\b<shown>
\b(?:the|this|that|its|your|any|all) (?:\w+ )?<given> (?:\w+ )?<source>\b<shown>
\b(?:the|this|that) <source> (?:(?:that|which) )?(?:(?:is|was|were
    |you (?:have )?(?:been )?) ?)?(?:provided|given|supplied)\b(?! by nature)
\b(?:what|how|why|where|when|who|which|whom)\b[^.?!]{0,40}? (?:does|do|did|can|could|might
    |would) (?:the|this|that) (?:\w+ )?<told>\b<shown>
\b(?:what|how|why|where|when|who|which|whom)\b[^.?!]{0,40}? (?:does|do|did) (?:the|this
    |that) (?:\w+ )?<source>\b<shown> (?:\w+ )?(?:describe|portray|characteri[sz]e|(?:say|state
    |tell|mention|claim|explain|report|reveal)\w* (?:\w+ )?(?:about|regarding|concerning|of|on
    |us|is|was))\b
\b(?:learn(?:ed|t)?|known?|inferred|gather(?:ed)?|concluded?|taken) from (?:the|this) (?:\w+ )?<source>
    \b(?<!\bpage)(?<!\bnotes)<shown>
\b(?:detail|part|aspect|claim|statement|section|sentence|point|idea|topic|theme|author
    |writer|subject|message|purpose|tone|reader)s? of (?:the|this|that) (?:\w+ )?(?:<told>
    |text)\b<shown>
\b(?:the|this|that|our) (?:\w+ )?<told> (?:(?:also|does not|doesn't|did not|never|further
    |clearly) )*<says>\b
\b(?:in|from|by) (?:the|this|that) (?:\w+ )?<told>\b<shown>
\b(?:what|as) (?:i|we|you)(?: (?:was|were|am|are|have been|had been)|'ve been) (?:told
    |given|provided|informed)\b
\bwikipedia\b
""",
    shown=_SHOWN,
    source=_SOURCE,
    told=_TEXT_NOUNS,
    given=_PROVIDED,
    says=_SAYS,
)
_OTHER_LANGUAGES = Phrases(
    r"""
图注
图片说明
图片标题
说明文字
词条
条目
百科
摘要
(?:根据|依据|按照|参考|结合|从|由|基于)(?:上述|以上|所给|给出的|提供的|给定的?|下面的?|前面的?|这段|该|本|此)?的?(?:文字|资料|材料|文章|说明
    |页面|信息|文本|段落|描述|介绍|原文|内容|背景)
(?:文章|原文|文中|上文|短文|段落|资料)(?:中|里|是){0,2}(?:如何|怎么|怎样|有没有|是否|主要)?(?:提到|说|讲|描述|介绍|指出|写|提及|认为|表明)
(?:本文|記事|文章|説明文|キャプション|資料|テキスト|解説)(?:によ(?:ると|れば|り)|に基づ|では|に(?:書|記|あ)|から(?:わか|分か|読み)|は(?:何|どう|なぜ))
キャプション
要約
(?:기사|본문|글|설명문?|캡션|자료|텍스트|지문)(?:에 ?(?:따르면|의하면|근거|서는?|나온)|을 ?바탕)
\b(?:laut|gemäß|nach|entsprechend|ausgehend von|basierend auf|aufgrund) (?:der|dem|des
    |den) (?:\w+en |oben \w+ )?(?:text(?:es)?|artikel|abschnitt|beschreibung|quelle|passage
    |angaben|informationen)\b
\bbildunterschrift(?:en)?\b
\bbildlegende\b
\b(?:was|wie|warum|wo|wann|wer|welche[nrsm]?)\b[^.?!]{0,30}\b(?:der|dieser) (?:artikel
    |abschnitt|beitrag)\b
\bim (?:artikel|abschnitt|vorliegenden text|gegebenen text|obigen text)\b
\b(?:selon|d['’]après|suivant|à partir d[eu]|d['’]après) (?:l['’]
    |le |la |les |ce |cet |cette )?\s?(?:texte|article|passage|légende|description|extrait
    |document|notice|informations)\b
\bla légende (?:dit|indique|précise|de l['’]image)
\b(?:que|qu['’]est-ce que|comment|pourquoi)\b[^.?!]{0,30}\b(?:l['’]article|le passage
    |l['’]extrait|le texte fourni)\b
\b(?:según|de acuerdo con|conforme a|basándo(?:se|te|nos)? en|a partir de) (?:el|la|los|las
    |este|esta) (?:texto|artículo|pasaje|descripción|pie de|fragmento|documento|información
    |resumen)
\bpie de (?:foto|imagen)\b
\b(?:qué|cómo|por qué)\b[^.?!]{0,30}\b(?:el artículo|el pasaje|el fragmento
    |el texto proporcionado)\b
\b(?:secondo|in base (?:al|alla|all['’])|stando (?:al|alla
    |all['’])) ?(?:il |la |l['’])?\s?(?:testo|articolo|brano|didascalia|descrizione)\b
\bdidascali[ae]\b
\b(?:segundo|conforme|de acordo com|com base) (?:o|a|n[oa]) (?:texto|artigo|trecho|legenda
    |descrição|passagem)\b
\b(?:volgens|op basis van|gezien) (?:de|het|dit) (?:\w+ )?(?:tekst|artikel|bijschrift
    |beschrijving|passage)\b
\bbijschrift(?:en)?\b
\benligt (?:texten|artikeln|bildtexten|beskrivningen)\b
\b(?:według|zgodnie z) (?:tekst|artykuł|opis|podpis)\w*
\b(?:метне|makaleye|metne|açıklamaya) göre\b
\b(?:согласно|судя по|на основе|исходя из
    |по) (?:данно\w+ |этого |приведённо\w+ |приведенно\w+ )?(?:текст|стать|описани|отрывк
    |подпис)\w*
\b(?:говорится|сказано|упоминается|написано) в (?:статье|тексте|отрывке)
\bв (?:статье|тексте|отрывке) (?:говорится|сказано|упоминается|написано|описа)\w*
\bподпис(?:ь|и) (?:к|под) (?:изображ|фото|карт|рисунк)\w*
""",
)
_CUE = re.compile(
    "articl|text|passage|excerpt|paragraph|snippet|note|description|page|document|material|information"
    "|context|source|entr|caption|summar|write-up|biograph|metadata|pedia|pædia|told|given|provided|informed"
)
_OTHER_CUE = re.compile(
    "text|tekst|testo|artic|artíc|artik|artyk|abschnitt|beschr|descr|quelle|passag|pasaje|angaben|informa"
    "|bild|beitrag|légende|legenda|extrait|docum|notice|pie de|fragment|resum|brano|didascal|trecho"
    "|bijschrift|opis|podpis|göre|[\u0370-\u1fff\u2070-\uffff]"
)
"""Each phrase contains one of these parts, in lower case. Searching for them first takes a tenth of the
time."""


def mention_of_material(text: str) -> str | None:
    """Find the words of a text that mention a caption, notes or a page; None if there are none.

    English and Chinese are covered best, about ten more languages by their most common phrases.
    """
    small = text.lower()
    match = None
    if _CUE.search(small):
        match = _MATERIAL.search(text)
    if not match and _OTHER_CUE.search(small):
        match = _OTHER_LANGUAGES.search(text)
    return match[0].strip() if match else None
