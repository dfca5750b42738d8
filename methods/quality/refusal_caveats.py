"""Distinguishes caveats from refusals: does the text after refusing words describe the images?

"I cannot name the species. It is a gull with a grey back." is an answer with a caveat. "I cannot help.
Ask somebody else." is a refusal.
"""

import re

from methods.evaluation.english_refusals import CAVEAT
from methods.phrases import Phrases
from methods.quality.about_asking import says_of_scene
from methods.words import n_words

_ENGLISH_PARTS = re.compile(r"(?:[.!?;:…]\W|\b(?:because|since)\b|, (?:as|so)\b)", re.IGNORECASE)
_OF_A_MODEL = Phrases(
    r"""
\b(?:you|your|yours|please|sorry|thanks?|thank|apolog\w*|inconvenience|curiosity)\b
\b(?:privacy|private|consent|dignity|identity|anonym\w*|confidential\w*|stereotyp\w*|bias\w*|harm\w*
    |discriminat\w*|respect(?:ful|ing)?|sensitive|legal|safety|inappropriate|explicit|copyright\w*|facial)\b
\b(?:policy|policies|guidelines|ethic\w*|principles|programming|ai|chatbot|assistant|trained
    |(?:language|vision|text[- ]\w+) model)\b
\b(?:consult\w*|professionals?|experts?|asking|happy to|glad to|feel free|instead|let me know|request\w*
    |another (?:tool|model|source|topic|task)|personal|anything else
    |questions?)\b
\A\W*(?:try|consider|check|contact|use|ask|maybe|perhaps try)\b
"""
)
_OTHER_PARTS = re.compile(
    r"([.!?…;:](?=\s)|[。！？；：，،,]|(?:\A|(?<=ません)|(?<=できない))が、?"
    r"|(?=\b(?:aber|jedoch|doch|zwar|mais|toutefois|cependant|bien que|pero|aunque|ma|anche se|mas"
    r"|embora|maar|men|но|хотя|однако)\b)|(?=けれど|지만))",
    re.IGNORECASE,
)
_CONTRASTS = re.compile(
    r"\b(?:aber|jedoch|doch|zwar|allerdings|dennoch|trotzdem|obwohl|mais|cependant|toutefois|pourtant"
    r"|néanmoins|bien qu|quoiqu|même si|pero|aunque|sin embargo|no obstante|si bien|porém|mas|embora"
    r"|contudo|todavia|no entanto|ainda que|ma|però|tuttavia|anche se|sebbene|benché|maar|echter"
    r"|hoewel|toch|men|dock|även om|но|однако|хотя|зато|але|проте|хоча|ama|ancak|fakat|ale|jednak|choć"
    r"|chociaż)|但|不过|然而|只是|しかし|ですが|ただ|けれど|다만|하지만|그러나|지만",
    re.IGNORECASE,
)
"""Words ("but") that introduce an answer after a caveat, in languages other than English."""
_CONTRAST_AND_COMMA = re.compile(rf"({_CONTRASTS.pattern}),", re.IGNORECASE)
_OTHERS_OF_A_MODEL = Phrases(
    r"""
\b(?:bitte|sie|ihnen|ihre?[nrm]?|du|dir|dich|deine?[nrm]?|gerne?|fragen?|hilfe|helfen|beantworte\w*
    |tut mir leid|entschuldig\w*|datenschutz\w*|privatsphäre|richtlinien|ki|sprachmodell)\b
\b(?:vous|votre|vos|tu|ta|ton|veuillez|merci|désolée?|question|questions|aider|aide|confidentialité
    |vie privée|politique|règles|ia|modèle de langage|n'hésite\w*)\b
\b(?:usted|ustedes|por favor|gracias|preguntas?|ayud\w*|siento|disculp\w*|privacidad|políticas?|normas
    |ia|dime|dímelo|puedes?|quieres?|tienes?|consult\w*)\b
\b(?:você|vocês|perguntas?|ajud\w*|obrigad\w*|desculp\w*|privacidade|diretrizes|te|lhe)\b
\b(?:domand\w*|aiut\w*|grazie|scus\w*|dispiace|prego|puoi|vuoi|se vuole|riservatezza|norme)\b
\b(?:u|uw|jij|je|jouw|alsjeblieft|alstublieft|vraag|vragen|helpen|hulp|privacy|richtlijnen)\b
\b(?:du|dig|din|gärna|snälla|fråga|frågor|hjälp\w*|integritet|riktlinjer)\b
\b(?:вы|вам|вас|ваш\w*|ты|тебе|пожалуйста|вопрос\w*|помо[чгщ]\w*|извин\w*|прост[иь]\w*|попроб\w*|обрат\w*
    |конфиденциальн\w*|правил\w*|політик\w*|ви|питан\w*)\b
\b(?:proszę|pytani\w*|pomo\w*|pomóc|przepraszam|prywatnoś\w*|lütfen|soru\w*|yardım\w*|gizlilik)\b
\b(?:puedo|podría|posso|могу|kann|können|peux|kan|mogę) (?:\w+ ){0,2}?(?:descr|décri|опис|beschr|help
    |hjälp|hilf|helf|ajud|aid|ayud|помо|помог|ofre|offr|предлож|omschr|opis|pom)\w*
[请請您你我]|问题|問題|帮助|建议|抱歉|对不起|隐私|政策|规定|违反|涉及|人工智能|语言模型|其他|谢谢|理解|专业|回答|上传|只能|文本
ください|下さい|お(?:手伝|願|答|問い|知らせ|寄せ|役|送り)|ご(?:質問|了承|理解|相談|希望|確認|提供|利用|不便)|質問|申し訳
    |回答|説明|コメント|プライバシー|方針|ポリシー
저는|제가|모델|질문|도움|도와|주세요|주시|바랍니다|죄송|양해|개인|정책|답변|문의|드리|사생활|업로드
"""
)
FEWEST_WORDS = 3
"""The fewest words of a part that describes an image, in languages other than English."""


def english_goes_on(after: str) -> bool:
    """Check whether the text after English refusing words describes the images."""
    if CAVEAT.search(after):
        return True
    _, *parts = _ENGLISH_PARTS.split(after)
    return any(says_of_scene(part.casefold()) and not _OF_A_MODEL.search(part) for part in parts)


def other_goes_on(after: str) -> bool:
    """Check whether the text after refusing words in another language describes the images.

    That is a further sentence, or a part with a word such as "but", that has no words of a refusal.
    """
    _, *rest = _OTHER_PARTS.split(_CONTRAST_AND_COMMA.sub(r"\1", after))
    return any(
        (mark not in ("", ",", "،") or _CONTRASTS.search(part) is not None)
        and n_words(part) >= FEWEST_WORDS
        and not _OTHERS_OF_A_MODEL.search(part)
        for mark, part in zip(rest[::2], rest[1::2], strict=True)
    )
