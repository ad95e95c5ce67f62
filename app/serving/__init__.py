"""The server process: its port, the limits for connections, and what browsers and Streamlit can reach."""
