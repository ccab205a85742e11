"""Style sheets and scripts that the studio sends."""
