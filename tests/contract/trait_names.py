"""Any names of traits, of all scripts."""

from hypothesis import strategies as st

SCRIPTS = "aAbß#+ -_.!éÉİıſ\u0301\u0307\u093c\u094dहिन्दीकไทยשׁلَ한ㅎ\u1112ΣςσǅĲ①Ⅷ٣\U00010a41\U0001f600\ufe0f\u200d\u0345ᾳ"
NAMES = st.text(st.sampled_from(SCRIPTS) | st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=60, max_size=70
)
