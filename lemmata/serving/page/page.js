// The form, its question in the address, and the answer below it. The question stands in the fragment (after #): it is a
// permanent link, and the browser never sends it; it goes to the server as JSON alone.
import {element, read, scrolling} from "./markdown.js";

const form = document.getElementById("question");
const answer = document.getElementById("answer");
const status = document.getElementById("status");
const formError = document.getElementById("form-error");
const $ = (id) => document.getElementById(id);

const DERIVED = ["formula", "wrt", "shapes", "domain", "given", "detail"];
const PARTS = {
  gradient: DERIVED,
  jacobian: DERIVED,
  hessian: DERIVED,
  vjp: [...DERIVED, "cotangent"],
  jvp: [...DERIVED, "tangent"],
  prove: ["formula", "shapes", "domain", "given", "detail"],
  theorem: ["name", "detail"],
  mha: ["x", "heads", "kv_heads", "head_size", "mask", "cache"],
};
const BUTTONS = {prove: "Prove", theorem: "Show and prove", mha: "Trace the shapes"};
const ALL = [...new Set(Object.values(PARTS).flat())];

let running = null; // the AbortController of the question that is being answered
let shown = null; // the last answer

// ---------------------------------------------------------------------- the question
function question() {
  const ask = $("ask").value;
  return Object.fromEntries([["ask", ask], ...PARTS[ask].map((part) => [part, $(part).value])]);
}

function fill(asked) {
  const ask = asked.ask in PARTS ? asked.ask : "gradient";
  $("ask").value = ask;
  for (const part of ALL) {
    if (part !== "detail") $(part).value = PARTS[ask].includes(part) ? asked[part] ?? "" : "";
  }
  $("detail").value = ["brief", "normal", "full"].includes(asked.detail) ? asked.detail : "normal";
  if ($("mask").selectedIndex < 0) $("mask").value = "";
  fit();
}

function fit() {
  const ask = $("ask").value;
  for (const field of form.querySelectorAll("[data-part]")) field.hidden = !PARTS[ask].includes(field.dataset.part);
  form.querySelector(".primary").textContent = BUTTONS[ask] ?? "Derive and prove";
  for (const words of form.querySelectorAll("[data-prove]")) {
    words.dataset.other ??= words.textContent;
    words.textContent = ask === "prove" ? words.dataset.prove : words.dataset.other;
  }
}

function link(asked) {
  const filled = Object.entries(asked).filter(([part, text]) => text && !(part === "detail" && text === "normal"));
  return `#${new URLSearchParams(filled)}`;
}

const linked = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

// ---------------------------------------------------------------------- asking
async function ask({focus}) {
  running?.abort();
  const mine = running = new AbortController();
  const asked = question();
  clearErrors();
  if (location.hash !== link(asked)) history.pushState(null, "", link(asked));
  mark();
  status.textContent = "Working …";
  answer.setAttribute("aria-busy", "true");
  let data;
  try {
    data = await sent(asked, mine.signal);
  } catch (error) {
    if (mine.signal.aborted) return;
    data = {error: {message: "The server does not answer. Was it ended? Start it again: lemmata serve", field: "", position: null}};
  }
  if (mine !== running) return;
  answer.setAttribute("aria-busy", "false");
  if (data.error) {
    answer.hidden = true;
    status.textContent = "";
    showError(data.error);
    return;
  }
  show(data);
  status.textContent = `${data.headline}.`;
  if (focus) {
    answer.focus({preventScroll: true});
    answer.scrollIntoView({block: "start"});
  }
}

async function sent(asked, signal) {
  const body = JSON.stringify(asked);
  for (let attempt = 0; ; attempt += 1) {
    const response = await fetch("api/answer", {method: "POST", headers: {"Content-Type": "application/json"}, body, signal});
    if (response.status !== 503 || attempt === 2) return response.json();
    status.textContent = "All workers are busy; asking again in a moment …";
    await new Promise((done) => setTimeout(done, 1000 * Number(response.headers.get("Retry-After") || 1)));
    if (signal.aborted) throw new DOMException("aborted", "AbortError");
  }
}

// ---------------------------------------------------------------------- errors
function clearErrors() {
  formError.hidden = true;
  for (const box of form.querySelectorAll(".field .error")) box.replaceChildren();
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
}

function showError({message, field, position}) {
  const input = field && $(field);
  const box = field && $(`${field}-error`);
  const said = message.charAt(0).toUpperCase() + message.slice(1);
  if (!input || !box) {
    formError.textContent = said;
    formError.hidden = false;
    formError.scrollIntoView({block: "nearest"});
    return;
  }
  input.setAttribute("aria-invalid", "true");
  box.append(element("p", said));
  input.focus();
  if (position === null) return;
  const [from, to] = word(input.value, position);
  input.setSelectionRange(from, to);
  box.append(marked(input.value, from, to));
}

/** The word, the number or the one character that stands at a place. */
function word(text, at) {
  const found = /^(?:[\p{L}\p{N}_.]+|.)/su.exec(text.slice(at));
  return [at, at + (found ? found[0].length : 0)];
}

function marked(text, from, to) {
  const low = Math.max(0, from - 60);
  const high = Math.min(text.length, to + 40);
  const before = (low ? "…" : "") + text.slice(low, from);
  const after = text.slice(to, high) + (high < text.length ? "…" : "");
  return element("code", [before, element("mark", text.slice(from, to) || " "), after], {className: "place"});
}

// ---------------------------------------------------------------------- the answer
function show(data) {
  shown = data;
  const {title, name, nodes} = read(data.markdown);
  $("title").replaceChildren(...unbroken(title));
  $("verdict").replaceChildren(banner(data));
  $("verdict").className = data.verdict ?? "traced";
  $("result").replaceChildren(...(data.result ? read(data.result).nodes : []));
  $("counterexample").replaceChildren(...counterexample(data.counterexample));
  $("theorem").replaceChildren(...(name ? [element("code", name)] : []));
  $("derivation").replaceChildren(...(data.verdict === "refuted" ? [element("h3", "The claim")] : []), ...nodes);
  code("numpy", data.numpy);
  code("latex", data.latex);
  picture(data, title);
  $("evidence").hidden = !data.evidence?.length;
  $("evidence").querySelector("ul").replaceChildren(...(data.evidence ?? []).map((one) => element("li", [
    passed(one.passed),
    element("span", one.kind, {className: "kind"}),
    detail(one.detail),
  ])));
  answer.hidden = false;
}

/** A text whose lines do not end between a minus and what it belongs to. */
function unbroken(text) {
  return text.split(/(-[\w.]{1,20})/).map((part, at) => at % 2 ? element("span", part, {className: "unbroken"}) : part);
}

/** Whether a check passed; null where it could not be run. */
function passed(value) {
  const [mark, word, className] = value ? ["✓", "passed", "yes"] : value === null ? ["–", "not run", ""] : ["✗", "failed", "no"];
  return element("span", mark, {className, ariaLabel: word, role: "img"});
}

/** A long detail unfolds. */
function detail(text) {
  if (text.length < 160) return element("span", text, {className: "detail"});
  return element("details", [element("summary", `${text.slice(0, 90)} …`), text], {className: "detail"});
}

function banner(data) {
  const signs = {proved: "✓ ", refuted: "✗ "};
  const said = [...(data.notes ?? []), ...(data.hints ?? [])].map((text) => text.charAt(0).toUpperCase() + text.slice(1));
  const reason = data.verdict === "proved" || !data.reason ? [] : [data.reason];
  const seconds = data.seconds === undefined ? "" : `, in ${data.seconds.toFixed(2)} s`;
  return element("div", [
    element("p", [signs[data.verdict] ?? "", element("span", data.headline, {className: "word"}), seconds]),
    ...[...reason, ...said].map((text) => element("p", text, {className: "more"})),
  ], {className: "banner"});
}

function counterexample(found) {
  if (!found) return [];
  const sizes = Object.entries(found.sizes).map(([name, value]) => `${name} = ${value}`).join(", ");
  const rows = [
    ...(sizes ? [["sizes", sizes]] : []),
    ...Object.entries(found.inputs).map(([name, value]) => [name, JSON.stringify(value)?.replaceAll(",", ", ")]),
    ...(found.index.length ? [["at index", `[${found.index.join(", ")}]`]] : []),
    ["left", found.left],
    ["right", found.right],
    ...(found.residual ? [["left − right", found.residual]] : []),
  ];
  const body = rows.map(([name, value]) => element("tr", [element("th", name, {scope: "row"}), element("td", value)]));
  return [element("h3", "Counterexample"), scrolling(element("table", element("tbody", body)), "table", "Counterexample")];
}

function code(id, text) {
  $(id).hidden = !text;
  $(id).querySelector("code").textContent = text ?? "";
}

function picture(data, title) {
  $("picture").hidden = !data.svg;
  const image = $("picture").querySelector("img");
  if (data.svg) {
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(data.svg)}`;
    image.alt = `${title}: each operation as a box with its shape; the table above has the same.`;
  } else {
    image.removeAttribute("src");
  }
}

// ---------------------------------------------------------------------- copying, examples, start
async function copy(button, text) {
  const before = button.dataset.words ??= button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch (error) {
    button.textContent = "The browser refused";
  }
  status.textContent = button.textContent === "Copied" ? "Copied to the clipboard." : "";
  setTimeout(() => { button.textContent = before; }, 1500);
}

function mark() {
  for (const button of $("examples").querySelectorAll("button")) {
    if (button.dataset.link === link(question())) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

async function loadExamples() {
  const examples = await (await fetch("page/examples.json")).json();
  $("examples").querySelector("ul").replaceChildren(...examples.map(({title, question: asked}) => {
    const button = element("button", title, {type: "button"});
    button.addEventListener("click", () => {
      fill(asked);
      ask({focus: true});
    });
    fill(asked);
    button.dataset.link = link(question());
    return element("li", button);
  }));
  return examples;
}

async function loadTheorems() {
  const response = await fetch("api/theorems");
  if (!response.ok) return; // a help for typing, no more
  const {theorems} = await response.json();
  $("theorems").replaceChildren(...theorems.map(({name, title}) => element("option", title, {value: name})));
}

function follow() {
  if (!location.hash) return;
  fill(linked());
  ask({focus: false});
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask({focus: true});
});
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
$("ask").addEventListener("change", () => {
  clearErrors();
  fit();
});
$("detail").addEventListener("change", () => {
  if (shown && !answer.hidden) ask({focus: false});
});
$("copy-link").addEventListener("click", (event) => copy(event.currentTarget, new URL(link(question()), location.href).href));
for (const button of answer.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", () => copy(button, shown[button.dataset.copy]));
}
addEventListener("popstate", follow);

const [first] = await loadExamples();
fill(location.hash ? linked() : first.question);
follow();
await loadTheorems();
