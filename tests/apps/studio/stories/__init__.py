"""What people do in the studio, page by page."""
