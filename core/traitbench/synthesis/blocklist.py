"""Words that synthesis never uses unless the trait itself names them: words for groups of people, and swear words.

Encoders were trained on what people write about each other. Without the list, a nationality or a religion could appear
among the words for a pole, and the model would learn that bias. The list holds the most common words, not all.
"""

_PEOPLE = """
african africans american americans arab arabs arabic asian asians australian brazilian british bulgarian
canadian chinese croatian cuban czech danish dutch egyptian english european europeans filipino finnish french
german germans greek greeks hispanic hungarian indian indians indonesian iranian iraqi irish israeli italian
italians japanese korean latin latino latina malaysian mexican mexicans moroccan nigerian norwegian pakistani
palestinian polish portuguese romanian russian russians scottish serbian spanish swedish swiss syrian thai
turk turkish turks ukrainian vietnamese welsh africa afghanistan america asia china germany india iran iraq
israel japan korea mexico pakistan palestine poland russia syria turkey ukraine vietnam aboriginal black
blacks ethnic ethnicity foreigner foreigners gypsy immigrant immigrants immigration indigenous migrant
migrants native natives negro race racial refugee refugees tribal tribe tribes white whites buddhist catholic
catholics christian christianity christians hindu hinduism hindus islam islamic jew jewish jews judaism mosque
muslim muslims protestant sikh synagogue bisexual boy boys female females gay gender gentleman girl girls
heterosexual homosexual homosexuality ladies lady lesbian male males man men queer sex sexual sexuality
transgender woman women blind crippled deaf disabled disability elderly fat obese old retarded young
"""
_SWEARING = """
ass asshole bastard bitch bloody boobs breast breasts bullshit cock crap cum cunt damn damned dick erotic fuck
fucked fucker fucking goddamn hell hitler idiot incest lust motherfucker murder naked nazi nazis nigga nigger
nipple nipples nude orgasm penis piss porn prostitute prostitutes pussy rape raped rapist sexy shit slave
slavery slaves slut suck sucks suicide thigh thighs tits vagina whore
"""
BLOCKLIST = frozenset(f"{_PEOPLE} {_SWEARING}".split())
