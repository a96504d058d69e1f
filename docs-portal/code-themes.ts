import { type PrismTheme, themes } from "prism-react-renderer";

/** Code colors for light mode, each with a contrast ratio of at least 4.5:1. */
export const lightCodeTheme: PrismTheme = {
  plain: { color: "#24292f", backgroundColor: "#f5f7fa" },
  styles: [
    { types: ["comment", "prolog", "doctype", "cdata"], style: { color: "#57606a", fontStyle: "italic" } },
    { types: ["string", "char", "attr-value", "inserted"], style: { color: "#0a5f3c" } },
    { types: ["property", "attr-name", "header-name", "parameter", "variable"], style: { color: "#0b4f9e" } },
    { types: ["number", "boolean", "constant", "null", "symbol"], style: { color: "#8a3b00" } },
    { types: ["keyword", "operator", "entity", "tag", "deleted"], style: { color: "#9b1c5a" } },
    { types: ["function", "class-name", "builtin", "request-line"], style: { color: "#6b2fb3" } },
    { types: ["punctuation"], style: { color: "#43495a" } },
  ],
};

export const darkCodeTheme: PrismTheme = {
  ...themes.vsDark,
  plain: { ...themes.vsDark.plain, backgroundColor: "#1d222a" },
};
