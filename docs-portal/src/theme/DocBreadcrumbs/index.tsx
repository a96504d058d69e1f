import { useDoc } from "@docusaurus/plugin-content-docs/client";
import type { ReactNode } from "react";
import { CopyPageMenu } from "../../copy-page/CopyPageMenu.tsx";

/** Renders the menu for the Markdown copy at the top of each guide and reference page, instead of breadcrumbs. */
export default function PageActions(): ReactNode {
  const { permalink } = useDoc().metadata;
  return <CopyPageMenu markdownUrl={permalink.endsWith("/") ? `${permalink}index.md` : `${permalink}.md`} />;
}
