"""Say in sentences what a study holds as values; shell, page, log and CSV take their words here."""
