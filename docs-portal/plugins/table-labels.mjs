/** The minimum length of the texts of a column that is as wide as they need. */
const minProseLength = 24;
/** The maximum length of the texts of a column of numbers. */
const maxNumberLength = 6;

/**
 * A remark plugin that puts the heading of each column into its cells, in tables of three or more columns. Phones show
 * the cells of a row below each other, each with this label. The plugin also marks tables whose first column contains
 * sentences or only a few characters.
 */
export default function tableLabels() {
  return labelTables;
}

/**
 * @typedef {{ type: string, value?: string, children?: MarkdownNode[], data?: { hProperties?: object } }} MarkdownNode
 */

/** @param {MarkdownNode} node */
function labelTables(node) {
  const { type, children = [] } = node;
  if (type !== "table") {
    for (const child of children) labelTables(child);
    return;
  }
  const [head, ...rows] = children;
  const className = describeFirstColumn(rows);
  if (className !== undefined) node.data = { hProperties: { className } };
  const labels = head?.children?.map(readText) ?? [];
  if (labels.length < 3) return;
  for (const { children: cells = [] } of rows)
    for (const [index, cell] of cells.entries()) cell.data = { hProperties: { "data-label": labels[index] } };
}

/**
 * @param {MarkdownNode[]} rows
 * @returns {string | undefined} a class
 */
function describeFirstColumn(rows) {
  const cells = rows.flatMap(({ children = [] }) => children.slice(0, 1));
  const texts = cells.map(readText);
  if (texts.every(({ length }) => length <= maxNumberLength)) return "first-column-digits";
  const hasSentence = cells.some((cell) =>
    cell.children?.some(({ type, value = "" }) => type === "text" && value.trim().includes(" ")),
  );
  const isLong = texts.some(({ length }) => length >= minProseLength);
  return hasSentence && isLong ? "first-column-prose" : undefined;
}

/**
 * @param {MarkdownNode} node
 * @returns {string}
 */
function readText({ value = "", children = [] }) {
  return value + children.map(readText).join("");
}
