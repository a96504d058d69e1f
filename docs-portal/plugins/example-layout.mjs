/** The MDX components that show a request. Each of them begins a new card. */
const requestComponents = new Set(["RequestCodeSamples"]);

/** The MDX components that show a response. A response that follows a request is in the same card. */
const responseComponents = new Set(["ResponseCodeBlock"]);

/** The MDX components that show any other code. */
const codeComponents = new Set(["CodeBlock", "WebhookMessageCodeBlock"]);

/** Elements of these types are narrow enough to be beside an example. */
const textTypes = new Set(["paragraph", "list", "blockquote"]);

/**
 * A remark plugin that puts each example and the text before it into one element, so that wide screens show them beside
 * each other. Headings stay outside, because search and the table of contents expect them in the page itself.
 */
export default function exampleLayout() {
  return (/** @type {{ children: MdxNode[] }} */ root) => {
    if (root.children.some(isExample)) root.children = arrangeExamples(root.children);
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
  /** The text before the current examples, the examples, and the text after them. */
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
      arranged.push(node);
    } else if (row.examples.length > 0) row.after.push(node);
    else row.before.push(node);
  }
  endRow();
  return arranged;
}

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
    if (hasName(node, requestComponents)) {
      exchange = [node];
      cards.push(createDiv("exchange", exchange));
    } else if (exchange !== undefined && hasName(node, responseComponents)) exchange.push(node);
    else {
      exchange = undefined;
      cards.push(node);
    }
  }
  return cards;
}

/** @param {MdxNode} node */
function isExample(node) {
  if (node.type === "code") return true;
  if (hasName(node, requestComponents) || hasName(node, responseComponents) || hasName(node, codeComponents))
    return true;
  return node.name === "Tabs" && (node.children ?? []).every(isTabWithOnlyCode);
}

/** @param {MdxNode} tab */
function isTabWithOnlyCode({ name, children = [] }) {
  return name === "TabItem" && children.length > 0 && children.every(isExample);
}

/**
 * @param {MdxNode} node
 * @param {Set<string>} names
 */
function hasName({ type, name }, names) {
  return type === "mdxJsxFlowElement" && !!name && names.has(name);
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
