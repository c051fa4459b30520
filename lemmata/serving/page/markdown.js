// The Markdown that Lemmata writes, as nodes of the page: headings, mathematics, tables, lists, sentences. All text goes
// in as text, never as HTML.

/** KaTeX in strict mode; what it refuses is shown as it is written. */
export function mathematics(latex, displayMode) {
  const box = document.createElement(displayMode ? "div" : "span");
  try {
    katex.render(latex, box, {displayMode, strict: "error", throwOnError: true, trust: false, output: "htmlAndMathml"});
  } catch (error) {
    box.replaceChildren(element("code", latex));
  }
  return displayMode ? scrolling(box, "display", "Formula") : box;
}

/** An element with text or nodes in it. */
export function element(name, content = [], properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...[content].flat());
  return made;
}

/** What may be wider than the page scrolls by itself, with the keyboard too. */
export function scrolling(inner, className, label) {
  const box = element("div", inner, {className: `scroll ${className}`, tabIndex: 0});
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", label);
  return box;
}

const INLINE = /\$([^$]+)\$|`([^`]*)`|\*\*(.+?)\*\*|<br>|\\([*_<|\\])/g;
const ESCAPED = /\\([*_<|\\])/g;

function inline(text) {
  const nodes = [];
  let last = 0;
  for (const found of text.matchAll(INLINE)) {
    nodes.push(text.slice(last, found.index));
    last = found.index + found[0].length;
    const [whole, latex, code, strong, escaped] = found;
    if (latex !== undefined) nodes.push(mathematics(latex, false));
    else if (code !== undefined) nodes.push(element("code", code.replaceAll("\\|", "|")));
    else if (strong !== undefined) nodes.push(element("strong", inline(strong)));
    else if (whole === "<br>") nodes.push(document.createElement("br"));
    else nodes.push(escaped);
  }
  nodes.push(text.slice(last));
  return nodes.filter((node) => node !== "");
}

function table(rows) {
  const cells = rows.map((row) => row.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim()));
  const head = element("tr", cells[0].map((cell) => element("th", inline(cell), {scope: "col"})));
  const body = cells.slice(2).map((row) => element("tr", row.map((cell) => element("td", inline(cell)))));
  return scrolling(element("table", [element("thead", head), element("tbody", body)]), "table", "Table");
}

/** {title, name, nodes}: the first heading, the name below it, and everything after. */
export function read(markdown) {
  const answer = {title: "", name: "", nodes: []};
  const lines = markdown.split("\n");
  const list = (item) => {
    const last = answer.nodes.at(-1);
    if (last?.tagName === "UL") last.append(item);
    else answer.nodes.push(element("ul", item));
  };
  const take = (from, inside) => {
    let to = from;
    while (to < lines.length && inside(lines[to])) to += 1;
    return to;
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    const heading = /^(#+) (.*)$/.exec(line);
    const numbered = /^(\d+)\. (.*)$/.exec(line);
    if (line === "$$") {
      const end = take(at + 1, (other) => other !== "$$");
      answer.nodes.push(mathematics(lines.slice(at + 1, end).join("\n"), true));
      at = end;
    } else if (line.startsWith("|")) {
      const end = take(at, (other) => other.startsWith("|"));
      answer.nodes.push(table(lines.slice(at, end)));
      at = end - 1;
    } else if (heading && !answer.title) {
      answer.title = heading[2].replace(ESCAPED, "$1");
    } else if (heading) {
      answer.nodes.push(element("h3", inline(heading[2])));
    } else if (numbered) {
      const number = element("span", numbered[1], {className: "number"});
      answer.nodes.push(element("p", [number, ...inline(numbered[2])], {className: "said"}));
    } else if (line.startsWith("- ")) {
      list(element("li", inline(line.slice(2))));
    } else if (/^`\w+`$/.test(line) && !answer.nodes.length) {
      answer.name = line.slice(1, -1);
    } else if (line.trim()) {
      answer.nodes.push(element("p", inline(line), {className: line.startsWith("Rules:") ? "rules" : ""}));
    }
  }
  return answer;
}
