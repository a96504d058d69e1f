/**
 * A remark plugin that puts the heading of each column into its cells, in tables of three or more columns. Phones show
 * the cells of a row below each other, each with this label.
 */
export default function tableLabels() {
  return labelTables;
}

/**
 * @typedef {{ type: string, value?: string, children?: MarkdownNode[], data?: { hProperties?: object } }} MarkdownNode
 */

/** @param {MarkdownNode} node */
function labelTables({ type, children = [] }) {
  if (type !== "table") {
    for (const child of children) labelTables(child);
    return;
  }
  const [head, ...rows] = children;
  const labels = head?.children?.map(readText) ?? [];
  if (labels.length < 3) return;
  for (const { children: cells = [] } of rows)
    for (const [index, cell] of cells.entries()) cell.data = { hProperties: { "data-label": labels[index] } };
}

/**
 * @param {MarkdownNode} node
 * @returns {string}
 */
function readText({ value = "", children = [] }) {
  return value + children.map(readText).join("");
}
