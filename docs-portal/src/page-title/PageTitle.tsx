import { useDoc } from "@docusaurus/plugin-content-docs/client";
import Heading from "@theme/Heading";
import type { ReactNode } from "react";
import { CopyPageMenu } from "../copy-page/CopyPageMenu.tsx";
import styles from "./PageTitle.module.css";

/** Renders the title of a page, with the menu for its Markdown copy in the same row. */
export function PageTitle({ children }: { children: ReactNode }): ReactNode {
  const { permalink } = useDoc().metadata;
  return (
    <header className={styles.row}>
      <Heading as="h1">{children}</Heading>
      <CopyPageMenu markdownUrl={permalink.endsWith("/") ? `${permalink}index.md` : `${permalink}.md`} />
    </header>
  );
}
