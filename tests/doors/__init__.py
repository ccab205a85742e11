"""What engineers hand over to `nw.fit`, one row a thing: it trains, resumes, predicts, reports."""
