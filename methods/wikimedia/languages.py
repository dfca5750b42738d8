"""Names of the languages of Wikipedia, for prompts."""

_NAMES = """
af Afrikaans, an Aragonese, ar Arabic, arz Egyptian Arabic, ast Asturian, az Azerbaijani, azb South
Azerbaijani, ba Bashkir, bar Bavarian, be Belarusian, bg Bulgarian, bn Bengali, br Breton, bs
Bosnian, ca Catalan, ce Chechen, ceb Cebuano, ckb Central Kurdish, cs Czech, cv Chuvash, cy Welsh,
da Danish, de German, el Greek, en English, eo Esperanto, es Spanish, et Estonian, eu Basque, fa
Persian, fi Finnish, fo Faroese, fr French, fy West Frisian, ga Irish, gd Scottish Gaelic, gl
Galician, gu Gujarati, he Hebrew, hi Hindi, hr Croatian, ht Haitian Creole, hu Hungarian, hy
Armenian, ia Interlingua, id Indonesian, is Icelandic, it Italian, ja Japanese, jv Javanese, ka
Georgian, kk Kazakh, km Khmer, kn Kannada, ko Korean, ku Kurdish, ky Kyrgyz, la Latin, lb
Luxembourgish, lo Lao, lt Lithuanian, lv Latvian, mg Malagasy, mk Macedonian, ml Malayalam, mn
Mongolian, mr Marathi, ms Malay, my Burmese, nds Low German, ne Nepali, nl Dutch, nn Norwegian
Nynorsk, no Norwegian, oc Occitan, or Odia, pa Punjabi, pl Polish, pnb Western Punjabi, ps Pashto,
pt Portuguese, ro Romanian, ru Russian, sa Sanskrit, sco Scots, sd Sindhi, sh Serbo-Croatian, si
Sinhala, simple Simple English, sk Slovak, sl Slovenian, so Somali, sq Albanian, sr Serbian, su
Sundanese, sv Swedish, sw Swahili, ta Tamil, te Telugu, tg Tajik, th Thai, tl Tagalog, tr Turkish,
tt Tatar, ug Uyghur, uk Ukrainian, ur Urdu, uz Uzbek, vi Vietnamese, wa Walloon, war Waray, yi
Yiddish, yo Yoruba, yue Cantonese, zh Chinese, zu Zulu
"""
_NAME_OF = dict(pair.split(" ", 1) for pair in " ".join(_NAMES.split()).split(", "))


def language_name(code: str) -> str:
    """Return the English name of the language of a Wikipedia.

    Args:
        code: The first part of the wiki's address, such as `ja`.

    Returns:
        The name, or a description with the code for a language that is not in the table.
    """
    return _NAME_OF.get(code, f"the language of the Wikipedia with the code {code!r}")
