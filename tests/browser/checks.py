"""The checks of the viewer in a real browser. They do what a user does."""

import datetime
import json
import os
import time

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from home import ROOT, WIDE, Home, Transcript, rich_session, small_sessions, wide_sessions

PATIENCE = 60
# Maximum number of nodes in a drawing: `MAX_NODES` in daemon/src/view/pages/graph/mod.rs.
NODES = 500
# Time after which the daemon has released unneeded memory, in seconds.
REST = 45
# Time limit for scrolling through all sessions, in seconds.
SCROLLING = 600
VIEWS = {
    "search": "", "results": "search?q=login", "sessions": "sessions", "session": "session?id=rich0001",
    "long-session": "session?id=rich0000", "calendar": "calendar", "projects": "projects", "project": "project?dir=%2Fwork%2Fapp",
    "open-ends": "open-ends", "facts": "facts?ended=true", "usage": "usage", "health": "health",
    "forget": "forget?session=rich0002", "message": "message?id=rich0001&seq=0",
}
RICH = 40
COPIED = {
    "copy-start": "index.html", "copy-sessions": "sessions.html", "copy-session": "session.rich0001-0000-4000-8000-000000000000.html",
    "copy-long-session": "session.rich0000-0000-4000-8000-000000000000.0.150.html", "copy-projects": "projects.html",
    "copy-open-ends": "open-ends.html", "copy-facts": "facts.html",
}
# Views that are not in the documentation, because they look like other views.
UNDOCUMENTED = ["long-session", "message"]


class Checks:
    def __init__(self, home, browser, pictures, axe):
        self.home, self.browser, self.pictures, self.axe = home, browser, pictures, axe
        self.failed = 0
        self.base = ""

    def check(self, name, is_good, details=""):
        print(("ok      " if is_good else "FAILED  ") + name + (f": {details}" if details else ""), flush=True)
        self.failed += not is_good

    def wait(self, condition):
        return WebDriverWait(self.browser, PATIENCE, poll_frequency=0.02).until(lambda _: condition())

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.wait(lambda: next(iter(self.all(selector)), None))

    def open(self, page):
        self.browser.get(self.base + page)

    def script(self, text, *arguments):
        return self.browser.execute_script(text, *arguments)

    def enter(self):
        url = self.home.graphiti("view", "--print").strip()
        self.browser.get(url)
        self.base = url.split("open?")[0]
        self.wait(lambda: self.browser.current_url == self.base)
        self.check("the address leads to the page", self.browser.current_url == self.base)
        self.wait(lambda: self.script("return document.body.dataset.connected"))

    def search_to_correction(self):
        self.open("")
        field = self.one("[data-search]")
        field.send_keys("login ends")
        self.wait(lambda: self.all(".hits .row"))
        self.check("results appear as the user types", "login" in self.one(".hits").text.lower())
        self.check("the number of results is announced", "result" in self.one("#status").get_attribute("textContent"))
        self.one(".hits .passage[href*='#m']").click()
        self.wait(lambda: self.all(".message"))
        self.check("a passage leads to its message", "#m0-" in self.browser.current_url, self.browser.current_url.split("/")[-1])
        links = self.all(".summary a.statement")
        self.check("statements lead to the messages that they come from", len(links) > 0, f"{len(links)} links")
        links[0].click()
        self.wait(lambda: "#m0-" in self.browser.current_url and self.all(":target"))
        self.open("open-ends")
        before = len(self.all(".fact"))
        first = self.one(".fact")
        text = first.find_element(By.CSS_SELECTOR, ".fact-text").text
        first.find_element(By.CSS_SELECTOR, "button.good").click()
        self.wait(lambda: len(self.all(".fact")) == before - 1)
        self.check("a correction takes effect in place", True, text)
        self.one("#notice button").click()
        self.wait(lambda: len(self.all(".fact")) == before)
        self.check("a correction is undone", True)

    def keyboard(self):
        self.open("sessions")
        self.browser.switch_to.active_element.send_keys(Keys.TAB)
        is_skip = self.script("return document.activeElement.className") == "skip"
        self.browser.switch_to.active_element.send_keys(Keys.ENTER)
        self.check("the first key leads to the content", is_skip and self.script("return document.activeElement.id") == "main")
        self.open("facts")
        self.one("h1").click()
        self.browser.find_element(By.TAG_NAME, "body").send_keys("/")
        self.wait(lambda: self.script("return document.activeElement.matches('[data-search]')"))
        self.check("the key / leads to the search", True)

    def scroll(self, sessions):
        """Scrolls to the end of the list by a script in the page, because the driver would be
        slower."""
        self.open("sessions")
        began = time.monotonic()
        self.browser.set_script_timeout(SCROLLING)
        self.browser.execute_async_script("""
            const done = arguments[arguments.length - 1];
            const scroll = () => {
              window.scrollTo(0, document.body.scrollHeight);
              if (document.querySelector('a[data-append]')) requestAnimationFrame(scroll); else done();
            };
            scroll();""")
        self.browser.set_script_timeout(PATIENCE)
        count = self.script("return document.querySelectorAll('#session-list .row').length")
        self.check("all sessions are scrolled", count == sessions, f"{count} rows in {time.monotonic() - began:.1f} s")
        frame = self.script("const began = performance.now(); window.scrollTo(0, 0); document.body.offsetHeight; return performance.now() - began")
        self.check("scrolling back is quick", frame < 500, f"{frame:.0f} ms")

    def drawing(self):
        """Checks the graph around a file with more neighbours than are drawn."""
        count = NODES + 10
        wide_sessions(self.home.projects, count, datetime.datetime.now(datetime.UTC))
        indexed = lambda: json.loads(self.home.graphiti("list", "--json", "-n", "0", "--state", "indexed", "--project", WIDE))["total"]
        sync = lambda: self.home.graphiti("sync", "--run", "--days", "60", "-n", str(2 * count), "--project", WIDE)
        self.wait(lambda: sync() and indexed() == count)
        fact = json.loads(self.home.graphiti("facts", "--json", "--kind", "CHANGED_FOR", "-n", "1", "--project", WIDE))["facts"][0]
        end = "source" if fact["source_name"].endswith("hub.rs") else "target"
        self.open(f"node?id={fact[f'{end}_node_uuid']}")
        self.wait(lambda: self.script("return performance.getEntriesByType('navigation')[0].loadEventEnd"))
        drawn, took = self.script("""
            const page = performance.getEntriesByType('navigation')[0];
            return [document.querySelectorAll('svg.graph line.edge').length, page.loadEventEnd];""")
        frame = self.script("const began = performance.now(); document.querySelector('svg.graph').style.width = '90%'; document.body.offsetHeight; return performance.now() - began")
        self.check("the graph around a file with many neighbours", drawn == NODES and took < 2_000, f"{drawn} drawn, loaded {took:.0f} ms, laid out again {frame:.0f} ms")

    def live(self):
        self.open("")
        self.wait(lambda: self.script("return document.body.dataset.connected"))
        transcript = Transcript(self.home.projects, "11fe0000-0000-4000-8000-000000000000", "/work/app", datetime.datetime.now(datetime.UTC))
        transcript.prompt("This prompt appears without reloading")
        transcript.write()
        self.wait(lambda: "appears without reloading" in self.one("#results").text)
        self.check("what agents do now appears", True)
        self.open("session?id=11fe0000")
        self.wait(lambda: self.script("return document.body.dataset.connected"))
        transcript.reply("And so does this reply")
        transcript.write()
        self.wait(lambda: "so does this reply" in self.one("#conversation").text)
        self.check("a conversation goes on", True)

    def hostile(self):
        transcript = Transcript(self.home.projects, "e711e711-0000-4000-8000-000000000000", "/work/app", datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=3))
        script = "</p></main><script>document.title='owned'</script><img src=http://evil.example/x onerror=\"document.title='owned'\">"
        transcript.prompt(f"Fix {script} <style>body{{display:none}}</style>")
        transcript.reply(f"[click](javascript:alert(3)) pay \u202e001\u202c {script}")
        transcript.reply("y" * (5 << 20))
        transcript.write()
        self.home.graphiti("search", "click")
        self.wait(lambda: "e711e711" in self.home.graphiti("list", "--json", "-n", "5"))
        for page in ["session?id=e711e711", "search?q=click+pay", "sessions", "message?id=e711e711&seq=2"]:
            began = time.monotonic()
            self.open(page)
            loaded = self.script("return performance.getEntriesByType('resource').map((one) => one.name)")
            elsewhere = [name for name in loaded if not name.startswith(self.base)]
            is_text = self.script("return document.title !== 'owned' && document.querySelectorAll('#content script, #content img, #content style').length === 0 && getComputedStyle(document.body).display !== 'none'")
            self.check(f"a hostile transcript is text on {page}", is_text and not elsewhere, f"{time.monotonic() - began:.1f} s {elsewhere}")

    def times(self, sessions):
        self.open("")
        paint = self.wait(lambda: self.script("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"))
        self.check("first paint", 0 < paint < 1_000, f"{paint:.0f} ms at {sessions} sessions")
        times = self.browser.execute_async_script("""
            const done = arguments[arguments.length - 1];
            (async () => {
              const times = [];
              for (const word of ['log', 'login', 'login ends', 'cache', 'cache of', 'parser', 'price of the', 'index server', 'release', 'window']) {
                const began = performance.now();
                await (await fetch('search?q=' + encodeURIComponent(word), { headers: { 'x-part': '1' } })).text();
                times.push(performance.now() - began);
              }
              done(times.sort((a, b) => a - b));
            })();""")
        self.check("search", True, f"median {times[len(times) // 2]:.0f} ms, longest {times[-1]:.0f} ms at {sessions} sessions")

    def document(self, folder):
        """Takes a small picture of each view, for the documentation."""
        folder.mkdir(parents=True, exist_ok=True)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]})
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 1100, "height": 700, "deviceScaleFactor": 1, "mobile": False})
        for name, page in self.views().items():
            if name in UNDOCUMENTED:
                continue
            self.open(page)
            self.one("h1")
            self.browser.save_screenshot(str(folder / f"{name}.png"))
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        size = sum(picture.stat().st_size for picture in folder.glob("*.png"))
        self.check("pictures of the documentation", size < 1_200_000, f"{size >> 10} KiB in {folder}")

    def views(self):
        node = self.script("return fetch('facts?ended=true', {headers: {'x-part': '1'}}).then((a) => a.text()).then((t) => (t.match(/node\\?id=[0-9a-f-]+/) || [''])[0])")
        return {**VIEWS, **({"node": node} if node else {})}

    def copy(self):
        """Checks a static copy that is opened from disk."""
        folder = self.home.folder / "copy"
        began = time.monotonic()
        self.home.graphiti("export", "--html", str(folder))
        taken = time.monotonic() - began
        files = list(folder.iterdir())
        size = sum(file.stat().st_size for file in files)
        self.check("a copy is written", True, f"{len(files)} files, {size / (1 << 20):.1f} MiB, {taken:.1f} s")
        self.base = folder.as_uri() + "/"
        self.browser.get_log("browser")
        self.open("index.html")
        field = self.one("#q")
        field.send_keys("LOGIN earl")
        self.wait(lambda: self.all("#results .row"))
        self.check("a copy is searched without a server", "login" in self.one("#results").text.lower(), self.one("#status").get_attribute("textContent"))
        field.send_keys(Keys.CONTROL + "a" + Keys.NULL + "no such word")
        self.wait(lambda: self.all("#results .empty"))
        field.send_keys(Keys.CONTROL + "a" + Keys.NULL + Keys.BACKSPACE)
        self.wait(lambda: self.one("#latest").is_displayed())
        field.send_keys("login early")
        self.wait(lambda: self.all("#results .row"))
        self.one("#results .row a").click()
        self.wait(lambda: self.all(".message"))
        self.one(".summary a.statement").click()
        self.wait(lambda: self.all(":target"))
        self.check("statements lead to their messages in a copy", "#m0-" in self.browser.current_url, self.browser.current_url.split("/")[-1])
        self.open("session.e711e711-0000-4000-8000-000000000000.html")
        is_text = self.script("return document.title !== 'owned' && document.querySelectorAll('#content script, #content img, #content style').length === 0 && getComputedStyle(document.body).display !== 'none'")
        self.check("a hostile transcript is text in a copy", is_text)
        self.open("index.html")
        elsewhere = self.script("return [...performance.getEntriesByType('resource')].map((one) => one.name).filter((name) => !name.startsWith('file:'))")
        errors = [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]
        self.check("a copy loads nothing from elsewhere and has no error", not elsewhere and not errors, f"{elsewhere} {errors}")
        # Axe requests the style sheet, which the policy of a copy does not allow.
        self.look(COPIED)

    def look(self, views):
        """Takes pictures of each view, and checks its accessibility."""
        self.pictures.mkdir(parents=True, exist_ok=True)
        rules = self.axe.read_text()
        for scheme in ["light", "dark"]:
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            for width in [400, 2000]:
                self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000 if width < 1000 else 1200, "deviceScaleFactor": 1, "mobile": False})
                for name, page in views.items():
                    self.open(page)
                    self.one("h1")
                    self.browser.save_screenshot(str(self.pictures / f"{name}-{scheme}-{width}.png"))
                    self.script(rules)
                    found = self.browser.execute_async_script("const done = arguments[arguments.length - 1]; axe.run().then((found) => done(found.violations.map((one) => one.id + ' ' + one.nodes.slice(0, 2).map((node) => node.html.slice(0, 140) + ' ' + (node.any[0]?.message || '')).join(' | '))))")
                    wide = self.script("return document.documentElement.scrollWidth - window.innerWidth")
                    self.check(f"{name} {scheme} {width} px", not found and wide <= 0, "; ".join(found) + (f" {wide} px too wide" if wide > 0 else ""))
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def chromium():
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,1000", "--force-prefers-reduced-motion"]:
        options.add_argument(argument)
    options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver")))
    browser.set_script_timeout(PATIENCE)
    return browser


def run(sessions, pictures, axe, documentation=None):
    home = Home(os.environ.get("GRAPHITI_BIN", ROOT / "target" / "debug"))
    now = datetime.datetime.now(datetime.UTC)
    browser, checks = None, None
    try:
        for number in range(RICH):
            rich_session(home.projects, number, now)
        small_sessions(home.projects, sessions - RICH, now)
        home.start()
        home.graphiti("status", "--wait")
        home.graphiti("sync", "--run", "--days", "60", "-n", "200", "--project", "/work/app")
        for project in ["/work/shop", "/work/tools"]:
            home.graphiti("sync", "--run", "--days", "60", "-n", "200", "--project", project)
        before = home.memory()
        browser = chromium()
        checks = Checks(home, browser, pictures, axe)
        checks.enter()
        if documentation:
            checks.document(documentation)
            return checks.failed
        checks.times(sessions)
        checks.search_to_correction()
        checks.keyboard()
        checks.scroll(sessions)
        more = (home.memory() - before) / (1 << 20)
        checks.check("memory of the daemon with the page open, right after use", True, f"{more:.1f} MiB more")
        time.sleep(REST)
        more = (home.memory() - before) / (1 << 20)
        checks.check("memory of the daemon with the page open, at rest", True, f"{more:.1f} MiB more")
        checks.drawing()
        checks.look(checks.views())
        checks.live()
        checks.hostile()
        checks.copy()
        return checks.failed
    finally:
        if browser:
            browser.quit()
        home.end(keep=checks is None or checks.failed > 0)
