"""Files of rows that are not read as they stand: each row is written as a line of JSON first."""
