"""Series as data: tables in the order of time, and toy tasks with known answers."""
