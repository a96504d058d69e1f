import { marked } from "marked";
import type { ReactNode } from "react";

/** The Markdown of descriptions in the reference. The theme's own renderer is as large as the rest of a page together. */
export default function Markdown({ children }: { children?: ReactNode }): ReactNode {
  const text = Array.isArray(children) ? children.join("") : String(children ?? "");
  const html = marked.parse(text, { async: false });
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the text is of the API's own description
  return <div className="reference-text" dangerouslySetInnerHTML={{ __html: html }} />;
}
