// Opens pages in Chromium and says what was seen of them, as JSON on stdout.
//   node look.mjs CHROMIUM PROFILE_FOLDER PAGE... [--pictures FOLDER]
// playwright-core is found below the folder that PPSRIG_TEST_NODE names; no browser is downloaded.
import { createRequire } from "node:module";
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.env.PPSRIG_TEST_NODE, "package.json"));
const { chromium } = require("playwright-core");

const args = process.argv.slice(2);
const at = args.indexOf("--pictures");
const pictures = at < 0 ? null : args.splice(at, 2)[1];
const [executablePath, profiles, ...pages] = args;
if (pictures) mkdirSync(pictures, { recursive: true });

const flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage"];

// In the page: what a reader meets. Contrast is that of WCAG 2: of each text against the nearest ground behind it.
function seen() {
  const colour = (text) => {
    const [r, g, b, a] = text.match(/[\d.]+/g).map(Number);
    return { rgb: [r, g, b], a: a === undefined ? 1 : a };
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const { rgb, a } = colour(getComputedStyle(at).backgroundColor);
      if (a === 1) return rgb;
    }
    return [255, 255, 255];
  };
  const visible = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().width > 0;
  const texts = [...document.querySelectorAll("body *")].filter((element) =>
    visible(element) && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  let least = { contrast: 99, text: "" }, smallest = { pixels: 99, text: "" };
  for (const element of texts) {
    const style = getComputedStyle(element);
    const svg = element instanceof SVGElement;
    const value = contrast(colour(svg ? style.fill : style.color).rgb, ground(element));
    if (value < least.contrast) least = { contrast: value, text: element.textContent.trim().slice(0, 60) };
    const scale = svg ? element.getScreenCTM().a : 1;
    const pixels = parseFloat(style.fontSize) * (svg ? Math.abs(scale || element.getScreenCTM().b) : 1);
    if (pixels < smallest.pixels) smallest = { pixels, text: element.textContent.trim().slice(0, 60) };
  }
  const marks = [...document.querySelectorAll("svg [fill],svg [stroke]")].filter(visible).map((mark) => {
    const style = getComputedStyle(mark);
    return [style.fill, style.stroke].filter((one) => one.startsWith("rgb(")).join(" ");
  });
  // Every text of a plot lies within it.
  const cut = [...document.querySelectorAll(".plot svg text")].filter(visible).filter((text) => {
    const [box, frame] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
    return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
  }).map((text) => text.textContent.trim());
  return {
    least, smallest, cut,
    colours: [...new Set(marks)].sort(),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    headings: [...document.querySelectorAll("h1,h2,h3,h4")].map((h) => [Number(h.tagName[1]), h.textContent.trim()]),
    reachable: [...document.querySelectorAll("a[href],[tabindex='0']")].filter(visible).length,
    unnamed: [...document.querySelectorAll("[role=region],svg[role=img]")].filter((e) => !e.getAttribute("aria-label")).length,
    scripts: document.querySelectorAll("script,iframe,object,embed,form").length + [...document.querySelectorAll("*")].filter((e) => e.getAttributeNames().some((n) => n.startsWith("on"))).length,
    links: [...document.querySelectorAll("a[href]")].map((a) => a.getAttribute("href")),
    elements: document.querySelectorAll("*").length,
  };
}

async function tabs(page, most) {
  const reached = new Set();
  for (let turn = 0; turn < most + 5; turn++) {
    await page.keyboard.press("Tab");
    const which = await page.evaluate(() => {
      const all = [...document.querySelectorAll("a[href],[tabindex='0']")];
      const outlined = document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== "none";
      return [all.indexOf(document.activeElement), outlined];
    });
    if (which[0] >= 0 && which[1]) reached.add(which[0]);
  }
  return reached.size;
}

async function look(browserFor, file, width, scheme) {
  const context = await browserFor(width, scheme);
  const page = await context.newPage();
  const console_ = [], requests = [];
  page.on("console", (message) => console_.push(message.text()));
  page.on("pageerror", (error) => console_.push(String(error)));
  page.on("request", (request) => requests.push(request.url().slice(0, 200)));
  const url = pathToFileURL(file).href;
  await page.goto(url, { waitUntil: "load", timeout: 60000 });
  // Until it is painted.
  const load_ms = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))));
  const found = await page.evaluate(seen);
  const tabbed = await tabs(page, found.reachable);
  if (pictures) {
    const name = file.split("/").slice(-2).join("-").replace(/^\.+/, "").replace(/\.html$/, "");
    await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
    await page.screenshot({ path: join(pictures, `${name}-${width}-${scheme}.png`), fullPage: true });
    if (width > 1000 && scheme === "light") await page.pdf({ path: join(pictures, `${name}.pdf`), format: "A4" });
  }
  const others = requests.filter((one) => one !== url && !one.startsWith("data:"));
  await context.close();
  return { file, width, scheme, load_ms, console: console_, requests: others, tabbed, ...found };
}

const results = [];
const browser = async (width, scheme) => chromium.launchPersistentContext(mkdtempSync(join(profiles, "profile-")), {
  executablePath, args: flags, headless: true, viewport: { width, height: 800 }, colorScheme: scheme, timeout: 60000,
});
for (const file of pages) for (const width of [360, 1400]) for (const scheme of ["light", "dark"]) {
  results.push(await look(browser, file, width, scheme));
}
console.log(JSON.stringify(results));
