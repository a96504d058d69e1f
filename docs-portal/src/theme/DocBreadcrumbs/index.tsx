import { useDoc } from "@docusaurus/plugin-content-docs/client";
import type { ReactNode } from "react";
import { CopyPageMenu } from "../../copy-page/CopyPageMenu.tsx";

/**
 * Renders the menu for the Markdown copy at the top of a page, instead of breadcrumbs. On pages with two columns,
 * `ApiItem` renders it in the left column.
 */
export default function PageActions(): ReactNode {
  const { frontMatter, metadata } = useDoc();
  const { permalink } = metadata;
  if ("two_columns" in frontMatter) return null;
  return <CopyPageMenu markdownUrl={permalink.endsWith("/") ? `${permalink}index.md` : `${permalink}.md`} />;
}
