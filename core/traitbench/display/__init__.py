"""How an answer looks, as text, frame, HTML and chart."""
