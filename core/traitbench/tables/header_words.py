"""What the name of a column says about its cells, in several languages."""

import re
from functools import cache

from traitbench.names import canonical

_SPLIT = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_RANGE = re.compile(
    r"(?<![\d.])(-?\d{1,3})\s*(?:-|–|—|\.\.\.?|…|to|bis|à|a|до|~|至|から)\s*(-?\d{1,3})(?![\d.])", re.IGNORECASE
)
_ENDS = re.compile(r"(-?\d{1,3})\s*=\s*[^,;)\d]+[,;)]\s*(?:.*?[,;\s])?(-?\d{1,3})\s*=")

_LABEL = """
quality label labels pole score class sentiment rating target y category topic mood tone emotion intent stars
type style stance polarity annotation gold verdict kategorie thema stimmung bewertung sterne klasse gefühl ton
étiquette classe humeur avis catégorie étiquettes etiqueta clase categoría ánimo tono etichetta categoria
umore rótulo rotulo klasa etykieta метка класс категория тональность 标签 標籤 类别 類別 情感
ラベル カテゴリ 感情 라벨 레이블 분류 감정
etiket sınıf
"""
_SCALE = """
rating rate rated stars star score scores scale likert satisfaction satisfied agreement agree nps level grade
quality intensity severity priority urgency valence arousal dominance politeness toxicity polarity sentiment
importance likelihood happiness warmth clarity strength difficulty confidence usefulness helpfulness relevance
similarity points sterne bewertung zufriedenheit skala punkte note stufe zustimmung wichtigkeit évaluation
échelle étoiles puntuación puntuacion valoración valoracion calificación calificacion satisfacción
satisfaccion escala estrellas nota voto valutazione punteggio soddisfazione stelle avaliação avaliacao
satisfação satisfacao estrelas pontuação beoordeling tevredenheid sterren schaal ocena gwiazdki оценка рейтинг
балл баллы звёзды звезды puan yıldız memnuniyet likely recommend wahrscheinlich weiterempfehlen recommander
recomendar recomendaría consigliare aanbevelen
"""
_SCALE_PARTS = ("评分", "評分", "評価", "评价", "満足", "满意", "星", "평점", "별점", "만족", "تقييم", "रेटिंग")
_MEASURE = """
age year years month day hour minute second week weekday time duration length count number num words chars
characters tokens likes retweets shares votes views clicks price amount cost sum total index position rank row
line page size width height lat lon latitude longitude zip postcode version followers upvotes downvotes
replies helpful lead seconds minutes alter jahr monat tag stunde woche zeit dauer länge anzahl preis betrag
plz zeile seite âge année mois jour heure durée nombre prix edad año mes día hora duración número precio
cantidad età anno mese giorno ora durata prezzo idade ano возраст год месяц день час цена количество yaş yıl
"""
_IDENTIFIER = """
id ids uuid guid hash key nr no number index idx code sku serial url uri link email mail phone username
kennung schlüssel identifiant clé identificador clave codice chiave código
"""
_GROUP = """
status flag group cohort bracket
region country state city area zone district segment department team branch store shop product brand source
platform channel language lang locale gender sex agegroup education income party religion ethnicity device os
browser model batch wave round site location province continent market industry sector role domain dataset
corpus file sheet land bundesland stadt abteilung geschlecht sprache kanal produkt marke quelle filiale pays
ville région langue sexe magasin produit marque país ciudad región idioma género sexo tienda producto
paese città regione lingua genere negozio marca cidade região loja страна город регион пол язык ülke şehir
bölge cinsiyet
"""
_PERSON = """
annotator rater coder worker judge labeler labeller reviewer annotated labelled evaluator grader assessor
completed by annotators annotateur anotador annotatore bewerter kodierer codierer annotierer beurteiler
rotulador разметчик оценщик аннотатор 标注者 標註者 评分者 アノテーター 주석자
"""
_TOGETHER = """
conversation conv thread dialog dialogue session chat user author speaker respondent participant customer
client patient document doc article book story essay ticket case subject student video episode post parent
interview household family account member person writer poster konversation gespräch faden nutzer autor
autorin sprecher befragte teilnehmer kunde dokument artikel fall vorgang auteur utilisateur répondant
participante usuario cliente conversación documento encuestado autore utente conversazione intervistato
usuário conversa entrevistado автор диалог беседа пользователь респондент документ yazar kullanıcı görüşme
belge 对话 會話 会话 作者 用户 会話 著者 대화 작성자 문서
"""
_TRAIT = """
trait dimension aspect criterion criteria attribute question task item measure property construct variable
merkmal frage kriterium aspekt critère aspecto criterio pregunta
"""
_TEXT = """
text content sample sentence message review comment body answer feedback note notes remark remarks description
post tweet reply response question opinion kommentar nachricht rezension satz antwort beschreibung bemerkung
commentaire texte avis réponse comentario texto respuesta opinión reseña commento testo risposta recensione
comentário resposta opinie tekst komentarz текст комментарий отзыв сообщение ответ yorum metin görüş 评论 文本 内容
コメント 本文 感想 댓글 내용 تعليق نص टिप्पणी
"""


@cache
def tokens_of(name: str) -> frozenset[str]:
    """Return the words of a name, case-folded."""
    return frozenset(canonical(each).casefold() for each in _SPLIT.split(canonical(name)) if each)


def _says(words: str) -> frozenset[str]:
    return frozenset(canonical(word).casefold() for word in words.split())


_WORDS = {
    "label": _says(_LABEL),
    "scale": _says(_SCALE),
    "measure": _says(_MEASURE),
    "identifier": _says(_IDENTIFIER),
    "group": _says(_GROUP),
    "person": _says(_PERSON),
    "together": _says(_TOGETHER),
    "trait": _says(_TRAIT),
    "text": _says(_TEXT),
}


def names(name: str, what: str) -> bool:
    """Whether the name of a column has a word for this: label, scale, measure, identifier, group, person, ..."""
    own = tokens_of(name)
    return bool(own & _WORDS[what]) or (what == "scale" and any(part in name for part in _SCALE_PARTS))


def is_only(name: str, what: str) -> bool:
    """Whether the name has only words for this, and digits."""
    return all(each in _WORDS[what] or each.isdigit() for each in tokens_of(name)) and names(name, what)


def ends_in(name: str) -> tuple[float, float] | None:
    """Return the ends of a scale that a header names: `(1-5)`, `0 to 10`, `1 = never, 7 = always`; None without."""
    for match in (*_RANGE.finditer(name), *_ENDS.finditer(name)):
        low, high = float(match[1]), float(match[2])
        if 1 < high - low <= 200:
            return low, high
    return None
