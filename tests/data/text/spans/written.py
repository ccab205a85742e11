"""A file of questions that can be answered by rule: who went where, in short texts."""

from pathlib import Path

NAMES = ("Ada", "Bob", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal")
PLACES = ("Rome", "Oslo", "Lima", "Kiev", "Bonn", "Nice", "Bern", "Cork")


def write_questions(folder: Path, texts: int = 40) -> Path:
    """Two questions on each text, whose answers stand at different places."""
    rows = ["question,context,answer"]
    for number in range(texts):
        first, second = NAMES[number % 8], NAMES[(number * 3 + 1) % 8]
        near, far = PLACES[(number * 5) % 8], PLACES[(number * 5 + number // 8 + 1) % 8]
        delay = "later that day " * (number % 4)
        context = f"In year {number} {first} went to {near} and {delay}{second} to {far}."
        rows.append(f"Where did {first} go?,{context},{near}")
        rows.append(f"Who went to {far}?,{context},{second}")
    path = folder / "questions.csv"
    path.write_text("\n".join(rows) + "\n")
    return path
