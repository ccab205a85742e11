"""What every part promises, as checks that anyone may run on a part of their own."""
