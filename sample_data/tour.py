"""A tour of Traitbench in marimo: `marimo edit tour.py`. The same as `tour.ipynb`."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    return (mo,)


@app.cell
def _(mo):
    mo.md("""
    # Traitbench in a notebook

    From labelled texts to a model in the workbench: train, explain, ask a corpus, compare two versions. The texts are
    those of the demo model `support-tone`. Nothing is requested from the internet.

    The second half needs a running service. Start it with `traitbench`, and put its API key into `TRAITBENCH_API_KEY`.
    """)
    return


@app.cell
def _():
    import os
    from datetime import datetime

    import pandas as pd

    import traitbench as tb
    from traitbench.sample_data import demo_models

    [tone] = [model for model in demo_models() if model.handle == "demo.support-tone"]
    samples = pd.DataFrame(tone.samples).query("trait == 'warmth'").reset_index(drop=True)
    few, more, rest = samples[:20], samples[:60], samples[60:].reset_index(drop=True)
    samples.head()
    return datetime, demo_models, few, more, os, pd, rest, samples, tb, tone


@app.cell
def _(mo):
    mo.md("""
    ## Train without a service

    A scorer is a scikit-learn classifier. It gives the numbers that a service would give.
    """)
    return


@app.cell
def _(more, tb):
    scorer = tb.Scorer("Warmth", poles=("cold", "warm"), effort="low").fit(more["text"], more["quality"])
    scorer
    return (scorer,)


@app.cell
def _(scorer, tone):
    text = tone.examples["Warm and on it"]
    scorer.cards([text])[0]
    return (text,)


@app.cell
def _(scorer, text):
    scorer.explain(text)
    return


@app.cell
def _(mo):
    mo.md("""
    ## See how many texts spread

    An overview of a scored frame has the texts at both ends, and says which have no clear side, and why.
    """)
    return


@app.cell
def _(rest, scorer, tb):
    tb.overview(tb.score(rest[["text"]], "text", scorer=scorer))
    return


@app.cell
def _(mo):
    mo.md("""
    ## Label more texts

    Click the widget and use the keys: ← cold, → warm, ↓ skip, ? help. The texts that teach most come first. The
    labelled texts are in `labeller.samples`.
    """)
    return


@app.cell
def _(mo, rest, scorer):
    labeller = mo.ui.anywidget(scorer.label(rest["text"]))
    labeller
    return (labeller,)


@app.cell
def _(mo):
    mo.md("""
    ## Ask a corpus

    What share of many texts is warm? Scores of all texts and the labels of a random sample answer, with an interval.
    Here the labels come from the demo; you would give them yourself, without looking at the scores.
    """)
    return


@app.cell
def _(rest, scorer, tb):
    drawn = tb.corpus.draw(len(rest), size=30, seed=7)
    labels = {row: rest["quality"][row] for row in drawn}
    tb.share(rest["text"], labels, scorer=scorer, seed=7)
    return drawn, labels


@app.cell
def _(mo):
    mo.md("""
    ## Send it to the service

    Version 1 learns from 20 samples. A fork of the model learns from 60 and becomes version 2. Both are compared on the
    same test samples, which no version learns from.
    """)
    return


@app.cell
def _(datetime, few, os, rest, tb):
    address = os.environ.get("TRAITBENCH_API_URL", "http://127.0.0.1:8501")
    client = tb.Traitbench(address, os.environ["TRAITBENCH_API_KEY"])
    handle = f"local.tour-{datetime.now():%Y%m%d-%H%M%S}"

    def inputs(frame, held_out=False):
        rows = frame[["text", "quality"]].to_dict("records")
        return [tb.SampleInput(trait="warmth", held_out=held_out, **row) for row in rows]

    client.models.create(handle, description="How warm a support agent's reply is.")
    client.traits.add(handle, [tb.TraitInput(name="Warmth", negative_label="cold", positive_label="warm")])
    client.samples.add(handle, inputs(few))
    client.samples.add(handle, inputs(rest, held_out=True))
    client.models.train(handle, effort="low")
    client.models.wait(handle)
    return address, client, handle, inputs


@app.cell
def _(client, few, handle, inputs, more, tone):
    fork = f"{handle}-next"
    client.models.fork(handle, fork)
    client.samples.add(fork, inputs(more[len(few) :]))
    client.models.train(fork, effort="low")
    client.models.wait(fork)
    client.models.promote(handle, from_=fork)
    comparison = client.versions.compare(f"{handle}@v1", f"{handle}@v2", texts=[*tone.examples.values()])
    comparison
    return (
        comparison,
        fork,
    )


@app.cell
def _(client, comparison, scorer, text):
    there = client.scores.score(comparison.b.handle, text).scores["warmth"]
    here = int(scorer.score_texts([text])[0])
    {"the service says": there, "this notebook says": here}
    return here, there


@app.cell
def _(address, handle):
    where = f"Open the model in the workbench: {address}/versions?model={handle}"
    where
    return (where,)


if __name__ == "__main__":
    app.run()
