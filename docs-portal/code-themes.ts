import type { PrismTheme } from "prism-react-renderer";

/**
 * The colors of code in both color modes, each with a contrast ratio of at least 7 on the background. The colors of the
 * background and the plain text are those of `--pragma-code-background` and `--pragma-code-text` in the style sheet.
 */
export const codeTheme: PrismTheme = {
  plain: { color: "var(--pragma-code-text)", backgroundColor: "var(--pragma-code-background)" },
  styles: [
    { types: ["comment", "prolog", "doctype", "cdata"], style: { color: "#9db1c9", fontStyle: "italic" } },
    { types: ["string", "char", "attr-value", "inserted"], style: { color: "#9fe3b4" } },
    { types: ["property", "attr-name", "header-name", "parameter", "variable"], style: { color: "#7cc4ff" } },
    { types: ["number", "boolean", "constant", "null", "symbol"], style: { color: "#ffc48a" } },
    { types: ["keyword", "entity", "tag", "deleted"], style: { color: "#ff9fc4" } },
    { types: ["function", "class-name", "builtin", "request-line"], style: { color: "#c9b3ff" } },
    { types: ["punctuation", "operator"], style: { color: "#a9bbd0" } },
  ],
};
