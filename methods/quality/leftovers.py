"""Detects leftovers of a model's reply in a text: labels, code fences, tags, placeholders,
"Certainly!", offers of further help.
"""

import re

from methods.mmdu.reading import without_additions
from methods.phrases import Phrases
from methods.quality.refusal_phrases import SELF

_REPLIES = (
    "(?:answer|description|response|explanation|breakdown|analysis|comparison|overview|list"
    "|reply|rewrite|translation)"
)
_COMPLIES = Phrases(
    r"""
<begin>(?:sure(?: thing)?|certainly|of course|gladly|no problem|great question
    |good question|excellent question)\s?[!✨]
<begin>(?:sure(?: thing)?|certainly|of course|absolutely|definitely|okay|ok|alright|gladly
    |understood|got it|no problem)\s?[!,.:—–-]*\s(?:here|i['’]|i |let |as for|as to|below
    |the following|regarding|to answer|in response)
<begin>(?:that['’]s|what) an? (?:\w+ )?(?:great|good|excellent|interesting|wonderful
    |thoughtful) question\b
<begin>(?:thank you|thanks) for (?:your question|asking|sharing|providing|the (?:image
    |picture|photo))
<begin>(?:i['’]d be|i would be|i['’]m|i am|happy|glad) (?:(?:very )?(?:happy
    |glad) )?to (?:help|assist|describe|answer)\b
<begin>(?:here(?:['’]s| is| are)|below (?:is|are)) (?:the|my|an?|your
    |some) (?:[\w-]+ ){0,3}?<replies>s?\b
<begin>(?:gerne|klar|natürlich|selbstverständlich|sicher)\s?!
<begin>(?:gerne|klar|natürlich|selbstverständlich|sicher)[,.:]? (?:hier|ich helfe|im folgenden)\b
<begin>hier (?:ist|sind) (?:die|eine|meine|der|deine|ihre) (?:\w+ )?(?:antwort|beschreibung
    |analyse|übersicht|vergleich)
<begin>(?:bien sûr|certainement|avec plaisir|volontiers)\s?(?:!|[,.:]\s?(?:voici|je vais)\b)
<begin>voici (?:la|une|ma|votre|les|l['’])\s?(?:réponse|description|analyse|comparaison)
<begin>(?:claro|por supuesto|desde luego|con gusto|com certeza
    |con mucho gusto)\s?(?:que sí)?(?:!|[,.:]\s?(?:aquí|aqui|a continuación|te|le)\b)
<begin>(?:aquí (?:está|tienes|tiene)|aqui está) (?:la|una|mi|a|uma) (?:respuesta
    |descripción|resposta|descrição)
<begin>(?:certo|certamente|volentieri|naturalmente|zeker|natuurlijk|uiteraard|graag
    |självklart|oczywiście|elbette|tabii)\s?!
<begin>ecco (?:la|una|l['’])\s?(?:risposta|descrizione|analisi)
<begin>(?:конечно|разумеется|безусловно|с удовольствием)\s?(?:!|[,.:]\s?(?:вот|я)\b)
<begin>(?:当然(?:可以)?|好的|没问题|没有问题|很高兴)[！!]
<begin>(?:当然(?:可以)?|好的|没问题)[，,。：:]\s?(?:以下|这是|下面|我)
<begin>(?:以下是|下面是)(?:对|关于|我|您|你)?[^。]{0,12}(?:回答|描述|答案|分析|解答)
<begin>(?:もちろん(?:です)?|承知(?:いたし|し)ました|かしこまりました|了解しました|わかりました)[！!。、]
<begin>(?:물론(?:입니다|이죠|이에요)?|알겠습니다|네)[!,.]\s?(?:다음은|여기|제가|아래)
<begin>물론(?:입니다|이죠)[!.]
""",
    replies=_REPLIES,
    begin=r"\A\W*",
)
"""Beginnings of a reply that respond to the request: "Certainly! As for the light, …"."""
_CLOSING = Phrases(
    r"""
<begin>(?:wenn|falls|sollten?) (?:sie|du|noch)\b[^.!?\n]*\b(?:fragen|hilfe
    |wissen möchte\w*)\b<end>
<begin>(?:lassen sie|lass) (?:es )?mich (?:gerne )?wissen<end>
<begin>(?:ich hoffe|hoffentlich)[^.!?\n]*\bhilft<end>
<begin>zögern sie nicht<end>
<begin>n['’]hésite[zs]? pas<end>
<begin>si vous avez (?:d['’]autres|des) questions<end>
<begin>j['’]espère que (?:cela|cette|ma)<end>
<begin>(?:espero|esperamos) que (?:esto|esta|isso|te|le)\b<end>
<begin>no dud(?:e|es) en<end>
<begin>si (?:tienes?|necesitas?)\b[^.!?\n]*\b(?:preguntas?|ayuda|dudas?)\b<end>
<begin>se (?:tiver|precisar)\b[^.!?\n]*\b(?:perguntas?|ajuda|dúvidas?)\b<end>
<begin>spero che (?:questo|questa|ti|le)\b<end>
<begin>se hai (?:altre )?domande<end>
<begin>(?:hopelijk|ik hoop)[^.!?\n]*\b(?:helpt|geholpen)\b<end>
<begin>laat het me weten<end>
<begin>hoppas (?:att )?det(?:ta)? hjälper<end>
<begin>надеюсь,? (?:это|мой)\b<end>
<begin>если у вас (?:есть|остались|возникнут)\b[^.!?\n]*вопрос<end>
<begin>(?:дайте|дай) (?:мне )?знать<end>
<begin>(?:希望|但愿)(?:这|以上|我的)[^。！？\n]*(?:帮助|有用)<end>
<begin>(?:如果|若)(?:您|你)?(?:还|還)?有[^。！？\n]*(?:问题|疑问|需要)[^。！？\n]*(?:告诉|提问|询问|联系|随时)<end>
<begin>随时(?:告诉|联系|向我)[^。！？\n]*<end>
<begin>(?:お役に立て|ご参考になれ)[^。！？\n]*<end>
<begin>(?:他に|ほかに|ご不明)[^。！？\n]*(?:質問|点)[^。！？\n]*(?:ください|お知らせ)<end>
<begin>(?:도움이 되|더 궁금한|다른 질문|추가 질문)[^.!?\n]*(?:바랍니다|주세요|좋겠습니다|길)<end>
""",
    begin=r"(?:\A|(?<=[.!?。！？\n]))\s*",
    end=r"""[^.!?。！？\n"“”«»]*[.!?。！？]?\s*\Z""",
)
"""Closing offers of help in languages other than English."""
_NUMBER = r"(?:[12]?\d|30)"
"""The number of a question or answer, up to 30: "A320" is an aircraft."""
_LEFTOVERS: tuple[re.Pattern[str] | Phrases, ...] = (
    re.compile(
        r"^[ \t]*(?:#{1,6}[ \t]*)?(?:\*\*|__)?"
        rf"(?:[QA][ \t]?{_NUMBER}|(?:question|answer|response|reply)[ \t]*\d*|assistant|user|human)"
        rf"(?:\*\*|__)?[ \t]*[:：](?:\*\*)?|^[ \t]*(?:\*\*)?[QA]{_NUMBER}[.)]",
        re.IGNORECASE | re.MULTILINE,
    ),
    re.compile(rf"^[ \t]*#{{1,6}}[ \t]*[QA]{_NUMBER}\b.*", re.MULTILINE),
    # "答案：" and "答：" without a number also occur within a Chinese solution.
    re.compile(
        r"^[ \t]*(?:(?:问题|回答|问)[ \t]*\d*|(?:答案|答)[ \t]*\d+)[ \t]*[:：]", re.MULTILINE
    ),
    re.compile(
        r"</?(?:think|thinking|answer|question|reference|caption|summary|image)>", re.IGNORECASE
    ),
    re.compile(r"<\|[^|<>]{1,40}\|>|</?s>|\[/?INST\]|<</?SYS>>|◁/?think▷"),
    re.compile(
        # Braces after a letter, `_`, `^` or `}` are LaTeX arguments: "\\begin{array}".
        r"(?<![A-Za-z_^\}])\{\{?[ \t]*[a-z_]{3,30}[ \t]*\}?\}"
        r"|\[(?:insert|your|placeholder)\b[^\]]{0,40}\]",
        re.IGNORECASE,
    ),
    re.compile(r"\A\s*```|```\s*\Z"),
    re.compile(r"\A\s*\{\s*\"[^\"]{1,20}\"\s*:"),
    _COMPLIES,
    SELF,
)
_LONGEST_OFFER = 400
"""The number of characters at the end of a text that are searched for an offer of help."""


def leftover_in(text: str) -> str | None:
    """Find the first leftover in a text, at most 80 characters of it, or None."""
    for pattern in _LEFTOVERS:
        if match := pattern.search(text):
            return match[0].strip()[:80]
    if match := _CLOSING.search(text, max(0, len(text) - _LONGEST_OFFER)):
        return match[0].strip()[:80]
    content = without_additions(text)
    if content == text.strip():
        return None
    return text.strip().replace(content, "", 1).strip()[:80] or None
