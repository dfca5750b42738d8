"""Phrases of refusals and of missing images in 17 languages.

Each phrase contains the complete refusal: the speaker, the refusal and its object. "I cannot see the
sign" is an answer, "I cannot see your image" is a refusal.
"""

from methods.phrases import Phrases, alternatives

# --- English -------------------------------------------------------------------------------------

_PICTURE = (
    "(?:images?|pictures?|photos?|photographs?|attachments?|files?|screenshots?|uploads?"
    "|visuals?|visual content|visual input)"
)
_CANNOT = alternatives(
    r"""
can(?:'t|not| not)
could(?:n't| not)
wo(?:n't)
will not
would(?:n't| not)
should(?:n't| not)
(?:am|'m|are|'re) (?:unable|not (?:able|allowed|permitted|authori[sz]ed|equipped|designed
    |programmed|trained|willing|going|supposed)) to
(?:was|were) (?:unable|not able) to
(?:am|'m|are|'re) (?:not |un)comfortable(?: with)?
(?:do not|don't) feel comfortable(?: with)?
(?:am|'m|are|'re) not in a position to
(?:am|'m|are|'re|have been) (?:prohibited|restricted|prevented|barred|forbidden|instructed not
    |asked not|told not) (?:from|to)
(?:have|'ve) no (?:\w+ )?(?:way|means|ability|permission|authority|possibility) (?:of|to)
(?:respectfully |politely )?(?:decline|refuse) to
(?:'d|would) (?:rather|prefer) not(?: to)?
(?:prefer|choose) not to
(?:lack|(?:do not|don't) (?:\w+ )?(?:have|possess)) (?:the |any )?(?:\w+ )?(?:ability
    |abilities|capabilit(?:y|ies)|capacity|means|permission) (?:to|of|for)
"""
)
_DEAL = (
    "(?:help|assist|answer|comment|describ|identif|discuss|respond|fulfil|compl[yi]|complet"
    "|process|analy[sz]|interpret|speculat|engage|proceed|continue|do (?:that|this|so)|provid"
    r"|offer|guess|view|access|open\b|support|recogni[sz]|evaluat|judg|assess|look"
    r"|see (?:any |the |your )?(?:\w+ )?(?:image|pic|photo|attach)"
    r"|(?:talk|say|share|tell|give) (?:\w+ ){0,2}(?:about|anything|details|that|this|on|opinion))"
)
SELF = Phrases(
    r"""
\b(?:as|being|(?:i am|i'm) (?:just |only |merely )?) ?an? (?:[\w-]+ ){0,3}?(?:AI|A\.I\.
    |artificial intelligence|language model|chatbot|(?:digital
    |virtual) assistant)\b(?: (?:language|model|assistant|system|program|chatbot|developed
    |created|trained|made|by|\w+-based)){0,4}(?=[,.;!]| (?:i|and|without|who|that|so|with)\b)
"""
)
"""The writer calls itself a model: "As an AI language model, ..."."""

_BEGINNING = r"(?:\A|[.!?,;—–-]\s+|\b(?:but|that|and|so|because|afraid|while)\s+)\W{0,4}"
"""The beginning of a clause."""
DECLINES = Phrases(
    r"""
<begin>(?:i|we) ?(?:\w+ly |also |just )?<cannot>\s(?:\w+ ){0,2}?<deal>
<begin>(?:i|we) (?:\w+ )?(?:must|have to|need to|will have to|shall) (?:\w+ )?(?:decline
    |refuse|abstain|pass)
<begin>(?:(?:it|that|this)(?:'s| (?:is|would be|may be|might be)) (?:not|n't|never)|(?:it|that
    |this) (?:is|would)n't be|(?:it|that|this) (?:isn't|would not be)) (?:something|anything
    |a \w+|one) (?:that |which )?(?:i|we)(?:'m|'re|'d| am| are)? (?:can|could|will|would|able
    |allowed|permitted|willing|comfortable|be)\b
<begin>(?:it|that|this|doing so) (?:(?:is|would|may|might|does) not|(?:is|would|does)n't
    |'s not) (?:be |feel |seem )?(?:appropriate|right|proper|ethical|responsible|respectful
    |possible|acceptable|okay) (?:for|of) me\b
<begin>(?:it|that|this|doing so) (?:(?:is|would|may|might|does) not|(?:is|would
    |does)n't) (?:be |feel |seem )?(?:appropriate|proper|ethical) to (?:comment|describe
    |discuss|speculate|answer|respond|identify|guess)
<begin>(?:it|that|this|doing so) (?:is|would be|feels|seems) (?:inappropriate|improper
    |unethical|irresponsible|impossible) (?:(?:for|of) me|to (?:comment|discuss|speculate
    |answer|respond))\b
<begin>(?:that|this|it|your \w+|such \w+)(?: \w+)? (?:is|are|falls?|lies?|goes
    |violates?) (?:\w+ )?(?:beyond|outside|against) (?:of )?(?:the scope of )?(?:(?:my|our)\b(?! (?:view
    |sight|gaze|field|line|reach|horizon|eyes?)\b)|what (?:i|we)(?:'m|'re)?\b(?! (?:(?:can|could
    |actually|only|may) )?(?:see|look|find|notice|expect|know|imagine)\b))
\b(?:is|are|be) (?:something|things?|a \w+|questions?|requests?) (?:that |which )?(?:i|we) ?<cannot>
\b(?:assisting|helping|answering|commenting|describing|identifying)\b[^.!?]{0,50}\b(?:isn't|is not
    |won't be|will not be|would not be) (?:possible|something|appropriate|allowed|permitted|an option)
\b(?:policy|policies|guidelines|rules|programming) (?:prevents?|prohibits?|forbids?|(?:do|does) not
    |don't|doesn't) (?:allow |let |permit )?me\b
\blet(?:'s| us) (?:talk|speak|chat) (?:about|of) (?:something else|(?:another|a different) (?:topic
    |subject|matter|question))\b
\b(?:i|we)\b[^.!?;,]{0,30}(?:\bnot|n't|\bcannot|\bunable|\bnever)\b[^.!?;,]{0,30}?\b(?:help|assist
    |answer|comment|describ|discuss|respond|fulfil|comply|provid|speculat|load|access)
\b(?:i|we)\b[^.!?;,]{0,30}\b(?:decline|refuse)\b
(?:\bnot|n't) (?:\w+ )?(?:something|anything|my place|my role|my job|up to me|for me)\b[^.!?;,]{0,15}
    (?:\b(?:i|i'm|i am|we|we're)\b[^.!?;,]{0,10}\b(?:allowed|able|permitted|free|supposed|can|do)\b
    |\bto (?:comment|say|judge|tell|describe|answer|discuss))
<begin>no (?:can do|comment)\W*$
<begin>(?:that|this|it) violates (?:(?:my|our) (?:\w+ )?(?:principles|rules)|(?:my|our
    |the) (?:\w+ )?(?:guidelines|polic(?:y|ies)))\b
<begin>(?:commenting|speculating|identifying people
    |answering)\b[^.!?]{0,60}\b(?:inappropriate|unethical|not (?:be )?(?:appropriate|something i))
""",
    begin=_BEGINNING,
    cannot=_CANNOT,
    deal=_DEAL,
)
_HERE = alternatives(
    r"""
(?=\W*\Z|[.,;!?—–]| (?:here|attached|you|that you|i\b|on my|from you|at all|yet|directly|so
    |and so|because|since|uploaded|provided|with (?:this|your)|to (?:look|work|describe|analy
    |go|comment)|in (?:our|this|your|the) (?:conversation|chat|message|prompt|request|thread)))
"""
)
_ATTACHED = (
    "(?:attached|provided|shared|uploaded|included|received|sent|supplied|submitted"
    "|transmitted|added|available to me|accessible|visible to me)"
)
_CAME = (
    "(?:c[ao]me (?:through|across|up)|g[eo]t through|ma[dk]e it|arrived?|load(?:ed)?"
    "|reach(?:ed)? me|upload(?:ed)?)"
)
_ELSEWHERE = alternatives(
    r"""
(?! (?:to|on|in|with|by|from) (?:the|a|an|its|her|his|their) (?!message|conversation|chat
    |prompt|request|question))
"""
)
NO_PICTURE = Phrases(
    r"""
\bnone of (?:the|your|these|those) (?:\w+ )?<picture> (?:has |have |was |were |been )*(?:<came>|<given>)
    \b<elsewhere>
\b(?:the|your|this|any|both|these|those) (?:\w+ ){0,2}?<picture> never <came>\b<elsewhere>
\b(?:nothing|none) (?:has |have )?(?:come through|came through|arrived|reached me|loaded)(?=[.,;!]
    | (?:here|on my|with your|and\b|so\b))
(?:\bnot|n't|\bno)\b[^.!?;,]{0,25}\b<picture> (?:attached|uploaded|included)\b<elsewhere>
\bi (?:see|have|find|got|received) no <picture><here>
\b(?:only|just) (?:got |received |see )?(?:your |the )?(?:text|message|question|words)
    (?: has| have| was)? (?:came|arrived|reached|received|made it|got through)\b
\b(?:got|received|have|see) (?:only|just|nothing but) (?:your |the )(?:text|message|question|words)\b
\bi(?:'d| would) (?:first )?need (?:to (?:actually )?see|you to (?:re-?)?(?:upload|share|send|attach)
    |access to) (?:the|an?|your|it|them)\b
\bno (?:\w+ )?<picture> (?:\w+ly |has |have |seems? to |appears? to )*<came>\b<elsewhere>
\bno (?:\w+ )?<picture> (?:is|are|was|were|has been|have been|seems? to (?:be|have been)
    |appears? to (?:be|have been)|being) (?:\w+ly )?<given><elsewhere>
\bthere (?:is|are|was|were|seems to be|appears to be) (?:no|not an?
    |n't an?) (?:\w+ )?<picture> (?:here\b|in (?:this|our|your|the) (?:conversation|chat
    |message|prompt|thread)|to (?:look at|describe|analy[sz]e|work with)(?=[.,;!]|\Z
    | (?:here|yet|so|and)\b)|<given><elsewhere>)
\b(?:the|your|this|any|both|these|those|\d) (?:\w+ ){0,2}?<picture> (?:
    (?:that |which )?you \w+ (?:\w+ )?)?(?:has|have|did|does|do|was|were|could|can)(?: not|n't
    |not) (?:\w+ly |seem to (?:have )?|appear to (?:have )?)*(?:been |be )?(?:<came>\b|<given>
    |opened|loaded|displayed|read)\b<elsewhere>
\b(?:the|your) (?:\w+ )?<picture> (?:\w+ly |has |have |seems? to have |appears? to have )*f
    ailed to \w+
\b(?:the|your) (?:\w+ )?<picture> (?:(?:seems?|appears?) to be|is
    |are) (?:\w+ly )?(?:not attached|not loading|not coming through|not visible to me)(?=[.,;!]
    | (?:from|on my|here|so|and)\b|\Z)
(?:\byour|(?:\A|[.!?]\s|but |that )\W{0,4}the) (?:\w+ )?<picture> (?:(?:seems?|appears?) to be|is
    |are) (?:\w+ly )?missing(?=\W*\Z|[,;.!]? (?:from (?:your|the) (?:message|prompt|question|request
    |chat|conversation)|on my|so|and (?:so |i\b)|therefore|i\b|please|could you)\b)
\bi (?:\w+ly )?(?:do not|don't|can't|cannot|can not|did not|didn't|could not|couldn't
    |have not|haven't|am not|am unable to) (?:\w+ly )?(?:see|find|have|view|open|access|load
    |receive[d]?|got|get|detect|seeing|getting|receiving|been (?:given|shown
    |sent)) (?:access to )?(?:any|an?|the|your|that|this|these) (?:\w+ )?<picture><here>
\bi'm (?:\w+ly )?(?:not (?:able to )?|unable to )(?:see|seeing|view|open|access|get|getting
    |find|receiving) (?:any |an? |the |your )?(?:\w+ )?<picture><here>
\b(?:nothing|none) (?:was|were|is|has been|seems to (?:be|have been)) (?:attached|uploaded
    |sent)\b<elsewhere>
\byou (?:have not|haven't|did not|didn't|forgot to) (?:\w+ly )?(?:attach|upload|shar|send
    |sent|includ|provid)\w* (?:any|an?|the|your) (?:\w+ )?<picture>
\b(?:please|could you|can you|(?:need|have) to|try to|try) (?:\w+ )?(?:re-?)?(?:upload
    |attach|send|resend|provide|share|submit|sharing|sending|uploading|attaching) (?:it|them
    |an?|the|your|that)(?: \w+)? ?(?:<picture>|again)\b
\bwithout (?:\w+ly )?(?:seeing|viewing|access to|being able to (?:see|view)|having) (?:any
    |an?|the|your) (?:\w+ )?<picture>(?: \w+)?,? i\b
""",
    here=_HERE,
    given=_ATTACHED,
    came=_CAME,
    elsewhere=_ELSEWHERE,
    picture=_PICTURE,
)

# --- Other languages -----------------------------------------------------------------------------

_OTHERS_BEGINNING = r"(?:^|[.!?,，。、;]\s*|\b(?:aber|mais|pero|mas|ma|maar|men|но|что)\s)\W{0,4}"
OTHERS_DECLINE = Phrases(
    r"""
<begin>(?:我|本人)[^，。]{0,4}(?:不能|无法|不便|不方便|难以)(?:对|就|为)[^，。]{0,14}(?:发表|评论|评价|置评|回答|作答)
(?:问题|请求|话题|照片|图片|这|此)[^，。]{0,4}我[^，。]{0,4}(?:不能|无法|不便|不方便)(?:回答|评论|讨论|描述|帮)
<begin>恕(?:我)?(?:不能|无法|难)
<begin>(?:dazu|darüber|hierzu|das|dies|diese \w+)\b[^.!?]{0,20}\b(?:kann|darf|möchte) ich\b
    [^.!?]{0,40}\bnicht (?:sagen|äußern|beantworten|beurteilen|kommentieren|helfen|beschreiben)\b
<begin>(?:我|本人|目前|所以|因此)*(?:无法|不能|不便|没办法|沒有辦法|無法|不可以|没有能力|不具备)(?:直接|为您|为你|对此|就此)*(?:回答|提供
    |查看|识别|識別|帮助|协助|辨认|满足|看到|处理|评论|描述|分析|讨论|置评)
<begin>作为(?:一个|一名)?[^，。]{0,12}(?:人工智能|AI|语言模型)[^。]{0,12}(?:无法|不能|没有)
<begin>[^。]{0,40}(?:申し訳(?:あり|ござい)|すみません|恐れ入り)[^。]{0,40}(?:できません|いたしかね|できかね|控え|見えません|答えられ)
<begin>[^。]{0,25}(?:回答|お答え|説明|コメント|対応|お手伝い|判断)(?:する|する?こと)?(?:は|が|を)?(?:でき(?:ません|かね)|いたしかね
    |差し?控え|控えさせ)
<begin>[^.]{0,30}(?:죄송(?:합니다|하지만|스럽지만)|유감)[^.]{0,60}(?:없습니다|어렵습니다|못합니다|않습니다)
<begin>[^.]{0,40}(?:답변|설명|도와|도움|분석|확인|식별)[^.]{0,12}(?:수 없습니다|드릴 수 없|어렵습니다)
<begin>(?:(?:es )?tut mir (?:sehr )?leid|leider|entschuldigung
    |sorry)\b[^.!?]{0,30}\b(?:(?:ich|wir)\b[^.!?]{0,15}\b<kann>|<kann> (?:ich|wir))\b[^.!?]{0,80}
    \b(?:nicht|keine?n?)\b(?! (?:\w+ )?(?:lesen|entziffern|ausmachen|zählen|finden)\b)
<begin>(?:ich|wir) (?:kann|können|darf|möchte|bin)\b[^.!?]{0,50}\b(?:nicht
    |keine?n?)\b[^.!?]{0,50}\b(?:helfen|beantworten|beschreiben|kommentieren|äußern
    |weiterhelfen|beurteilen|identifizieren|in der Lage|ansehen|anzeigen|öffnen)
<begin>als (?:eine? )?(?:[\wäöüß-]+ ){0,2}(?:KI|Sprachmodell|Chatbot
    |künstliche Intelligenz)\b[^.!?]{0,60}\b(?:nicht|keine?n?)\b
<begin>[^.!?]{0,30}\b(?:wäre|ist) (?:\w+ )?(?:nicht
    |un) ?angemessen[^.!?]{0,60}(?:kommentieren|äußern|beschreiben|beantworten|beurteilen
    |spekulieren)
<begin>(?:je suis (?:vraiment |sincèrement )?désolée?|désolée?
    |malheureusement)\b[^.!?]{0,40}\bje ne (?:peux|suis|saurais|dispose|vois)\b(?!,? qu)
<begin>je (?:ne (?:peux|suis|saurais)|n'ai) (?:malheureusement )?pas (?:en mesure|répondre
    |vous aider|décrire|commenter|la (?:capacité|possibilité)|identifier|voir (?:l'
    |les |d')images?|accès)
<begin>en tant qu(?:'|e )(?:\w+ )?(?:IA|intelligence artificielle|modèle
    |assistant)\b[^.!?]{0,60}\bn(?:e|'ai)\b
<begin>il (?:ne serait|n'est|serait) (?:pas )?(?:in)?appropriée?\b[^.!?]{0,60}(?:comment
    |décri|répond)
<begin>(?:lo siento|lo lamento|disculpa|lamentablemente|desafortunadamente
    |por desgracia)\b[^.!?]{0,40}\bno (?:puedo|me es posible|tengo|dispongo)\b
<begin>no (?:puedo|me es posible|tengo la capacidad de) (?:\w+ )?(?:ayudar|responder
    |describir|comentar|identificar|ver (?:la |las )?im|ofrecer|proporcionar)
<begin>como (?:una? )?(?:modelo|IA|inteligencia artificial
    |asistente)\b[^.!?]{0,60}\bno (?:puedo|tengo)
<begin>no (?:sería|es|resulta) (?:apropiado|adecuado|correcto)\b[^.!?]{0,40}(?:coment
    |describ|respond|opin)
<begin>(?:desculpe|sinto muito|lamento|infelizmente)\b[^.!?]{0,40}\bnão (?:posso|consigo
    |é possível|tenho)\b
<begin>não (?:posso|consigo|tenho como) (?:ajudar|responder|descrever|comentar|identificar)
<begin>(?:mi dispiace|purtroppo|spiacente)\b[^.!?]{0,40}\bnon (?:posso|sono in grado|ho)\b
<begin>non (?:posso|sono in grado di) (?:aiutar|rispondere|descrivere|commentare|identificare)
<begin>come (?:modello|IA|intelligenza artificiale)\b[^.!?]{0,60}\bnon (?:posso|ho|sono)
<begin>(?:het spijt me|sorry|helaas)\b[^.!?]{0,30}\b(?:kan|mag) ik\b[^.!?]{0,60}\b(?:niet|geen)\b
<begin>ik (?:kan|mag)\b[^.!?]{0,40}\b(?:niet|geen)\b[^.!?]{0,30}\b(?:helpen|beantwoorden
    |beschrijven|commentaar)
<begin>(?:tyvärr|ledsen|förlåt)\b[^.!?]{0,40}\bkan (?:jag )?inte\b
<begin>(?:извините|простите|к сожалению|сожалею|прошу прощения)\b[^.!?]{0,40}\bне (?:могу
    |в состоянии|имею|вижу (?:изображени|картин|фото))
<begin>(?:я )?не (?:могу|в состоянии|имею возможности) (?:\w+ )?(?:помочь|ответить|описать
    |комментировать|прокомментировать|просматривать|видеть (?:изображ|картин))
<begin>как (?:языковая модель|ИИ|искусственный интеллект)\b[^.!?]{0,60}\bне\b
<begin>(?:вибачте|на жаль|перепрошую)\b[^.!?]{0,40}\bне можу\b
<begin>(?:przepraszam|niestety|przykro mi)\b[^.!?]{0,40}\bnie (?:mogę|jestem w stanie)\b
<begin>(?:üzgünüm|maalesef|özür dilerim)\b[^.!?]{0,80}(?:amıyorum|emiyorum|amam|emem)
<begin>(?:آسف|عذرا|عذرًا|أعتذر)[^.!؟]{0,40}(?:لا (?:أستطيع|يمكنني)|لا أقدر)
<begin>(?:क्षमा करें|माफ़ कीजिए|मुझे खेद है)[^।]{0,60}(?:नहीं (?:कर )?सकत)
<begin>(?:xin lỗi|rất tiếc)\b[^.!?]{0,30}\bkhông thể\b
<begin>maaf\b[^.!?]{0,30}\btidak (?:bisa|dapat)\b
""",
    begin=_OTHERS_BEGINNING,
    kann="(?:kann|können|darf|dürfen|bin|sind|möchten?)",
)
OTHERS_NO_PICTURE = Phrases(
    r"""
(?:您|你)(?:还|似乎|好像)?(?:没有|没|未)(?:有)?(?:上传|发送|提供|附上)
(?:看不到|没看到|看不见|打不开|收不到)(?:您|你)[^，。]{0,8}(?:照片|图片|图像)
(?:没有|未|沒有|没)(?:能)?(?:看到|收到|提供|上传|附上|接收到|显示)(?:任何|您|你|的)*(?:图片|图像|照片|圖片)
(?:图片|图像|照片)(?:似乎|好像)?(?:没有|未能|无法|未)(?:成功)?(?:上传|加载|显示|收到|打开)
请(?:您)?(?:重新)?(?:提供|上传|发送)(?:一?张)?(?:图片|图像|照片)
(?:画像|写真|イメージ)(?:が|は|を)(?:添付|表示|受信|受け取|届|見え|確認|アップロード)[^。]{0,14}(?:ません|おりません|ない)
(?:이미지|사진)(?:가|를|이|는|을)? ?(?:첨부|보이|수신|받|업로드|확인)[^.]{0,14}(?:않|없|못)
\bkeine?n?\s(?:\w+\s)?(?:Bild(?:er|es)?|Fotos?|Aufnahmen?|Anhang
    |Datei)\b[^.!?]{0,25}(?:angehängt|hochgeladen|erhalten|übermittelt|mitgeschickt|beigefügt
    |angekommen|bekommen|(?:bei mir|hier|in (?:ihrer|deiner|der) (?:nachricht|anfrage))\b)
(?:\A|[.!?]\s)\W{0,4}(?:(?:es|hier|mir|leider|in (?:ihrer
    |deiner|der) (?:nachricht|anfrage)) (?:ist|sind|liegt|liegen|war) (?:\w+ ){0,2}?)?keine?n?
    \ (?:\w+ )?(?:Bild(?:er)?|Fotos?|Aufnahmen?|Anhang|Datei) (?:vorhanden|vor)(?=[.,;!]|\Z)
\b(?:Bild|Foto)\s(?:\w+\s){0,2}nicht\s(?:\w+\s)?(?:angekommen|geladen|hochgeladen|angehängt
    |übertragen|öffnen|laden)
\b(?:aucune?|pas d['e] ?)\s?(?:image|photo|pièce)s?\b[^.!?]{0,30}(?:jointe?|reçue?|fournie?
    |partagée?|transmise?|téléchargée?|parvenue?|arrivée?)
\b(?:image|photo|pièce jointe)\b[^.!?]{0,12}\b(?:ne s'est|n'a|ne se|n'est) pas (?:été )?(?:charg
    |affich|ouv|reçu|envoy|téléch)
\bje (?:ne vois|n'ai reçu) (?:aucune|pas d['e] ?)\s?(?:image|photo)
\b(?:no (?:veo|he recibido|recibí|puedo ver|se (?:ha )?(?:adjunt|recib|carg|sub)\w*)
    |ninguna) (?:\w+ ){0,2}?(?:imagen|foto)(?:es|s)?\b(?=[^.!?]{0,25}(?:adjunt|recib|carg|lleg
    |sub|proporcion)|[.,;!]|\Z)
\b(?:nessuna|non (?:vedo|ho ricevuto) (?:nessuna|alcuna|l'))\s?(?:immagine
    |foto)\b[^.!?]{0,20}(?:allegata|ricevuta|caricata|arrivata|[.,;!]|\Z)
\b(?:nenhuma|não (?:vejo|recebi) (?:nenhuma|a)) (?:imagem|foto)\b[^.!?]{0,20}(?:anexada
    |recebida|enviada|carregada|[.,;!]|\Z)
\bgeen (?:afbeelding|foto|plaatje)(?:en|'s)?\b[^.!?]{0,20}(?:ontvangen|bijgevoegd|geüpload
    |meegestuurd|toegevoegd)
\b(?:изображени[ея]|картинк[аи]|фото(?:графи[яи])?)\b[^.!?]{0,20}\bне (?:было |были |был
    а )?(?:прикреплен|загру[зж]|получен|приложен|дошл|отобража|открыва)
\bне (?:вижу|получил[а]?) (?:никаких? |вашего |никакого )?(?:изображени|картин|фото)
""",
)
