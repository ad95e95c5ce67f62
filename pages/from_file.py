"""From a file: what is in a labelled file, the model that it makes, and its first result; or its texts by two words."""

from dataclasses import replace
from pathlib import Path

import streamlit as st

from traitbench.display.text import count, plain
from traitbench_app.from_file.by_names import draw_by_names
from traitbench_app.from_file.drop import FILE, FORM, NEGATIVE, POSITIVE, draw_drop, dropped, forget
from traitbench_app.from_file.layout import draw_columns, found_in, lead_of, title_of, with_clean_texts
from traitbench_app.from_file.making import go_on, made, make
from traitbench_app.from_file.plan import draw_plan, draw_unused
from traitbench_app.from_file.result import draw_result
from traitbench_app.label.view import QUEUES
from traitbench_app.parts.controls import draw_title
from traitbench_app.parts.door import EITHER, OR, problem_of
from traitbench_app.parts.heading import heading
from traitbench_app.parts.model_actions import TO_LABEL, ask_for_model, new_model
from traitbench_app.parts.runs import watch
from traitbench_app.parts.upload import pick_text_column, read_texts, read_upload
from traitbench_app.shell.navigation import model_link, page_link
from traitbench_app.shell.permission import why_nowhere
from traitbench_app.shell.service import attempt, client, namespaces

owned = namespaces()
file, name = dropped(), st.query_params.get(FILE)
words = {key: word.strip() for key in (NEGATIVE, POSITIVE) if (word := st.query_params.get(key, "")).strip()}

if nowhere := why_nowhere(owned):
    heading("from_file")
    with st.container(border=True, key="from_file.closed"):
        st.markdown(f":material/lock: **You cannot create models here.** {nowhere}")
    st.stop()

# ---- after the creation: progress, result ----------------------------------------------------------------------------

model = made()
if model is not None:
    if model.state == "draft":
        go_on(model)
    elif model.state == "busy":
        watch(model, client().traits.list(model.handle), is_first=True)
    elif model.state == "failed":
        last = model.last_operation
        draw_title(
            "The training failed", plain(last.error.message) if last and last.error else "", "Its samples are safe."
        )
        if st.button("Train again", type="primary", key="from_file.train"):
            with attempt() as training:
                client().models.train(model.handle)
            if training.done:
                st.rerun()
        model_link("model", "Open the model", model=model.handle)
    else:
        draw_result(model)
    st.button(
        "Use another file", icon=":material/upload_file:", type="tertiary", key="from_file.again", on_click=forget
    )
    st.stop()

# ---- no file ---------------------------------------------------------------------------------------------------------

if file is None:
    heading("from_file")
    if name:
        st.info(f"**{plain(name)}** is not in this session any more. Drop it again.", icon=":material/info:")
    if words:
        st.markdown(
            "Its texts are scored between " + " and ".join(f"**{plain(word)}**" for word in words.values()) + "."
        )
    draw_drop(**words)
    st.stop()

# ---- its texts by two words, which no label tested -------------------------------------------------------------------

if words:
    poles = words.get(NEGATIVE, ""), words.get(POSITIVE, "")
    if problem := problem_of(poles):
        st.markdown(problem)
    else:
        result = st.container()
        with st.container(border=True, key="card.reading"):
            upload = read_upload(FORM, file)
            column = pick_text_column(upload.source.head, key=f"{upload.key}.column") if upload else None
            if upload and column:
                source = read_texts(upload.source, column, key=upload.key)
                upload = replace(upload, source=source, way=source.way_to_read(column))
        if upload and column:
            with result:
                draw_by_names(upload, column, poles, owned, order=QUEUES["informative"])
    with st.container(horizontal=True):
        st.button("Choose another file", type="tertiary", key="from_file.again", on_click=forget)
        page_link(
            "catalog",
            "Back to the two words",
            icon=":material/arrow_back:",
            **dict(zip((EITHER, OR), poles, strict=True)),
        )
    st.stop()

# ---- the file: what was found, and the model that it makes -----------------------------------------------------------

top, body, reading = st.container(), st.container(), st.container(border=True, key="card.reading")
with reading:
    upload = read_upload(FORM, file)
    upload = with_clean_texts(upload) if upload else None
layout = found_in(upload) if upload else None
plan, why, texts = None, "", []
if layout is not None:
    with body:
        draw_columns(layout)
        if layout.text and layout.makes_traits:
            plan, why = draw_plan(layout, owned)
        else:
            draw_unused(layout)
            why = "" if layout.text else "Choose the column with the texts."
            texts = layout.reading.texts
            new_model(name=Path(file.name).stem, texts=texts, source=file.name)

with top:
    title, buttons = st.columns([2, 1], vertical_alignment="top")
    with title:
        if layout is None:
            draw_title(f"{plain(file.name)} cannot be read", "The reason and the way out are below.")
        else:
            draw_title(title_of(layout, len(plan.traits) if plan else None), lead_of(layout), plain(why))
    with buttons, st.container(horizontal=True, horizontal_alignment="right"):
        st.button("Choose another file", type="tertiary", key="from_file.again", on_click=forget)
        if texts:
            st.button(
                f"Label {count(len(texts), 'text')}",
                type="primary",
                icon=":material/label:",
                key="from_file.label",
                on_click=ask_for_model,
                args=(TO_LABEL,),
            )
        elif layout is not None:
            create = st.button(
                "Create and train",
                type="primary",
                key="from_file.create",
                disabled=plan is None,
                help=why or None,
            )
    if plan is not None and create:
        make(plan)
