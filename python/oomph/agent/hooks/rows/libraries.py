"""What is replaced in other libraries, so that what is not there is stood in for."""

ROWS: tuple = ()
