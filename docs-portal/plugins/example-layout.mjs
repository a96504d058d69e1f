/** The MDX components that show a request or a response. Wide screens show them beside the text. */
const exampleComponents = new Set(["RequestCodeSamples", "ResponseCodeBlock", "WebhookMessageCodeBlock"]);

/** Elements of these types are narrow enough to be beside an example. */
const textTypes = new Set(["paragraph", "list", "blockquote", "code"]);

/** Of the text after an example, this number of characters is about as high as a request or a response. */
const charactersPerExample = 900;

/** An example is beside the paragraph that introduces it, and beside other text before it up to this length. */
const maxIntroductionCharacters = 300;

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
 * @typedef {{ type: string, name?: string | null, value?: unknown, attributes?: MdxNode[], children?: MdxNode[] }} MdxNode
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
      if (row.after.length > 0) {
        const before = takeIntroduction(row.after);
        endRow();
        row.before = before;
      }
      row.examples.push(node);
    } else if (!isNarrow(node)) {
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
 * Returns the elements of a row. The example is beside the paragraph that introduces it and the beginning of the text
 * after it. Other text is above and below, where it has the whole width of a text.
 * @param {ReturnType<typeof createEmptyRow>} row
 * @returns {MdxNode[]}
 */
function arrangeRow({ before, examples, after }) {
  const cards = groupExchanges(examples);
  if (cards.length === 0 || before.length + after.length === 0) return [...before, ...cards, ...after];
  const introduction = takeIntroduction(before);
  const explanation = takeBeginning(after, examples.length * charactersPerExample);
  const parts = [createDiv("beside__examples", cards)];
  if (introduction.length > 0) parts.unshift(createDiv("beside__text", introduction));
  if (explanation.length > 0) parts.push(createDiv("beside__text", explanation));
  return [...before, createDiv("beside", parts), ...after];
}

/**
 * Removes the end of a text from the paragraph that introduces an example, and returns it. Short paragraphs before it
 * are included, because the example may begin a few lines above the paragraph.
 * @param {MdxNode[]} text
 */
function takeIntroduction(text) {
  let introduction = text.splice(findLastParagraph(text));
  while (text.length > 0) {
    const longer = [...text.slice(findLastParagraph(text)), ...introduction];
    if (countCharacters({ type: "root", children: longer }) > maxIntroductionCharacters) break;
    introduction = longer;
    text.splice(findLastParagraph(text));
  }
  return introduction;
}

/** @param {MdxNode[]} text */
function findLastParagraph(text) {
  return Math.max(
    0,
    text.findLastIndex(({ type }) => type === "paragraph"),
  );
}

/**
 * Removes the first elements of a text, which together have at most this number of characters, and returns them.
 * @param {MdxNode[]} text
 * @param {number} maxCharacters
 */
function takeBeginning(text, maxCharacters) {
  let characters = 0;
  const end = text.findIndex((node) => {
    characters += countCharacters(node);
    return characters > maxCharacters;
  });
  return text.splice(0, end === -1 ? text.length : end);
}

/**
 * @param {MdxNode} node
 * @returns {number}
 */
function countCharacters({ value, children = [] }) {
  return children.reduce((sum, child) => sum + countCharacters(child), typeof value === "string" ? value.length : 0);
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
function isExample({ type, name, attributes = [] }) {
  if (type !== "mdxJsxFlowElement" || !name) return false;
  const isJson = attributes.some((attribute) => attribute.name === "language" && attribute.value === "json");
  return exampleComponents.has(name) || (name === "CodeBlock" && isJson);
}

/** @param {MdxNode} node */
function isNarrow({ type, children = [] }) {
  return textTypes.has(type) || (type === "table" && (children[0]?.children?.length ?? 0) <= 2);
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
