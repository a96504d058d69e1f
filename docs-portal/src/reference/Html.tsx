import type { ReactNode } from "react";

interface Props {
  /** HTML that the build generated from the Markdown texts of our own OpenAPI document. */
  html: string;
  className?: string | undefined;
}

/** Renders a text of the OpenAPI document. */
export function Html({ html, className }: Props): ReactNode {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the text comes from our own OpenAPI document
  return <div className={className} dangerouslySetInnerHTML={{ __html: html }} />;
}
