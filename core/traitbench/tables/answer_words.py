"""Words that answer sheets have in many languages: those for no answer, verdicts, and ordered scales.

All words are folded (`folded`): without differences of case, Unicode spelling and punctuation at their end.
"""

import re
from collections.abc import Collection

from traitbench.names import canonical

_END = " .!。…"
_LONGEST, _MOST_KNOWN = 40, 24  # no word for nothing is longer, and no column has more verdicts or steps
_BLANKS = re.compile(r"[\s_’'`´]+")


def folded_word(word: str) -> str:
    """Return a word without differences of case, apostrophes, blanks and full stops."""
    return canonical(_BLANKS.sub(" ", canonical(word.strip()).casefold()).rstrip(_END).strip())


def _words(text: str) -> frozenset[str]:
    return frozenset(word for each in re.split(r"[,\n]", text) if (word := folded_word(each)))


_MISSING = _words(
    """
    nan, na, n/a, n.a, n. a, #n/a, #na, <na>, null, <null>, (null), [null], \\n, nil, nat, #null!, #value!, #ref!
    #div/0!, #name?, -, --, ---, –, —, ., ?, undefined, missing, (blank), (empty), (none), <none>, n/d, n.d, s/d
    k.a, k. a, н/д, нд, 欠損, 없음
    """
)
_NO_ANSWER = _words(
    """
    refused, refuse, refused to answer, refusal, dont know, don t know, do not know, dk, prefer not to say
    prefer not to answer, prefer not to disclose, rather not say, no answer, no response, not answered, unanswered
    not asked, not applicable, does not apply, no opinion, cant say, can t say, cannot say, skipped, declined
    declined to answer, offered, unoffered, not stated, not specified, no reply, missing value
    system missing, question not asked
    weiß nicht, weiss nicht, weiß ich nicht, keine angabe, keine antwort, keine meinung, verweigert, trifft nicht zu
    nicht zutreffend, nicht gefragt, möchte ich nicht sagen
    ne sait pas, je ne sais pas, nsp, sans réponse, pas de réponse, refus, sans opinion, non concerné
    ne souhaite pas répondre, préfère ne pas répondre, non applicable
    no sabe, no sé, ns/nc, no contesta, no sabe/no contesta, no responde, sin respuesta, prefiero no decirlo
    prefiero no contestar, no aplica, no procede, sin opinión, rehúsa
    non so, non sa, non risponde, nessuna risposta, preferisco non rispondere, rifiuto, non applicabile
    não sei, não sabe, não respondeu, sem resposta, prefiro não dizer, prefiro não responder, não se aplica, recusa
    weet niet, weet ik niet, geen antwoord, geen mening, wil niet zeggen, niet van toepassing, nvt, n.v.t
    nie wiem, odmowa, odmowa odpowiedzi, brak odpowiedzi, trudno powiedzieć, nie dotyczy, nie chcę odpowiadać
    vet ej, vet inte, inget svar, vil ikke svare, ved ikke, vet ikke, ei vastausta, en osaa sanoa
    не знаю, затрудняюсь ответить, отказ, отказ от ответа, нет ответа, не применимо, не хочу отвечать
    не знаю/затрудняюсь ответить, відмова, немає відповіді, важко сказати
    bilmiyorum, cevap yok, yanıt yok, söylemek istemiyorum, cevap vermek istemiyorum, fikrim yok, geçerli değil
    nevím, neodpověděl, bez odpovědi, nem tudom, nincs válasz, nem válaszol, nu știu, nu răspund, fără răspuns
    δεν γνωρίζω, δεν ξέρω, δεν απαντώ, δγ/δα
    わからない, 分からない, 無回答, 回答なし, 答えたくない, 該当なし, 非該当
    不知道, 不清楚, 拒绝回答, 拒答, 未回答, 不适用, 不愿回答, 無回應, 不願回答, 不適用
    모름, 모르겠다, 모르겠음, 무응답, 응답 거부, 해당 없음, 해당없음
    لا أعرف, لا اعرف, لا أدري, رفض الإجابة, لا إجابة, لا ينطبق, أفضل عدم الإجابة
    لا يوجد جواب, نمی دانم, بدون پاسخ, לא יודע, סירב לענות, אין תשובה
    पता नहीं, मालूम नहीं, कोई जवाब नहीं, जवाब नहीं, लागू नहीं, জানি না, உত্তর নেই, தெரியாது, ไม่ทราบ, ไม่ตอบ
    không biết, không trả lời, tidak tahu, tidak menjawab, tidak berlaku
    """
)


def is_missing(word: str) -> bool:
    """Whether programs write this word for an empty cell: `nan`, `NA`, `None`, `#N/A`, `-`.

    `none` in small letters is a word that people use for a class.
    """
    if len(word) > _LONGEST:
        return False
    return word == "None" or folded_word(word) in _MISSING or (not folded_word(word) and bool(word))


def is_no_text(word: str) -> bool:
    """Whether programs write this word for an empty cell, and no person writes it as a text, as `?` or `-`."""
    return is_missing(word) and any(map(str.isalpha, word))


def is_no_answer(word: str) -> bool:
    """Whether a person or a program says with this word that there is no answer: `nan`, `refused`, `weiß nicht`."""
    return len(word) <= _LONGEST and (is_missing(word) or folded_word(word) in _NO_ANSWER)


_YES = _words(
    """
    1, 1.0, yes, y, true, t, x, ja, wahr, oui, vrai, sí, si, verdadero, sì, vero, sim, verdadeiro, waar, tak, prawda, да
    так, верно, evet, doğru, ano, igen, da, ναι, sant, sandt, kyllä, 是, 对, 真, はい, 예, 네, نعم, صحيح, हाँ, हां
    có, ya, כן, ใช่
    """
)
_NO = _words(
    """
    0, 0.0, no, n, false, f, nein, falsch, non, faux, falso, não, nao, nee, onwaar, nie, fałsz, нет, ні, неверно, hayır
    yanlış, ne, nem, nu, όχι, nej, falskt, ei, 否, 不是, 假, いいえ, 아니요, 아니오, لا, خطأ, नहीं, không, tidak, לא, ไม่
    """
)


def says_yes(word: str) -> bool | None:
    """Return whether a word is a yes or a no, also as 1.0 and 0.0; None if it is neither."""
    key = folded_word(word)
    return True if key in _YES else False if key in _NO else None


# ---- verdicts --------------------------------------------------------------------------------------------------------

_ACCEPTED = _words(
    """
    accept, accepted, approve, approved, confirm, confirmed, akzeptiert, angenommen, bestätigt, accepté, approuvé
    aceptado, aceptar, aprobado, accettato, approvato, aceito, aprovado, geaccepteerd, goedgekeurd, zaakceptowano
    zaakceptowany, принято, принять, одобрено, onaylandı, kabul, 承認, 接受, 通过, 批准, 승인, مقبول
    """
)
_REJECTED = _words(
    """
    reject, rejected, decline, disapprove, disapproved, deny, denied, abgelehnt, zurückgewiesen, rejeté, refusé
    rechazado, rechazar, rifiutato, respinto, rejeitado, recusado, afgewezen, afgekeurd, odrzucono, odrzucony
    отклонено, отклонить, reddedildi, ret, 却下, 拒绝, 拒否, 不通过, 驳回, 거절, 거부, 반려, مرفوض
    """
)
_PASSED_OVER = _words(
    """
    ignore, ignored, skip, skipped, pending, unsure, undecided, unclear, flagged, later, open, todo, discarded
    übersprungen, ignoriert, offen, ausstehend, unklar, ignoré, passé, en attente, ignorado, omitido, pendiente
    omitir, saltado, ignorato, saltato, in sospeso, pulado, pendente, overgeslagen, genegeerd, pominięto, pominięty
    пропущено, пропустить, игнорировать, atlandı, beklemede, 保留, 跳过, 忽略, スキップ, 보류, 건너뜀, تخطي
    """
)
VERDICT_COLUMNS = _words("answer, verdict, decision, status, review, state, judgement, judgment, response, result")
"""Names of columns of verdicts that do not say which question they answer."""


def verdict_of(word: str) -> float | None:
    """Return 1 for a word that accepts, 0 for one that rejects; None for any other."""
    key = folded_word(word)
    return 1.0 if key in _ACCEPTED else 0.0 if key in _REJECTED else None


def are_verdicts(words: Collection[str]) -> bool:
    """Whether the words are verdicts, of which one accepts or rejects and another one rejects or passes over."""
    if len(words) > _MOST_KNOWN:
        return False
    keys = {folded_word(each) for each in words}
    decided = keys & (_ACCEPTED | _REJECTED)
    return bool(decided) and len(keys) > 1 and keys <= _ACCEPTED | _REJECTED | _PASSED_OVER | _NO_ANSWER | _MISSING


# ---- scales ----------------------------------------------------------------------------------------------------------

# Each line is a scale from low to high; words with the same place are joined with "=".
_SCALES = """
strongly disagree=completely disagree=totally disagree=fully disagree < disagree=rather disagree=tend to disagree \
< somewhat disagree=slightly disagree=disagree somewhat < neutral=neither agree nor disagree=neither=undecided\
=neither nor=not sure=unsure=partly < somewhat agree=slightly agree=agree somewhat < agree=rather agree=tend to agree \
< strongly agree=completely agree=totally agree=fully agree
never < almost never=hardly ever=very rarely < rarely=seldom < occasionally \
< sometimes=now and then=about half the time \
< often=frequently=regularly=usually < very often=very frequently=almost always=most of the time=mostly < always
no=definitely not=certainly not=not at all=absolutely not < probably not=rather not=unlikely=rather no \
< maybe=perhaps=possibly=might or might not=not sure=unsure=undecided=partly=partially=sometimes=it depends \
< probably=likely=rather yes=probably yes=mostly=somewhat < yes=definitely=certainly=absolutely=definitely yes=sure
very unlikely=extremely unlikely=not at all likely < unlikely=not likely=not so likely < somewhat unlikely \
< neutral=neither likely nor unlikely=possible=undecided < somewhat likely < likely < very likely=extremely likely
very dissatisfied=extremely dissatisfied=completely dissatisfied < dissatisfied=unsatisfied=not satisfied \
< somewhat dissatisfied < neutral=neither satisfied nor dissatisfied=neither < somewhat satisfied \
< satisfied < very satisfied=extremely satisfied=completely satisfied
very unhappy < unhappy < neutral=neither=okay=ok < happy < very happy
terrible=awful=horrible=very poor=very bad < poor=bad=not good < below average < fair=ok=okay=average=neutral\
=so-so=acceptable=medium < above average < good < very good=great < excellent=outstanding=perfect=amazing
very negative=extremely negative=strongly negative < negative < somewhat negative=slightly negative=weakly negative \
< neutral=mixed=neither < somewhat positive=slightly positive=weakly positive < positive \
< very positive=extremely positive=strongly positive
very low=lowest < low < lower < medium=moderate=mid=middle=normal=average < higher < high < very high=highest
very weak < weak < medium=moderate < strong < very strong
very small=tiny < small < medium=moderate < large=big < very large=huge
not at all=none=no < slightly=a little=a little bit=very little=minimal=hardly < somewhat=partly=a bit \
< moderately=moderate=to some extent=a moderate amount < very=quite=quite a bit=a lot=very much=considerably \
< extremely=completely=a great deal=entirely
none=absent=no < minimal=trivial=negligible=very mild < minor=mild=low=slight < moderate=medium=normal < major=severe\
=high=serious < critical=blocker=extreme=very severe=urgent
not important=not at all important=unimportant < slightly important=little important < moderately important\
=somewhat important=neutral < important < very important < extremely important=essential
very easy < easy < neutral=medium=moderate=normal < hard=difficult < very hard=very difficult
much worse < worse=somewhat worse=slightly worse < about the same=same=the same=unchanged < better=somewhat better\
=slightly better < much better
fail=failed < partial=partly=borderline < pass=passed
strongly oppose < oppose=somewhat oppose < neutral=neither < support=somewhat support < strongly support
false=completely false=pants on fire < mostly false=barely true < half true=half-true=mixed=partly true \
< mostly true < true
contradiction < neutral < entailment
stimme überhaupt nicht zu=stimme gar nicht zu=lehne stark ab=lehne völlig ab < stimme nicht zu=lehne ab \
< stimme eher nicht zu < teils teils=teils/teils=teils-teils=weder noch=neutral=unentschieden < stimme eher zu \
< stimme zu < stimme voll zu=stimme voll und ganz zu=stimme stark zu=stimme völlig zu
trifft überhaupt nicht zu=trifft gar nicht zu=trifft nicht zu < trifft eher nicht zu=trifft wenig zu \
< teils teils=teils/teils=teils-teils=trifft teilweise zu=weder noch < trifft eher zu=trifft ziemlich zu \
< trifft zu < trifft voll zu=trifft voll und ganz zu=trifft sehr zu=trifft völlig zu
nie=niemals < sehr selten=fast nie < selten < gelegentlich < manchmal=ab und zu < oft=häufig < sehr oft=sehr häufig\
=meistens=fast immer < immer
sehr unzufrieden < unzufrieden < eher unzufrieden < neutral=weder noch=teils teils=teils/teils < eher zufrieden \
< zufrieden < sehr zufrieden
sehr schlecht=miserabel=ungenügend < schlecht=mangelhaft < mittel=mittelmäßig=befriedigend=okay=ok=ausreichend=neutral \
< gut < sehr gut=ausgezeichnet=hervorragend
nein=auf keinen fall=bestimmt nicht=sicher nicht=gar nicht < eher nein=eher nicht=wahrscheinlich nicht \
< vielleicht=teilweise=unsicher=weiß noch nicht < eher ja=wahrscheinlich < ja=auf jeden fall=bestimmt=sicher=unbedingt
sehr niedrig=sehr gering < niedrig=gering < mittel < hoch < sehr hoch
sehr negativ < negativ < neutral=gemischt < positiv < sehr positiv
pas du tout d accord=tout à fait en désaccord=fortement en désaccord < pas d accord=en désaccord=plutôt pas d accord \
< ni d accord ni pas d accord=neutre=sans avis < plutôt d accord < d accord < tout à fait d accord=fortement d accord
jamais < rarement < parfois=de temps en temps=quelquefois < souvent < très souvent=presque toujours < toujours
très insatisfait=pas du tout satisfait < insatisfait=pas satisfait < plutôt insatisfait=peu satisfait < neutre=moyen \
< plutôt satisfait < satisfait < très satisfait
très mauvais=très mal < mauvais=mal < moyen=passable=correct=neutre < bon=bien < très bon=très bien < excellent
non=certainement pas=pas du tout < probablement pas=plutôt non < peut-être < probablement=plutôt oui < oui=certainement\
=tout à fait=absolument
très négatif < négatif < neutre=mitigé < positif < très positif
très faible < faible=bas < moyen < élevé=haut=fort < très élevé=très fort
totalmente en desacuerdo=muy en desacuerdo=completamente en desacuerdo < en desacuerdo < algo en desacuerdo \
< ni de acuerdo ni en desacuerdo=neutral=indiferente < algo de acuerdo < de acuerdo \
< totalmente de acuerdo=muy de acuerdo=completamente de acuerdo
nunca < casi nunca < rara vez=raramente < ocasionalmente < a veces=algunas veces < a menudo=con frecuencia\
=frecuentemente < muy a menudo=casi siempre < siempre
muy insatisfecho < insatisfecho < algo insatisfecho < neutral=indiferente < algo satisfecho < satisfecho \
< muy satisfecho
muy malo=muy mal=pésimo < malo=mal < regular=normal < bueno=bien < muy bueno=muy bien < excelente
no=definitivamente no=de ninguna manera < probablemente no < tal vez=quizás=quizá=a lo mejor=puede ser \
< probablemente=probablemente sí < sí=si=definitivamente=definitivamente sí=seguro=claro
muy negativo < negativo < neutral=neutro=mixto < positivo < muy positivo
muy bajo < bajo < medio < alto < muy alto
fortemente in disaccordo=completamente in disaccordo=per niente d accordo < in disaccordo=poco d accordo \
< né d accordo né in disaccordo=neutrale < abbastanza d accordo < d accordo < fortemente d accordo\
=completamente d accordo=molto d accordo
mai < raramente < a volte=qualche volta < spesso < molto spesso=quasi sempre < sempre
molto insoddisfatto < insoddisfatto < neutrale < soddisfatto < molto soddisfatto
pessimo=molto male < scarso=male=cattivo < sufficiente=discreto=così così < buono=bene < ottimo=molto bene=eccellente
no=sicuramente no=assolutamente no < probabilmente no < forse < probabilmente=probabilmente sì < sì=si=sicuramente=certo
discordo totalmente=discordo plenamente < discordo < discordo parcialmente \
< não concordo nem discordo=nem concordo nem discordo=neutro=indiferente < concordo parcialmente < concordo \
< concordo totalmente=concordo plenamente
nunca < quase nunca < raramente < às vezes=por vezes=algumas vezes < muitas vezes=frequentemente < quase sempre < sempre
muito insatisfeito < insatisfeito < neutro=indiferente < satisfeito < muito satisfeito
muito ruim=muito mau=péssimo < ruim=mau < regular=razoável < bom < muito bom < ótimo=excelente
não=com certeza não=de jeito nenhum < provavelmente não < talvez < provavelmente < sim=com certeza=certamente
helemaal mee oneens=zeer mee oneens=volledig oneens < mee oneens=oneens < neutraal=niet eens niet oneens\
=niet mee eens niet mee oneens < mee eens=eens < helemaal mee eens=zeer mee eens=volledig eens
nooit < zelden < soms < vaak < altijd
zeer ontevreden < ontevreden < neutraal < tevreden < zeer tevreden
zeer slecht < slecht < matig=redelijk=voldoende < goed < zeer goed=uitstekend
nee=zeker niet < waarschijnlijk niet < misschien < waarschijnlijk wel=waarschijnlijk < ja=zeker=zeker wel
zdecydowanie się nie zgadzam < nie zgadzam się=raczej się nie zgadzam \
< ani się zgadzam ani nie zgadzam=trudno powiedzieć\
=neutralnie < zgadzam się=raczej się zgadzam < zdecydowanie się zgadzam
nigdy < rzadko < czasami=czasem < często < zawsze
bardzo niezadowolony < niezadowolony < neutralny < zadowolony < bardzo zadowolony
bardzo źle=bardzo zły < źle=zły < średnio=średni=przeciętny < dobrze=dobry < bardzo dobrze=bardzo dobry=doskonały
nie=zdecydowanie nie < raczej nie < może=być może < raczej tak < tak=zdecydowanie tak
совершенно не согласен=полностью не согласен=категорически не согласен < не согласен < скорее не согласен \
< нейтрально=ни согласен ни не согласен=затрудняюсь < скорее согласен < согласен \
< полностью согласен=совершенно согласен
никогда < редко < иногда < часто < всегда
очень недоволен=совершенно недоволен < недоволен=скорее недоволен < нейтрально < доволен=скорее доволен < очень доволен\
=полностью доволен
очень плохо=ужасно < плохо < средне=нормально=удовлетворительно < хорошо < очень хорошо=отлично
нет=точно нет=определённо нет=определенно нет < скорее нет < может быть=возможно < скорее да < да=определённо да\
=определенно да=точно=конечно
kesinlikle katılmıyorum < katılmıyorum < kararsızım=ne katılıyorum ne katılmıyorum < katılıyorum \
< kesinlikle katılıyorum
asla=hiçbir zaman < nadiren < bazen=ara sıra < sık sık=genellikle < her zaman
hiç memnun değilim=çok memnuniyetsiz < memnun değilim=memnuniyetsiz < kararsızım=nötr < memnunum=memnun < çok memnunum\
=çok memnun
çok kötü < kötü < orta=vasat < iyi < çok iyi=mükemmel
hayır=kesinlikle hayır < belki < evet=kesinlikle=kesinlikle evet
非常不同意=完全不同意=强烈不同意=強烈不同意 < 不同意 < 有点不同意=比较不同意=稍微不同意 < 中立=一般=不确定=普通=無意見 \
< 有点同意=比较同意=稍微同意 < 同意 < 非常同意=完全同意=强烈同意=強烈同意
从不=從不=从来不 < 很少=極少 < 有时=有時=偶尔=偶爾 < 经常=經常=常常 < 总是=總是=一直
非常不满意=很不满意=非常不滿意=很不滿意 < 不满意=不滿意 < 一般=中立=普通 < 满意=滿意 < 非常满意=很满意=非常滿意=很滿意
很差=非常差 < 差 < 一般=普通=中等 < 好 < 很好=非常好
不=否=不是=绝对不 < 也许=可能=不一定=或许 < 是=一定=肯定=当然
全くそう思わない=まったくそう思わない=全く同意しない < そう思わない=あまりそう思わない=同意しない < どちらともいえない\
=どちらでもない=普通 < そう思う=ややそう思う=まあそう思う=同意する \
< とてもそう思う=非常にそう思う=強くそう思う=強く同意する
全くない=まったくない < めったにない=ほとんどない < たまにある=時々=ときどき=時々ある < よくある=しばしば < いつも=常に
非常に不満=とても不満=大変不満 < 不満=やや不満 < どちらともいえない=普通 < 満足=やや満足 \
< 非常に満足=とても満足=大変満足
とても悪い=非常に悪い < 悪い < 普通=ふつう < 良い=よい < とても良い=非常に良い
いいえ < たぶん=多分=どちらともいえない < はい
전혀 그렇지 않다=매우 동의하지 않음=전혀 동의하지 않음 < 그렇지 않다=동의하지 않음 < 보통이다=보통=중립 \
< 그렇다=동의함 < 매우 그렇다=매우 동의함
전혀=전혀 없음 < 거의 없음=드물게 < 가끔=때때로 < 자주 < 항상
매우 불만족=매우 불만 < 불만족=불만 < 보통 < 만족 < 매우 만족
아니요=아니오=절대 아니다 < 아마도=아마=글쎄요 < 예=네=확실히
لا أوافق بشدة=أعارض بشدة=غير موافق بشدة < لا أوافق=أعارض=غير موافق < محايد < أوافق=موافق < أوافق بشدة=موافق بشدة
أبدا=أبدًا=ابدا < نادرا=نادرًا < أحيانا=أحيانًا=احيانا < غالبا=غالبًا < دائما=دائمًا
غير راض جدا=غير راضٍ جدا < غير راض=غير راضٍ < محايد < راض=راضٍ < راض جدا=راضٍ جدا
سيء جدا=سيئ جدا < سيء=سيئ < متوسط=مقبول < جيد < جيد جدا < ممتاز
لا < ربما < نعم=بالتأكيد
पूरी तरह असहमत=दृढ़ता से असहमत < असहमत < तटस्थ < सहमत < पूरी तरह सहमत=दृढ़ता से सहमत
कभी नहीं < शायद ही कभी < कभी-कभी=कभी कभी < अक्सर < हमेशा
नहीं < शायद < हाँ=हां
helt oenig=instämmer inte alls < oenig=instämmer inte < varken eller=neutral < enig=instämmer < helt enig=instämmer helt
aldrig < sällan < ibland < ofta < alltid
nej=absolut inte < kanske < ja=absolut
rất không đồng ý=hoàn toàn không đồng ý < không đồng ý < trung lập=bình thường < đồng ý < rất đồng ý=hoàn toàn đồng ý
không bao giờ < hiếm khi < thỉnh thoảng=đôi khi < thường xuyên < luôn luôn
không < có thể < có=chắc chắn
sangat tidak setuju < tidak setuju < netral=ragu-ragu < setuju < sangat setuju
tidak pernah < jarang < kadang-kadang=kadang < sering < selalu
tidak < mungkin < ya=tentu
διαφωνώ απόλυτα < διαφωνώ < ούτε συμφωνώ ούτε διαφωνώ=ουδέτερο < συμφωνώ < συμφωνώ απόλυτα
ποτέ < σπάνια < μερικές φορές < συχνά < πάντα
"""


def _scale(line: str) -> dict[str, int]:
    levels = [[folded_word(word) for word in level.split("=")] for level in line.split("<")]
    return {word: level for level, words in enumerate(levels) for word in words}


_READ_SCALES = tuple(_scale(line) for line in _SCALES.replace("\\\n", "").strip().splitlines())


def scale_of(words: Collection[str]) -> dict[str, int] | None:
    """Return the place of each word on a known scale that has all of them, the lowest 0; None without one.

    Two words with the same place, such as "good" and "great", keep it.
    """
    if len(words) > _MOST_KNOWN:
        return None
    keys = {folded_word(word): word for word in words}
    fitting = (scale for scale in _READ_SCALES if keys.keys() <= scale.keys())
    scale = max(fitting, key=lambda each: len({each[key] for key in keys}), default=None)
    return {word: scale[key] for key, word in keys.items()} if scale and len(keys) == len(words) else None
