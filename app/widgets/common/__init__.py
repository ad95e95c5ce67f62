"""Parts that several pages or the sidebar use: headings, charts, dialogs and pickers."""
