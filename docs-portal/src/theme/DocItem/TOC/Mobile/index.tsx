import type { ReactNode } from "react";

/** Renders nothing, because `DocItem/Content` renders the table of contents for small screens below the title. */
export default function NoTableOfContentsAboveTitle(): ReactNode {
  return null;
}
