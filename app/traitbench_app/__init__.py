"""The workbench: a Streamlit application whose scripts are in `pages`, its command line, and how it is served."""
