"""Pages and service as one process on one port: the application, sign-in, and what browsers and Streamlit can reach."""
