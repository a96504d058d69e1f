/**
 * A remark plugin that puts each request and the responses that directly follow it into one card, and the tabs of a
 * program into another. Everything else stays as it is.
 */
export default function exampleLayout() {
  return (/** @type {{ children: MdxNode[] }} */ root) => {
    root.children = groupIntoCards(root.children);
  };
}

/**
 * @typedef {{ type: string, name?: string | null, attributes?: MdxNode[], value?: unknown, children?: MdxNode[] }} MdxNode
 */

/**
 * @param {MdxNode[]} nodes
 * @returns {MdxNode[]}
 */
function groupIntoCards(nodes) {
  /** @type {MdxNode[]} */
  const grouped = [];
  /** @type {MdxNode[] | undefined} */
  let exchange;
  for (const node of nodes) {
    if (node.name === "RequestCodeSamples") {
      exchange = [node];
      grouped.push(createCard(exchange));
    } else if (exchange !== undefined && node.name === "ResponseCodeBlock") exchange.push(node);
    else {
      exchange = undefined;
      grouped.push(isTabsWithOnlyCode(node) ? createCard([node]) : node);
    }
  }
  return grouped;
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

/** @param {MdxNode[]} children */
function createCard(children) {
  return {
    type: "mdxJsxFlowElement",
    name: "div",
    attributes: [{ type: "mdxJsxAttribute", name: "className", value: "exchange" }],
    children,
  };
}
