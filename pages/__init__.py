"""The pages of the workbench, one question each; Streamlit runs their files."""
