import { marked } from "marked";
import type { ReactNode } from "react";

/** Renders Markdown descriptions in the reference. The theme's renderer is not used, because its script is large. */
export default function Markdown({ children }: { children?: ReactNode }): ReactNode {
  const text = Array.isArray(children) ? children.join("") : String(children ?? "");
  const html = marked.parse(text, { async: false });
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the text comes from our own OpenAPI document
  return <div className="reference-text" dangerouslySetInnerHTML={{ __html: html }} />;
}
