"""Small controls of pages: confirmations, folded details, links, copies, downloads, filters, cards, unreadable rows.

`ask` is a button callback. While the question is open, `confirm` draws it in a dialog and acts only on yes. If the
service refuses, the dialog stays open and shows the reason.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import streamlit as st

from traitbench.contract.fields import Unreadable
from traitbench.display.text import count, plain, shortened
from traitbench_app.shell import session
from traitbench_app.shell.navigation import PageName, link, page_link
from traitbench_app.shell.service import attempt

Item = TypeVar("Item")


def ask(question: str, subject: str) -> None:
    """Open a question about a subject. The key of a question starts with the name of its page."""
    forget(question)
    session.store(question, subject)


def asked(question: str) -> str | None:
    """The subject of the question while it is open, else None."""
    subject = session.get(question)
    return subject if isinstance(subject, str) else None


def forget(question: str) -> None:
    """Close the question."""
    for each in (question, f"{question}.pressed", f"{question}.shown"):
        session.store(each, None)


def confirm(
    question: str, *, title: str, body: str, yes: str, icon: str, act: Callable[[], None], no: str = "Keep it"
) -> None:
    """Draw the open question; on yes, call `act` and rerun the page. If the body has changed meanwhile, ask again."""

    def ask_it() -> None:
        st.markdown(body)
        refusal = st.container()
        with st.container(horizontal=True, horizontal_alignment="right"):
            if st.button(no, key=f"{question}.no"):
                forget(question)
                st.rerun()
            pressed = st.button(yes, icon=icon, type="primary", key=f"{question}.yes")
        with refusal:
            agreed = agreed_to(question, body, pressed)
            if not agreed:
                return
            with attempt() as acting:
                act()
        if acting.done:
            forget(question)
            st.rerun()

    st.dialog(title, on_dismiss=lambda: forget(question))(ask_it)()


def agreed_to(question: str, what: str, pressed: bool) -> bool:
    """Whether a button of a dialog was pressed for `what`.

    A press in a dialog does not run the page, which may know more now; so run it, then compare.
    """
    if pressed:
        session.store(f"{question}.pressed", True)
        st.rerun()
    waiting = bool(session.get(f"{question}.pressed"))
    session.store(f"{question}.pressed", None)
    return as_shown(question, what, waiting)


def as_shown(key: str, what: str, pressed: bool) -> bool:
    """Whether a button was pressed for `what`; call it at every run, with what the page says that the button will do.

    What the page says may have changed, in another tab or by another person. Then a press is not meant for what it
    says now, so it draws a warning instead.
    """
    shown = session.get(f"{key}.shown", what)
    session.store(f"{key}.shown", what)
    if pressed and shown != what:
        st.warning("This has changed meanwhile. Read it again, then decide.", icon=":material/sync_problem:")
    return pressed and shown == what


_JS = """
export default function ({ parentElement }) {
  const host = parentElement.host ?? parentElement.getRootNode().host ?? parentElement
  const dialog = host.closest('[role="dialog"]')
  if (!dialog || dialog.dataset.focused) return
  const field = dialog.querySelector('input:not([type="hidden"]):not([disabled]), textarea:not([disabled])')
  if (!field) return
  dialog.dataset.focused = 'yes'
  // After the dialog has taken the focus itself.
  setTimeout(() => field.focus(), 50)
}
"""

_focus = st.components.v2.component("traitbench_focus", js=_JS)


def focus_first_field(key: str) -> None:
    """Put the keyboard into the first field of the dialog that this is drawn in; call it after the fields."""
    _focus(key=key, height=0)


@contextmanager
def folded(label: str, *, icon: str, key: str) -> Iterator[bool]:
    """Draw the expander and give whether it is open; the caller draws the content only then."""
    expander = st.expander(label, icon=icon, key=key, bind="query-params")
    with expander:
        yield bool(expander.open)


def is_open(key: str) -> bool:
    """Whether the expander is open, even before it is drawn; a link has `?<key>=true` then."""
    return str(session.get(key, st.query_params.get(key))).lower() == "true"


_STYLE = """
<style>
.st-key-primary_link a { background: light-dark(#0F766E, #178278); border-radius: 8px; }
.st-key-primary_link a, .st-key-primary_link a * { color: #fff !important; font-weight: 600; }
.st-key-primary_link a { padding: 0.35rem 0.9rem; }
.st-key-primary_link a:hover { filter: brightness(1.1); }
</style>
"""


def primary_link(name: PageName, label: str, *, icon: str | None = None, **query: str) -> None:
    """Draw the link; a page draws it once."""
    with st.container(key="primary_link", width="content"):
        st.html(_STYLE)
        page_link(name, label, icon=icon, **query)


def page_of(every: Sequence[Item], size: int, *, key: str) -> Sequence[Item]:
    """Return the items of the chosen page; draw the choice if there are several pages."""
    pages = -(-len(every) // size)
    # With the number of pages in the key: after a filter, the chosen page may not exist.
    page = st.pagination(pages, key=f"{key}:{pages}") if pages > 1 else 1
    return every[(page - 1) * size : page * size]


_MEDIA_TYPES = {
    "csv": "text/csv",
    "ipynb": "application/x-ipynb+json",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "md": "text/markdown",
    "parquet": "application/vnd.apache.parquet",
}


def download(label: str, content: Any, file_name: str, *, icon: str = ":material/download:", **look: Any) -> None:
    """Draw a button that downloads a file, whose extension says its type; a function makes it when it is pressed."""
    mime = _MEDIA_TYPES[file_name.rpartition(".")[2]]
    # A download changes nothing on the page, so it does not run it again.
    st.download_button(label, content, file_name, mime, icon=icon, on_click="ignore", **look)


_SHOWN = 10
_RESTORE = "Restore this {one} from a backup, or ask the operator to remove it."


def draw_unreadable(rows: Sequence[Unreadable], one: str, *, key: str, way_out: str = _RESTORE) -> None:
    """Draw the unreadable rows, if any; `one` is the noun for a row, such as "model" or "version"."""
    for position, row in enumerate(rows[:_SHOWN]):
        cannot_be_read(row.item, row.reason, one, key=f"{key}.{position}", way_out=way_out)
    if len(rows) > _SHOWN:
        st.caption(f"{count(len(rows) - _SHOWN, f'more {one}')} cannot be read.")


def cannot_be_read(item: str, reason: str, one: str, *, key: str, way_out: str = _RESTORE) -> None:
    """Draw one unreadable row."""
    with st.container(border=True, key=key):
        which, why = plain(shortened(item, 200)), plain(shortened(reason, 300))
        st.markdown(f":material/warning: {one.capitalize()} **{which}** cannot be read: {why}.")
        st.caption(f"{way_out.format(one=one)} Nothing else is affected.")


_HTML = """
<button type="button"><span class="icon"></span><span class="label"></span></button>
<textarea readonly hidden aria-label="Text to copy"></textarea>
"""

_CSS = """
:host { display: block; }
button {
  display: inline-flex; align-items: center; gap: 0.4rem; min-height: 2.5rem; padding: 0.25rem 0.75rem; margin: 0;
  font: inherit; font-size: 0.875rem; color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-widget-border-color, var(--st-border-color)); border-radius: var(--st-button-radius);
  cursor: pointer; white-space: nowrap;
}
button:hover, button:focus-visible, button.done {
  color: var(--st-primary-color); border-color: var(--st-primary-color); outline: none;
}
button:has(.label:empty) { visibility: hidden; }
svg { width: 1.05rem; height: 1.05rem; display: block; }
textarea {
  width: 100%; resize: vertical; box-sizing: border-box; margin-top: 0.4rem; padding: 0.35rem 0.5rem;
  font: inherit; font-size: 0.875rem;
  color: var(--st-text-color); background: var(--st-secondary-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-base-radius);
}
textarea[hidden] { display: none; }
"""

_COPY_JS = """
const LINK = '<path d="M10 14a5 5 0 0 0 7.07 0l2.83-2.83a5 5 0 0 0-7.07-7.07L11.4 5.5'
  + 'M14 10a5 5 0 0 0-7.07 0L4.1 12.83a5 5 0 0 0 7.07 7.07L12.6 18.5"/>'
const COPY = '<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M5 15V6a2 2 0 0 1 2-2h8"/>'
const TICK = '<path d="M5 12.5l4.5 4.5L19 7.5"/>'
const icon = (path) => '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8"'
  + ' stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">' + path + '</svg>'

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector('button')
  const field = parentElement.querySelector('textarea')
  const show = (path, label) => {
    button.querySelector('.icon').innerHTML = icon(path)
    button.querySelector('.label').textContent = label
  }
  const text = data.text.startsWith('/') ? new URL(data.text, window.location.origin).href : data.text
  const sign = data.icon === 'link' ? LINK : COPY
  show(sign, data.label)
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(text)
      button.classList.add('done')
      show(TICK, data.done)
      setTimeout(() => { button.classList.remove('done'); show(sign, data.label) }, 1800)
    } catch {
      field.hidden = false
      field.value = text
      field.rows = Math.min(text.split('\\n').length, 12)
      field.focus()
      field.select()
    }
  }
}
"""

_button = st.components.v2.component("traitbench_copy", html=_HTML, css=_CSS, js=_COPY_JS)


def copy_button(text: str, *, label: str, key: str, icon: Literal["copy", "link"] = "copy") -> None:
    """Draw the button; after a copy it shows "Copied" for a moment.

    A browser may deny clipboard access (plain http to another machine). Then the text is shown and selected, to be
    copied by hand.
    """
    _button(data={"text": text, "label": label, "done": "Copied", "icon": icon}, key=key, width="content")


def copy_link(page: PageName, /, **query: str | int | None) -> None:
    """Draw a button that copies the link of the current view."""
    copy_button(link(page, **query), label="Copy link", icon="link", key=f"{page}.copy_link")


_Option = TypeVar("_Option", bound=Hashable)


def find(key: str, placeholder: str, *, most: int | None = None) -> str:
    """Draw the field that searches, and return what is typed; `most` is the largest number of characters."""
    return st.text_input(
        "Find",
        key=key,
        bind="query-params",
        type="search",
        icon=":material/search:",
        placeholder=placeholder,
        max_chars=most,
        live="300ms",
        width=300,
    )


def pick(label: str, words: Mapping[_Option, str], *, key: str, every: str = "All") -> _Option | None:
    """Draw a choice among the keys of `words`, which say what each is; `every` says that none is chosen."""
    return st.selectbox(
        label,
        list(words),
        index=None,
        key=key,
        bind="query-params",
        format_func=lambda option: words.get(option, str(option)),
        placeholder=every,
        width=190,
    )


@contextmanager
def question(title: str, *, key: str, note: str = "") -> Iterator[None]:
    """Draw the card around what the caller draws; `note` is a few words in Markdown beside the title."""
    with st.container(border=True, key=f"card.{key}"):
        with st.container(
            horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key=f"question.{key}"
        ):
            st.header(title, anchor=False, width="content")
            if note:
                st.caption(note, width="content")
        yield


def draw_title(title: str, *lines: str, is_first: bool = True) -> None:
    """Draw the answer and the lines below it, in Markdown; empty lines are left out.

    It is the first heading of the page, unless a header line of a model is above it.
    """
    with st.container(gap="small", key="answer"):
        (st.title if is_first else st.header)(title, anchor=False)
        for line in filter(None, lines):
            st.markdown(line)
