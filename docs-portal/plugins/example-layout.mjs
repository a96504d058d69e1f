/** The MDX components that show a request or a response. Wide screens show them beside the text. */
const exampleComponents = new Set(["RequestCodeSamples", "ResponseCodeBlock", "WebhookMessageCodeBlock"]);

/** Elements of these types are narrow enough to be beside an example. */
const textTypes = new Set(["paragraph", "list", "blockquote", "code"]);

/**
 * A remark plugin that puts each example and its text into one element, so that wide screens show them beside each
 * other, and each request and its responses into one card. Headings stay outside, because search and the table of
 * contents expect them in the page itself.
 */
export default function exampleLayout() {
  return (/** @type {{ children: MdxNode[] }} */ root) => {
    root.children = arrangeExamples(root.children);
  };
}

/**
 * @typedef {{ type: string, name?: string | null, children?: MdxNode[] }} MdxNode
 */

/**
 * @param {MdxNode[]} nodes
 * @returns {MdxNode[]}
 */
function arrangeExamples(nodes) {
  /** @type {MdxNode[]} */
  const arranged = [];
  let row = createEmptyRow();
  const endRow = () => {
    arranged.push(...arrangeRow(row));
    row = createEmptyRow();
  };
  for (const node of nodes) {
    if (isExample(node)) {
      // Text between two examples introduces the second one.
      if (row.after.length > 0) {
        const before = row.after;
        row.after = [];
        endRow();
        row.before = before;
      }
      row.examples.push(node);
    } else if (!textTypes.has(node.type)) {
      endRow();
      // The tabs of a program and the program are one card, which has the whole width because programs have long lines.
      arranged.push(isTabsWithOnlyCode(node) ? createDiv("exchange", [node]) : node);
    } else if (row.examples.length > 0) row.after.push(node);
    else row.before.push(node);
  }
  endRow();
  return arranged;
}

/** Returns a row with the text before its examples, the examples, and the text after them. */
function createEmptyRow() {
  return {
    before: /** @type {MdxNode[]} */ ([]),
    examples: /** @type {MdxNode[]} */ ([]),
    after: /** @type {MdxNode[]} */ ([]),
  };
}

/**
 * @param {ReturnType<typeof createEmptyRow>} row
 * @returns {MdxNode[]}
 */
function arrangeRow({ before, examples, after }) {
  const cards = groupExchanges(examples);
  if (cards.length === 0 || before.length + after.length === 0) return [...before, ...cards, ...after];
  const parts = [createDiv("beside__examples", cards)];
  if (before.length > 0) parts.unshift(createDiv("beside__text", before));
  if (after.length > 0) parts.push(createDiv("beside__text", after));
  return [createDiv("beside", parts)];
}

/**
 * Puts each request and the responses that follow it into one card.
 * @param {MdxNode[]} examples
 * @returns {MdxNode[]}
 */
function groupExchanges(examples) {
  /** @type {MdxNode[]} */
  const cards = [];
  /** @type {MdxNode[] | undefined} */
  let exchange;
  for (const node of examples) {
    if (node.name === "RequestCodeSamples") {
      exchange = [node];
      cards.push(createDiv("exchange", exchange));
    } else if (exchange !== undefined && node.name === "ResponseCodeBlock") exchange.push(node);
    else {
      exchange = undefined;
      cards.push(node);
    }
  }
  return cards;
}

/** @param {MdxNode} node */
function isExample({ type, name }) {
  return type === "mdxJsxFlowElement" && !!name && exampleComponents.has(name);
}

/**
 * @param {MdxNode} node
 * @returns {boolean}
 */
function isTabsWithOnlyCode({ name, children = [] }) {
  return name === "Tabs" && children.every(isTabWithOnlyCode);
}

/** @param {MdxNode} tab */
function isTabWithOnlyCode({ name, children = [] }) {
  const isCode = (/** @type {MdxNode} */ node) => node.type === "code" || node.name === "CodeBlock";
  return name === "TabItem" && children.every((node) => isCode(node) || isTabsWithOnlyCode(node));
}

/**
 * @param {string} className
 * @param {MdxNode[]} children
 */
function createDiv(className, children) {
  return {
    type: "mdxJsxFlowElement",
    name: "div",
    attributes: [{ type: "mdxJsxAttribute", name: "className", value: className }],
    children,
  };
}
