"""The page of a new run: a table is uploaded, trained on, asked and looked into."""

from pathlib import Path

from tests.apps.studio.browser import Browser
from tests.apps.studio.stories.conftest import STORY, home

pytestmark = STORY


def test_upload_a_table_train_on_it_see_its_report_ask_it_and_look_inside(
    browser: Browser, address: str, work: Path, tmp_path: Path
) -> None:
    rows = "".join(f"{n / 6:.3f},{'big' if n > 30 else 'small'}\n" for n in range(60))
    (tmp_path / "things.csv").write_text("size,kind\n" + rows)
    browser.go(home(address) + "/new")
    main = "getComputedStyle(document.querySelector('#train')).backgroundColor"
    disabled = browser.ask(main)
    assert not browser.ask("document.querySelector('#told').checkVisibility()")
    document = browser.call("DOM.getDocument")["root"]["nodeId"]
    found = browser.call("DOM.querySelector", nodeId=document, selector="#upload")["nodeId"]
    browser.call("DOM.setFileInputFiles", nodeId=found, files=[str(tmp_path / "things.csv")])
    browser.type("select[name='data.target']", "kind")
    browser.type("input[name='train.epochs']", "3")
    browser.wait("document.querySelector('#command').innerText.includes('--target kind')")
    browser.wait("document.querySelector('#command').innerText.includes('--epochs 3')")
    browser.wait("!document.querySelector('#train').disabled")
    assert browser.ask(main) != disabled
    browser.click("#train")
    browser.wait("document.querySelector('#said').innerText.includes('started')")
    browser.go(home(address) + "/")
    browser.wait("document.querySelector('#runs').innerText.includes('finished')")
    browser.wait("document.querySelector('#runs a')")
    (run,) = (work / "runs").iterdir()
    browser.go(f"{home(address)}/report?run=runs/{run.name}")
    browser.wait("document.body.innerText.includes('baseline')")
    browser.go(f"{home(address)}/try?run=runs/{run.name}")
    browser.type("input[name='size']", "9.5")
    browser.click("#ask")
    browser.wait("document.querySelector('#answer')?.innerText.includes('p(big)')")
    browser.click("#hangs-on summary")
    browser.wait("document.querySelector('#hangs-on img')?.naturalWidth > 0")
    browser.go(f"{home(address)}/inside?run=runs/{run.name}&view=confusion")
    browser.wait("document.querySelector('#shown img')?.naturalWidth > 0")
    assert "netwright inspect" in browser.ask("document.querySelector('#command').innerText")
    browser.resize(390, 800)  # letters of a figure stay large enough, and it is scrolled
    browser.go(f"{home(address)}/inside?run=runs/{run.name}&view=backprop")
    browser.wait("document.querySelector('#shown img')?.naturalWidth > 700")
    assert browser.ask("document.querySelector('#shown img').clientWidth > 600")
    assert browser.ask("document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.ask("document.querySelector('#run').clientWidth > 300")


def test_the_first_settings_are_those_of_the_network_in_words_of_no_language_of_programs(
    browser: Browser, address: str, work: Path
) -> None:
    (work / "notes.txt").write_text("the cat sat on the mat. " * 100)
    browser.go(home(address) + "/new?data=notes.txt&model=gpt")
    browser.wait("document.querySelector('#first .field')")
    first = browser.ask("document.querySelector('#first').innerText")
    assert first.startswith("layers") and "embeddings" not in first
    assert "a whole number" in first and "or empty" in first
    assert "int" not in first.split() and "nothing" not in first
    heights = (
        "['#model', '#seed', '#first input'].map((one) => document.querySelector(one).offsetHeight)"
    )
    assert len(set(browser.ask(heights))) == 1  # beside each other
